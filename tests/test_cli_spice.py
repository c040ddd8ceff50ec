import json
import re
from pathlib import Path

import pytest

from oscsim.cli import run
from oscsim.errors import SimulatorError
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import find_ngspice, simulate_circuit
from oscsim.spice.rawfile import read_raw
from oscsim.study.spice_rung import GATES

TANK = """* a divider
V1 a 0 2
R1 a b 1k
R2 b 0 1k
.tran 1 10 0 1
.meas tran half avg v(b)
.end
"""
SIDECAR = """purpose = "halves"
equation = "v = 2 / 2"
figure = ["v(b)"]
[[claims]]
name = "half"
kind = "measure"
signals = ["half"]
expected = 1.0
tolerance = 1e-6
unit = "V"
source = "Ohm's law"
"""


@pytest.fixture
def divider(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "divider.cir").write_text(TANK)
    (tmp_path / "divider.toml").write_text(SIDECAR)
    return tmp_path


@pytest.fixture
def ngspice():
    try:
        return find_ngspice()
    except SimulatorError as error:
        told = str(error)
    pytest.fail(told, pytrace=False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give one netlist, or --all"),
        (["divider.cir", "--all"], "give one netlist, or --all"),
        (
            ["divider.cir", "--timeout", "0"],
            "--timeout must be finite and above 0 s, got 0",
        ),
        (
            ["none.cir"],
            "no netlist none.cir: name a file, or one that ships: attention_",
        ),
        (["loose.cir"], "cannot read loose.toml"),
    ],
)
def test_a_wrong_request_is_one_sentence(divider, capsys, arguments, told):
    (divider / "loose.cir").write_text(TANK)
    assert run(["spice", *arguments]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1


CHECKPOINTS = Path(__file__).parents[1] / "data" / "checkpoints"
SVA = str(CHECKPOINTS / "sva-osc-d2-s0")
KICK = ["--phase-response", "v(b)", "--charge", "1", "--resistance", "1"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([SVA], "looks like a checkpoint: add --tokens"),
        (["--all", "--tokens", "2"], "--tokens takes a checkpoint, --all has none"),
        (["divider.cir", "--seed", "0"], "no noise (TRNOISE): --seed would change"),
        (["lc_oscillator", *KICK, "--seed", "1"], "--seed does not go with --phase"),
        (["divider.cir", "--head", "1"], "--head belongs to a checkpoint"),
        (["divider.cir", "--circuit", "lc"], "--circuit belongs to a checkpoint"),
        (["divider.cir", "--engine", "fast"], "must be 'program' or 'shared'"),
        ([SVA, "--tokens", "2", "--duration", "-1"], "--duration must be finite and"),
        ([SVA, "--tokens", "2", "--circuit", "ring"], "must be 'sphere' or 'lc'"),
        (
            ["divider.cir", "--phase-response", "v(b)", "--charge", "1"],
            "--phase-response, --charge and --resistance belong together",
        ),
        (
            [SVA, *KICK, "--tokens", "2"],
            "--phase-response goes with neither --tokens nor --engine",
        ),
        (["divider.cir", *KICK, "--engine", "shared"], "with neither --tokens nor"),
        ([SVA, "--tokens", "99"], "the item has 6 tokens, 99 were asked for"),
    ],
)
def test_a_wrong_request_with_tokens_is_one_sentence(divider, capsys, arguments, told):
    assert run(["spice", *arguments]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_tokens_of_a_checkpoint_leave_everything_behind(divider, capsys):
    asked = ["spice", SVA, "--tokens", "2", "--duration", "40", "--out", "kept"]
    assert run(asked) == 0
    shown = capsys.readouterr().out
    assert "2 queries of 6 tokens" in shown
    assert re.search(r"within \S+ of the engine's, 0.01 allowed: pass", shown)
    assert "0 of 2 tokens not settled" in shown
    kept = {path.suffix: path for path in (divider / "kept").iterdir()}
    assert set(kept) == {".png", ".cir", ".csv", ".raw"}
    assert kept[".png"].read_bytes()[1:4] == b"PNG"
    waves = read_raw(kept[".raw"])
    again = simulate_circuit(Netlist.read(kept[".cir"])).waveforms
    assert (waves.signal("v(z_5_1)") == again.signal("v(z_5_1)")).all()
    assert waves.time[-1] == 40
    assert run([*asked[:-2], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["passed"]
    assert told["unsettled"] == 0
    assert [Path(one).suffix for one in told["files"]] == [".png"]


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_figure_of_what_is_not_saved_is_said(divider, capsys):
    (divider / "divider.toml").write_text(SIDECAR.replace("v(b)", "half"))
    assert run(["spice", "divider.cir"]) == 2
    told = capsys.readouterr().err
    assert "divider.toml: figure shows 'half', which the netlist does not" in told
    assert "results of .meas lines are no signals" in told


def test_a_crash_on_a_checkpoint_names_it(divider, capsys, monkeypatch):
    program = divider / "crash"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo ngspice-39 || kill -SEGV $$\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("OSCSIM_NGSPICE", str(program))
    assert run(["spice", SVA, "--tokens", "2"]) == 1
    assert "signal 11 on sva-osc-d2-s0 (sphere)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    [
        [SVA, "--tokens", "2"],
        ["--all"],
        ["divider.cir"],
        ["lc_oscillator", *KICK],
    ],
)
def test_a_folder_that_cannot_be_written_is_said_before_the_run(
    divider, capsys, monkeypatch, asked
):
    monkeypatch.setenv("OSCSIM_NGSPICE", "nothing-may-run")
    (divider / "taken").write_text("")
    for folder in ("taken/here", "taken"):
        assert run(["spice", *asked, "--out", folder]) == 2
        assert f"cannot write into {folder}" in capsys.readouterr().err


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_the_ladder_has_a_spice_rung(divider, capsys):
    """Of three sentences; the rung is that of the same item by itself."""
    words = ["the", "owls", "run"]
    line = {"tokens": words, "label": 1, "verb_idx": 2, "distractor_agrees": None}
    Path("few.jsonl").write_text("\n".join([json.dumps(line)] * 3))
    asked = ["ladder", SVA, "--data", "few.jsonl", "--chips", "1", "--repeats", "1"]
    assert run([*asked, "--spice-tokens", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["rungs"]) == 5
    assert told["spice"]["passed"]
    assert len(told["spice"]["tokens"]) == 2
    assert told["spice"]["largest_weight_error"] < 1e-6
    assert run([*asked, "--spice-tokens", "2"]) == 0
    assert "2 queries of 5 tokens" in capsys.readouterr().out


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_weights_beyond_the_gate_are_exit_code_1(divider, capsys, monkeypatch):
    monkeypatch.setitem(GATES, "sphere", 1e-30)
    assert run(["spice", SVA, "--tokens", "2", "--duration", "2"]) == 1
    shown = capsys.readouterr().out
    assert "1e-30 allowed: FAIL; 2 of 2 tokens not settled" in shown
    assert "has too little drive for the time" in shown


@pytest.mark.parametrize("arguments", [["divider.cir"], ["--all"], [SVA, "--tokens=2"]])
def test_without_ngspice_one_line_says_so(divider, capsys, monkeypatch, arguments):
    monkeypatch.setenv("OSCSIM_NGSPICE", "no-such-program")
    assert run(["spice", *arguments]) == 1
    shown = capsys.readouterr().err
    assert "'no-such-program' was not found" in shown
    assert shown.count("\n") == 1


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_claim_that_holds(divider, capsys):
    assert run(["spice", "divider.cir", "--out", "figures"]) == 0
    shown = capsys.readouterr().out
    assert "pass" in shown
    assert "Ohm's law" in shown
    assert (divider / "figures" / "divider.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_netlist_with_its_noise_is_written_and_the_seed_is_used(divider, capsys):
    noisy = TANK.replace("V1 a 0 2", "V1 a 0 TRNOISE(1 0.5 0 0)")
    (divider / "divider.cir").write_text(noisy)
    measured = []
    for seed in ("3", "3", "4"):
        run(["spice", "divider.cir", "--seed", seed, "--out", "figures", "--json"])
        told = json.loads(capsys.readouterr().out)
        measured.append(told["claims"][0]["measured"])
        path = divider / "figures" / f"divider-seed{seed}.cir"
        assert told["netlist with this noise"] == str(path.relative_to(divider))
        assert "TRNOISE" not in path.read_text()
    assert measured[0] == measured[1]
    assert abs(measured[0] - measured[2]) > 1e-6


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_claim_that_fails_is_exit_code_1_and_stays_in_the_record(divider, capsys):
    (divider / "divider.toml").write_text(
        SIDECAR.replace("expected = 1.0", "expected = 1.5")
    )
    assert run(["spice", "divider.cir", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["passed"]
    assert told["claims"][0]["measured"] == pytest.approx(1.0)
    assert told["claims"][0]["difference"] == pytest.approx(0.5)


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_a_measure_that_is_not_there_fails_with_a_reason(divider, capsys):
    (divider / "divider.toml").write_text(SIDECAR.replace('["half"]', '["third"]'))
    assert run(["spice", "divider.cir"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL" in shown
    assert "'third' gave no result" in shown


@pytest.mark.spice
@pytest.mark.usefixtures("ngspice")
def test_all_goes_on_after_a_circuit_that_does_not_run(divider, capsys, monkeypatch):
    (divider / "broken.cir").write_text(TANK.replace("1k", "{zz}"))
    (divider / "broken.toml").write_text(SIDECAR)
    monkeypatch.setattr("oscsim.spice.check.circuit_folder", lambda: divider)
    assert run(["spice", "--all"]) == 1
    shown = capsys.readouterr().out
    assert "pass" in shown
    assert "ngspice refused broken" in shown
    assert run(["spice", "--all", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["circuits"]
    passed = {one["name"]: one["passed"] for one in told}
    assert passed == {"divider": True, "broken": False}


def test_an_empty_folder_is_said(divider, capsys, monkeypatch):
    from oscsim.errors import NetlistError
    from oscsim.spice.check import circuits

    monkeypatch.setattr("oscsim.spice.check.circuit_folder", lambda: divider / "none")
    with pytest.raises(NetlistError, match="no netlist in"):
        circuits()
