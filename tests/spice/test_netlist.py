from pathlib import Path

import numpy as np
import pytest

from oscsim.errors import NetlistError
from oscsim.spice.netlist import Netlist

GOOD = """* title is not read: .control
* a comment
.param f = 1k
.param w = {6.28*f} a=2
.include parts/lib.inc
R1 in out {a}
C1 out 0
+ 1n
.tran 1u 1m 0 1u ; largest step
.end
anything
"""


def netlist(text):
    return Netlist("test", text, Path("/folder"))


def test_a_good_netlist_reads(tmp_path):
    path = tmp_path / "good.cir"
    path.write_text(GOOD)
    assert Netlist.read(path).parameters() == {"f": "1k", "w": "{6.28*f}", "a": "2"}


def test_parameters_change_in_place_and_nothing_else():
    changed = netlist(GOOD).changed({"a": np.float64(0.125), "F": 5.0})
    assert changed.parameters() == {"f": "5.0", "w": "{6.28*f}", "a": "0.125"}
    assert "R1 in out {a}" in changed.text
    with pytest.raises(NetlistError, match="no parameter 'b': one of f, w, a"):
        netlist(GOOD).changed({"b": 1.0})


def test_the_deck_ends_with_commands_and_finds_what_it_includes():
    deck = netlist(GOOD).deck("out.raw")
    assert deck.endswith("run\nwrite out.raw\nquit 0\n.endc\n.end\n")
    assert '.include "/folder/parts/lib.inc"' in deck
    assert "anything" not in deck


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("* a comment", ".control", "has a .control block"),
        ("* a comment", "  .CONTROL", "has a .control block"),
        (".tran", "*.tran", "has no .tran line"),
        ("C1 out 0", "C1 OUT 0", "nodes 'out' and 'OUT'"),
        ("C1 out 0", "X1 Out 0 part k=1", "nodes 'out' and 'Out'"),
    ],
)
def test_what_would_not_run_as_it_reads_is_refused(old, new, told):
    netlist(GOOD).check()
    with pytest.raises(NetlistError, match=told):
        netlist(GOOD.replace(old, new, 1)).check()


def test_an_empty_or_missing_file_is_refused(tmp_path):
    with pytest.raises(NetlistError, match="is empty"):
        netlist("* title only\n").check()
    with pytest.raises(NetlistError, match="No such file"):
        Netlist.read(tmp_path / "none.cir")
    path = tmp_path / "bytes.cir"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(NetlistError, match="it is not text"):
        Netlist.read(path)
