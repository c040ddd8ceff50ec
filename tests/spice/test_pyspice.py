"""PySpice, where it is installed, and what is said where it is not."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oscsim.errors import NetlistError, SimulatorError
from oscsim.network.spec import Network
from oscsim.spice import pyspice
from oscsim.spice.build import to_circuit
from oscsim.spice.check import check_circuit, circuits
from oscsim.spice.head import AttentionHead
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit

needs_pyspice = pytest.mark.skipif(
    importlib.util.find_spec("PySpice") is None, reason="PySpice is an optional extra"
)
DIVIDER = """* a divider
V1 a 0 2
R1 a b 1k
R2 b 0 1k
.tran 1 10 0 1
.meas tran half avg v(b)
.end
"""


def divider(old="", new=""):
    return Netlist("divider", DIVIDER.replace(old, new) if old else DIVIDER, Path())


def a_head():
    return AttentionHead(
        np.array([[1.0, 3.0], [0.0, 2.0]]), np.eye(2), np.array([[1.0, 0], [0, -1]])
    )


def words_of(text):
    """The lines of a netlist without title, comments, case and order of values."""
    lines = (line.lower().split() for line in text.splitlines()[1:])
    return [
        sorted(words, key=lambda word: word if "=" in word else "")
        for words in lines
        if words and not words[0].startswith("*")
    ]


@needs_pyspice
@pytest.mark.parametrize(
    "circuit",
    [
        to_circuit(
            Network.kuramoto(np.ones((3, 3)), omega=0.5, lag=0.25),
            start=np.zeros(3),
            duration=1,
        ),
        to_circuit(a_head(), duration=5),
        to_circuit(a_head(), duration=1e-3, circuit="lc"),
    ],
    ids=["kuramoto", "sphere", "lc"],
)
def test_pyspice_writes_the_same_netlist(circuit):
    ours = words_of(circuit.text())
    theirs = words_of(pyspice.pyspice_netlist(circuit).text)
    assert theirs == ours


@needs_pyspice
@pytest.mark.spice
@pytest.mark.usefixtures("ngspice", "library")
@pytest.mark.parametrize("name", ["kuramoto_crossbar", "josephson_series"])
def test_the_library_gives_the_waveforms_of_the_program(name):
    path = next(path for path in circuits() if path.stem == name)
    netlist = Netlist.read(path)
    program = simulate_circuit(netlist)
    shared = simulate_circuit(netlist, engine="shared")
    assert shared.waveforms.signals.keys() == program.waveforms.signals.keys()
    np.testing.assert_array_equal(shared.waveforms.time, program.waveforms.time)
    for signal, values in program.waveforms.signals.items():
        np.testing.assert_allclose(
            shared.waveforms.signal(signal), values, rtol=0, atol=1e-9
        )
    assert shared.measures == program.measures
    assert len(shared.measures) > 0


@needs_pyspice
@pytest.mark.spice
@pytest.mark.usefixtures("library")
def test_a_claim_holds_in_the_library():
    assert check_circuit("lohe_sphere_d2", engine="shared").passed


@needs_pyspice
@pytest.mark.spice
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("new", "error", "told"),
    [
        ("Xf a b none", NetlistError, "refused divider: .*unknown subckt"),
        ("B1 a b V=nofun(V(a))", NetlistError, "no such function 'nofun'"),
        (
            "R1 a b 1k\nB9 x 0 V=exp(40*V(x))+1\nR9 x 0 1",
            SimulatorError,
            "divider stopped before its end: .*Timestep too small",
        ),
    ],
)
def test_a_failure_is_told_and_the_next_run_is_sound(new, error, told):
    netlist = divider("R1 a b 1k", new)
    if error is SimulatorError:
        text = netlist.text.replace("0 1\n.meas", "0 1 uic\n.meas")
        netlist = Netlist("divider", text, Path())
    with pytest.raises(error, match=told):
        pyspice.simulate_shared(netlist)
    assert pyspice.simulate_shared(divider()).measures == {"half": 1.0}


LOST = """
from pathlib import Path
from oscsim.errors import OscsimError
from oscsim.spice.netlist import Netlist
from oscsim.spice.pyspice import simulate_shared
text = {text!r}
for one in (text.replace("1k", "{{zz}}"), text):
    try:
        simulate_shared(Netlist("divider", one, Path()))
    except OscsimError as error:
        print(type(error).__name__, error)
"""


@needs_pyspice
@pytest.mark.spice
@pytest.mark.usefixtures("library")
def test_a_library_that_does_not_recover_says_so_instead_of_running():
    """In a process of its own: ngspice gives the library up for good."""
    done = subprocess.run(
        [sys.executable, "-c", LOST.format(text=DIVIDER)],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("NetlistError ngspice refused divider")
    assert "Undefined parameter [zz]" in first
    assert second.startswith("SimulatorError the ngspice library of this process did")
    assert "start another process" in second


def test_without_pyspice_the_text_still_stands(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    circuit = to_circuit(a_head(), duration=5)
    assert circuit.text().endswith(".end\n")
    with pytest.raises(SimulatorError, match=r"install oscsim\[spice\]"):
        pyspice.pyspice_netlist(circuit)


def test_the_name_of_the_library(monkeypatch, tmp_path):
    file = tmp_path / "libngspice.so.0"
    monkeypatch.setenv("NGSPICE_LIBRARY_PATH", str(file))
    with pytest.raises(SimulatorError, match="where there is no file"):
        pyspice.library_path()
    file.touch()
    assert pyspice.library_path() == str(file)
    monkeypatch.delenv("NGSPICE_LIBRARY_PATH")
    monkeypatch.setattr(pyspice, "_libraries", lambda root: [])
    monkeypatch.setattr(pyspice.ctypes.util, "find_library", lambda name: None)
    with pytest.raises(SimulatorError, match="install libngspice0"):
        pyspice.library_path()


def test_an_unknown_engine_and_a_raw_file_of_the_library():
    with pytest.raises(NetlistError, match="'program' or 'shared', got 'fast'"):
        simulate_circuit(divider(), engine="fast")
    with pytest.raises(NetlistError, match="writes no raw file"):
        simulate_circuit(divider(), keep=Path("a.raw"), engine="shared")
