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


PLAIN = GOOD.replace(".include parts/lib.inc\n", "")


def netlist(text, folder=Path("/folder")):
    return Netlist("test", text, folder)


def test_a_good_netlist_reads(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/lib.inc").write_text("R2 out 0 1k\n")
    path = tmp_path / "good.cir"
    path.write_text(GOOD)
    assert Netlist.read(path).parameters() == {"f": "1k", "w": "{6.28*f}", "a": "2"}


def test_parameters_change_in_place_and_nothing_else():
    changed = netlist(GOOD).changed({"a": np.float64(0.125), "F": 5.0})
    assert changed.parameters() == {"f": "5.0", "w": "{6.28*f}", "a": "0.125"}
    assert "R1 in out {a}" in changed.text
    with pytest.raises(NetlistError, match="no parameter 'b': one of f, w, a"):
        netlist(GOOD).changed({"b": 1.0})


def test_the_deck_holds_what_it_includes_and_ends_with_commands(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/lib.inc").write_text('.inc "more.inc"\n.lib sec.lib Fast\n')
    (tmp_path / "parts/more.inc").write_text("R2 out 0 1k\n")
    (tmp_path / "parts/sec.lib").write_text(
        ".lib slow\n.control\n.endl\n.lib fast\nR3 out 0 2k\n.endl\nR4 a 0 1\n"
    )
    deck = netlist(GOOD, tmp_path).deck("out.raw")
    assert deck.endswith("run\nwrite out.raw\nquit 0\n.endc\n.end\n")
    assert "R2 out 0 1k\nR3 out 0 2k\nR1 in out {a}" in deck
    assert not {".inc", ".lib", "R4", "anything"} & set(deck.split())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("* a comment", ".control", "has a .control block"),
        ("* a comment", "  .CONTROL", "has a .control block"),
        (".tran", "*.tran", "has no .tran line"),
        ("C1 out 0", "C1 OUT 0", "nodes 'out' and 'OUT'"),
        ("C1 out 0", "X1 Out 0 part k=1", "nodes 'out' and 'Out'"),
        ("C1 out 0", "F1 OUT 0 V1 2", "nodes 'out' and 'OUT'"),
        ("C1 out 0", "T1 a 0 OUT 0 z0=50", "nodes 'out' and 'OUT'"),
        ("C1 out 0", ".global OUT", "nodes 'OUT' and 'out'"),
        ("C1 out 0", ".subckt s p P\nR5 p P 1\n.ends", "nodes 'p' and 'P'"),
    ],
)
def test_what_would_not_run_as_it_reads_is_refused(old, new, told):
    netlist(PLAIN).check()
    with pytest.raises(NetlistError, match=told):
        netlist(PLAIN.replace(old, new, 1)).check()


def test_an_empty_or_missing_file_is_refused(tmp_path):
    with pytest.raises(NetlistError, match="is empty"):
        netlist("* title only\n").check()
    with pytest.raises(NetlistError, match="No such file"):
        Netlist.read(tmp_path / "none.cir")
    path = tmp_path / "bytes.cir"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(NetlistError, match="it is not text"):
        Netlist.read(path)


def test_nodes_of_two_sub_circuits_may_differ_in_case_only():
    parts = ".subckt a in\nR5 in 0 1\n.ends\n.subckt b IN\nE1 IN 0 vol='v(IN)'\n.ends"
    netlist(PLAIN.replace("* a comment", parts)).check()


COMMAND = "shell touch {mark}"
BLOCK = f".control\n{COMMAND}\n.endc"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PLAIN.replace("* a comment", f"*# {COMMAND}"), "which ngspice runs"),
        (PLAIN.replace("* a comment", f" *#{COMMAND}"), "which ngspice runs"),
        (PLAIN.replace("* a comment", f"R9 in 0 1 $\n*#{COMMAND}"), "ngspice runs"),
        (f"*# {COMMAND}\n{PLAIN}", "which ngspice runs"),
        (f"*ng_script\n{COMMAND}\n{PLAIN}", "which ngspice runs"),
        (f"\n*NG_SCRIPT_with_params\n{COMMAND}\n{PLAIN}", "which ngspice runs"),
        (f"\ufeff*ng_script\n{COMMAND}\n{PLAIN}", "which ngspice runs"),
        (PLAIN.replace("* a comment", BLOCK), "a .control block"),
        (PLAIN.replace("* a comment", f"\t{BLOCK.upper()}"), "a .control block"),
        (PLAIN.replace("* a comment", BLOCK.replace("ol\n", "olx\n")), ".control"),
        (PLAIN.replace("* a comment", BLOCK.replace("\n", "\r")), "control character"),
        (PLAIN.replace("* a comment", ".exec touch x"), "line '.exec', which is not"),
        (PLAIN.replace("* a comment", ".incx evil.inc"), "line '.incx'"),
        (PLAIN.replace("* a comment", ".include evil.inc"), "in evil.inc has a .cont"),
        (PLAIN.replace("* a comment", ".INC 'evil.inc' ; x"), "in evil.inc has a .c"),
        (PLAIN.replace("* a comment", ".include sub/one.inc"), "in evil.inc has a "),
        (PLAIN.replace("* a comment", ".lib evil.lib Evil"), "in evil.lib has the"),
        (f".include evil.inc\n{PLAIN}", "where SPICE expects a title"),
        (PLAIN.replace("* a comment", ".model m d_process(a=1)"), "start a program"),
    ],
)
def test_a_netlist_that_could_run_commands_is_refused(tmp_path, text, told):
    mark = tmp_path / "mark"
    (tmp_path / "sub").mkdir()
    (tmp_path / "evil.inc").write_text(BLOCK.format(mark=mark))
    (tmp_path / "sub/one.inc").write_text(".include ../evil.inc")
    lib = f".lib evil\n*#{COMMAND}\n.endl\n"
    (tmp_path / "evil.lib").write_text(lib.format(mark=mark))
    one = netlist(text.replace("{mark}", str(mark)), tmp_path)
    with pytest.raises(NetlistError, match=told):
        one.check()
    # nothing that was not checked first reaches ngspice
    with pytest.raises(NetlistError, match=told):
        one.deck("out.raw")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (".include none.inc", "cannot include .*none.inc: No such file"),
        (".include folder", "it is no file"),
        (".include a b", "name of one file"),
        (".include", "name of one file"),
        (".include self.inc", "includes itself"),
        (".include many.inc", "more than 1000 files"),
        (".lib part.lib", "that of a section in it"),
        (".lib part.lib typical", "has no section 'typical'"),
        (".lib part.lib open", "does not end"),
        (".include clash.inc", "nodes 'OUT' and 'out'"),
    ],
)
def test_files_that_cannot_be_included_are_refused(tmp_path, line, told):
    (tmp_path / "folder").mkdir()
    (tmp_path / "self.inc").write_text(".include self.inc\n")
    (tmp_path / "many.inc").write_text(".include leaf.inc\n" * 1001)
    (tmp_path / "leaf.inc").write_text("")
    (tmp_path / "part.lib").write_text(".lib open\nR9 a 0 1\n")
    (tmp_path / "clash.inc").write_text("R9 OUT 0 1\n")
    with pytest.raises(NetlistError, match=told):
        netlist(PLAIN.replace("* a comment", line), tmp_path).check()
