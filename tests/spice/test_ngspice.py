"""Stand-ins for ngspice that fail in every way; none of these needs the program."""

import tempfile
from pathlib import Path

import pytest

from oscsim.errors import NetlistError, SimulatorError
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import find_ngspice, simulate_circuit

NETLIST = Netlist("test", "* t\nR1 a 0 1\n.tran 1 2 0 1\n", Path())


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Make a program that says a version and otherwise does what it is told."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def make(script, version="** ngspice-39 : x"):
        program = tmp_path / "ngspice-stand-in"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "{version}"; exit 0; }}\n'
            f"{script}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("OSCSIM_NGSPICE", str(program))
        return tmp_path

    return make


def test_a_missing_program_says_how_to_install_it(monkeypatch):
    monkeypatch.setenv("OSCSIM_NGSPICE", "no-such-program")
    with pytest.raises(SimulatorError, match="apt-get install ngspice") as told:
        find_ngspice()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("version", "told"),
    [("** ngspice-36 : x", "36 is too old"), ("hello", "does not say its version")],
)
def test_another_program_is_refused(stand_in, version, told):
    stand_in("exit 0", version)
    with pytest.raises(SimulatorError, match=told):
        find_ngspice()


def test_a_file_that_is_no_program_is_refused(stand_in):
    folder = stand_in("")
    (folder / "ngspice-stand-in").write_bytes(b"\x7fELF")
    with pytest.raises(SimulatorError, match="does not run"):
        find_ngspice()


@pytest.mark.parametrize(
    ("script", "error", "told"),
    [
        ("kill -SEGV $$", SimulatorError, "crashed with signal 11 on test"),
        ("exec sleep 20", SimulatorError, "not done after 0.5 s"),
        ("echo 'Error: no such foo'; exit 1", NetlistError, "Error: no such foo"),
        ("exit 0", NetlistError, "it said nothing"),
        (
            "echo 'TRAN:  Timestep too small; time = 1'; touch out.raw",
            SimulatorError,
            "stopped before its end: TRAN:  Timestep too small; time = 1",
        ),
        ("printf 'Title: x\\n' > out.raw", SimulatorError, "no raw file"),
    ],
)
def test_failures_are_sentences_and_leave_no_files(stand_in, script, error, told):
    folder = stand_in(script)
    with pytest.raises(error, match=told):
        simulate_circuit(NETLIST, timeout=0.5)
    assert [one.name for one in folder.iterdir()] == ["ngspice-stand-in"]


def test_a_timeout_of_nothing_is_refused():
    with pytest.raises(SimulatorError, match="timeout must be above 0 s, got 0"):
        simulate_circuit(NETLIST, timeout=0.0)
