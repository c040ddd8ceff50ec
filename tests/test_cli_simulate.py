"""The command that simulates a network file: output, files, exit codes."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import oscsim as osc
from oscsim.errors import IntegrationError
from oscsim.report.simulation import summarise
from oscsim.solve.netfile import read_network
from oscsim.solve.trajectory import Trajectory
from tests.test_cli import complaint, here, run

assert here  # the working folder of every test

NETWORKS = Path(__file__).parents[1] / "examples" / "networks"
PAIR = """
[network]
model = "kuramoto"
topology = { kind = "matrix", matrix = [[0, 1], [1, 0]] }
omega = [-0.25, 0.25]

[simulate]
t1 = 10
dt = 0.05
n_trajectories = 2
"""


@pytest.fixture
def pair(tmp_path):
    path = tmp_path / "pair.toml"
    path.write_text(PAIR)
    return path


def changed(path, old, new):
    path.write_text(PAIR.replace(old, new))
    return path


def test_the_table_and_the_files(capfd, pair):
    code, out, err = run(capfd, "simulate", pair)
    assert (code, err) == (0, "")
    assert "pair: 2 oscillators (phases), 2 trajectories to 10 s, rk4, seed 0" in out
    assert "oscillators in the largest locked cluster" in out
    assert "2 of 2" in out
    folder = Path("runs/pair-s0")
    assert f"files: {folder}" in out
    found = {path.name for path in folder.iterdir()}
    assert found == {
        "trajectory.npz",
        "net.toml",
        "raster.png",
        "order.png",
        "locking.png",
    }
    assert (folder / "net.toml").read_bytes() == pair.read_bytes()


def test_json_and_the_archive_hold_the_simulation(capfd, pair):
    code, out, _ = run(capfd, "simulate", pair, "--json", "--seed", 7, "--out", "x")
    assert code == 0
    summary = json.loads(out)
    network, file = read_network(pair)
    expected = osc.simulate(network, **file.arguments(seed=7))
    with np.load("x/trajectory.npz") as archive:
        np.testing.assert_array_equal(archive["y"], expected.y)
        np.testing.assert_array_equal(archive["t"], expected.t)
        np.testing.assert_array_equal(archive["status"], [-1, -1])
        stored = json.loads(str(archive["summary"]))
    assert stored.items() <= (summary | {"version": osc.__version__}).items()
    assert summary["seed"] == 7
    assert summary["complete"] is True
    locked = np.cos(np.arcsin(0.25) / 2)
    assert summary["order_parameter"]["end"]["mean"] == pytest.approx(locked, abs=1e-6)
    assert summary["locking"]["largest_cluster"] == 2
    assert summary["potential_end"]["mean"] == pytest.approx(
        -np.cos(np.arcsin(0.25)), abs=1e-6
    )
    assert {Path(name).parent for name in summary["files"]} == {Path("x")}
    assert summary["notes"] == []


def test_threads_and_repetition_do_not_change_a_bit(capfd, pair):
    for threads, out in ((1, "a"), (2, "b")):
        run(capfd, "simulate", pair, "--threads", threads, "--out", out, "--json")
    for name in ("trajectory.npz", "raster.png"):
        one, other = (Path(folder, name).read_bytes() for folder in "ab")
        assert name.endswith("npz") or one == other
    with np.load("a/trajectory.npz") as one, np.load("b/trajectory.npz") as other:
        np.testing.assert_array_equal(one["y"], other["y"])


def test_one_oscillator_is_flagged_and_lag_has_no_potential(capfd, pair):
    changed(pair, "matrix = [[0, 1], [1, 0]]", "matrix = [[0]]")
    pair.write_text(pair.read_text().replace("[-0.25, 0.25]", "1.0\nlag = 0.1"))
    code, out, err = run(capfd, "simulate", pair, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["order_parameter"]["meaningful"] is False
    assert found["order_parameter"]["end"]["mean"] == 1.0
    assert found["potential_end"] is None
    assert found["locking"]["frequency_low_rad_s"] == pytest.approx(1.0)
    _, out, _ = run(capfd, "simulate", pair)
    assert "one oscillator: 1 by definition" in out


def test_fast_rotation_is_noted(capfd, pair):
    changed(pair, "-0.25, 0.25", "-30, 30")
    code, out, err = run(capfd, "simulate", pair)
    assert (code, err) == (0, "")
    assert "note: an oscillator turns by 1.5 rad per step" in out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("t1 = 10", "t1 = 10.02", "not a whole number of steps"),
        ("dt = 0.05", "dt = 5\n", "is unstable for 'rk4'"),
        ("dt = 0.05", 'dt = 0.05\nmethod = "euler"', "method must be one of"),
        ("dt = 0.05", "", "method 'rk4' needs dt"),
        ("omega", "diffusion = 1.0\nomega", "has no noise term"),
        ("omega", "omgea", "network.omgea is not a known field"),
        ("dt = 0.05", "dt = 0.05\nstart = [1.0]", "start must have shape (2,)"),
        ("n_trajectories = 2", "n_trajectories = 4000000000", "GB"),
    ],
)
def test_a_wrong_file_is_one_sentence(capfd, pair, old, new, expected):
    assert expected in complaint(run(capfd, "simulate", changed(pair, old, new)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["missing.toml"], "there is no network file missing.toml"),
        ([], "NET.TOML"),
        (["PAIR", "--seed", "x"], "--seed"),
        (["PAIR", "--seed", "-1"], "seed must be a whole number in [0, 2^32), got -1"),
        (["PAIR", "--threads", "0"], "n_threads must be a whole number >= 1, got 0"),
        (["PAIR", "--out", "PAIR"], "choose another folder"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(capfd, pair, arguments, expected):
    given = [str(pair) if word == "PAIR" else word for word in arguments]
    assert expected in complaint(run(capfd, "simulate", *given))


def test_few_saved_times_leave_out_what_needs_more(capfd, pair):
    changed(pair, "dt = 0.05", "dt = 0.05\nsave_every = 200")
    code, out, _ = run(capfd, "simulate", pair, "--json")
    assert code == 0
    assert json.loads(out)["locking"] is None
    names = {path.name for path in Path("runs/pair-s0").iterdir()}
    assert names == {"trajectory.npz", "net.toml", "raster.png", "order.png"}


def test_observing_keeps_the_order_instead_of_the_states(capfd, pair):
    changed(pair, "dt = 0.05", 'dt = 0.05\nobserve = "order_parameter"')
    code, out, _ = run(capfd, "simulate", pair, "--json")
    assert code == 0
    found = json.loads(out)["order_parameter"]["late"]["mean"]
    assert found == pytest.approx(np.cos(np.arcsin(0.25) / 2), abs=1e-3)
    with np.load("runs/pair-s0/trajectory.npz") as archive:
        assert archive["y"].shape == (2, 2, 2)
        assert archive["r_observed"].shape == (2, 201)
    assert not Path("runs/pair-s0/raster.png").exists()
    assert Path("runs/pair-s0/order.png").exists()


def test_observed_frequencies_are_reported(capfd, pair):
    both = 'dt = 0.05\nobserve = ["effective_frequency", "order_parameter"]'
    changed(pair, "dt = 0.05", both)
    code, out, _ = run(capfd, "simulate", pair, "--json")
    assert code == 0
    locking = json.loads(out)["locking"]
    with np.load("runs/pair-s0/trajectory.npz") as archive:
        found = archive["frequency"]
        assert found.shape == (2, 2)
        np.testing.assert_allclose(
            found, (archive["y"][:, -1] - archive["y"][:, 0]) / archive["t"][-1]
        )
    assert locking["frequency_low_rad_s"] == found[0].min()
    assert locking["largest_cluster"] == 2
    assert Path("runs/pair-s0/locking.png").exists()
    assert Path("runs/pair-s0/order.png").exists()


def test_divergence_is_work_that_failed(capfd, pair, monkeypatch):
    def diverging(*_, **__):
        raise IntegrationError(1, 0.05, 0)

    monkeypatch.setattr("oscsim.solve.simulate.simulate", diverging)
    assert "at step 1" in complaint(run(capfd, "simulate", pair), code=1)


def test_an_interruption_keeps_what_is_done(capfd, pair, monkeypatch):
    def interrupted(*_, seed, **__):
        y = np.zeros((2, 1, 2))
        status = np.full(2, -1)
        about = ("torus", seed, 0.05, "rk4", osc.__version__, status)
        return Trajectory(np.zeros(1), y, *about, is_complete=False)

    monkeypatch.setattr("oscsim.solve.simulate.simulate", interrupted)
    code, out, err = run(capfd, "simulate", pair, "--json")
    assert code == 130
    assert "interrupted at 0 s of 10 s" in err
    assert json.loads(out)["complete"] is False
    folder = Path("runs/pair-s0")
    assert {path.name for path in folder.iterdir()} == {"trajectory.npz", "net.toml"}


@pytest.mark.parametrize("path", sorted(NETWORKS.glob("*.toml")), ids=lambda p: p.stem)
def test_bundled_networks_are_read_and_begin(path):
    network, file = read_network(path)
    arguments = file.arguments() | {"n_trajectories": 1}
    arguments["t1"] = 20 * arguments["dt"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = osc.simulate(network, **arguments)
    assert np.isfinite(result.y).all()


def test_the_bundled_transition_follows_the_mean_field():
    """r = sqrt(1 - K_c / K); locked are those with |omega| < K r."""
    network, file = read_network(NETWORKS / "kuramoto-transition.toml")
    found = summarise(network, osc.simulate(network, **file.arguments()))
    r = 0.5**0.5
    assert found["order_parameter"]["late"]["mean"] == pytest.approx(r, abs=0.01)
    share = 2 / np.pi * np.arctan(2.0 * r / 0.5)
    assert found["locking"]["largest_cluster"] == pytest.approx(500 * share, abs=5)
    assert found["locking"]["frequency_high_rad_s"] > 100
