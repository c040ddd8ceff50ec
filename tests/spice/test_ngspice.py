"""Stand-ins for ngspice that fail in every way; none of these needs the program."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from oscsim.errors import NetlistError, SimulatorError
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import find_ngspice, simulate_circuit
from oscsim.spice.process import side_by_side

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
        ("exit 0", SimulatorError, "wrote no waveforms of test and gave no reason"),
        ("echo 'Error: no such foo'", NetlistError, "Error: no such foo"),
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


def test_an_empty_name_of_the_program_is_said(monkeypatch):
    monkeypatch.setenv("OSCSIM_NGSPICE", " ")
    with pytest.raises(SimulatorError, match="OSCSIM_NGSPICE is empty"):
        find_ngspice()


def test_a_program_that_never_says_its_version_is_left_in_time(tmp_path, monkeypatch):
    program = tmp_path / "slow"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("OSCSIM_NGSPICE", str(program))
    with pytest.raises(SimulatorError, match=r"slow did not say .* within 0.3 s: inst"):
        simulate_circuit(NETLIST, timeout=0.3)


WRAPPER = """sleep 60 &
echo $! > {pids}.$$.part
mv {pids}.$$.part {pids}.$$
wait"""


def alive(pid):
    """Whether a process runs; one that ended and waits for init does not."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        return stat.exists() and stat.read_text().rsplit(") ", 1)[1][0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def started(tmp_path, n):
    """Wait for n stand-ins and return the ids of what they started."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = [one for one in tmp_path.glob("pids.*") if one.suffix != ".part"]
        if len(found) == n:
            return [int(one.read_text()) for one in found]
        time.sleep(0.05)
    pytest.fail(f"{n} stand-ins did not start in a minute")


def ended(pids):
    until = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, pids))


def test_a_timeout_ends_what_a_wrapper_started(stand_in, tmp_path):
    stand_in(WRAPPER.format(pids=tmp_path / "pids"))
    with pytest.raises(SimulatorError, match="not done after 1 s"):
        simulate_circuit(NETLIST, timeout=1.0)
    assert ended(started(tmp_path, 1))


def test_the_first_failure_ends_the_runs_beside_it(stand_in, tmp_path):
    stand_in(
        "grep -q bad deck.cir && { sleep 1; exit 1; }\n"
        + WRAPPER.format(pids=tmp_path / "pids")
    )
    bad = Netlist("bad", "* bad\nR1 a 0 1\n.tran 1 2 0 1\n", Path())
    began = time.monotonic()
    with pytest.raises(NetlistError, match="refused bad"):
        side_by_side(lambda one: simulate_circuit(one, 50.0), [bad, NETLIST], 2)
    assert time.monotonic() - began < 30
    assert ended(started(tmp_path, 1))


def heed_signals():
    """Undo what a job in the background, or under nohup, is told to ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_signal_ends_the_command_and_its_runs(stand_in, tmp_path, number, code):
    stand_in(WRAPPER.format(pids=tmp_path / "pids"))
    (tmp_path / "tmp").mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "oscsim", "spice", "kuramoto_crossbar"],
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    try:
        pids = started(tmp_path, 1)
        command.send_signal(number)
        told = command.communicate(timeout=20)[1]
    finally:
        command.kill()
        command.communicate()
    assert command.returncode == code, told
    assert ended(pids)
    assert not list((tmp_path / "tmp").iterdir())
    assert "Traceback" not in told
