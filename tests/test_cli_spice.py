import json

import pytest

from oscsim.cli import run
from oscsim.errors import SimulatorError
from oscsim.spice.ngspice import find_ngspice

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
        (["divider.cir", "--timeout", "0"], "--timeout must be above 0 s, got 0"),
        (["none.cir"], "cannot read the netlist none.cir"),
        (["loose.cir"], "cannot read loose.toml"),
    ],
)
def test_a_wrong_request_is_one_sentence(divider, capsys, arguments, told):
    (divider / "loose.cir").write_text(TANK)
    assert run(["spice", *arguments]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("arguments", [["divider.cir"], ["--all"]])
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
    told = json.loads(capsys.readouterr().out)
    assert told["divider"]["passed"]
    assert not told["broken"]["passed"]


def test_an_empty_folder_is_said(divider, capsys, monkeypatch):
    from oscsim.errors import NetlistError
    from oscsim.spice.check import circuits

    monkeypatch.setattr("oscsim.spice.check.circuit_folder", lambda: divider / "none")
    with pytest.raises(NetlistError, match="no netlist in"):
        circuits()
