"""The command that simulates a network file: output, files, exit codes."""

import json
import os
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import oscsim as osc
from oscsim.errors import IntegrationError
from oscsim.report.simulation import (
    bytes_of_report,
    summarise,
    write_report,
    write_trajectory,
)
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
        "summary.json",
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
        about = json.loads(str(archive["about"]))
    assert about["version"] == osc.__version__
    assert about.items() <= summary.items()
    stored = json.loads(Path("x/summary.json").read_text())
    assert stored == {k: v for k, v in summary.items() if k not in ("notes", "files")}
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
        ("dt = 0.05", 'dt = 0.05\nmethod = "euler"', "pair.toml: simulate.method: "),
        ("dt = 0.05", "", "method 'rk4' needs dt"),
        ("omega", "diffusion = 1.0\nomega", "has no noise term"),
        ("omega", "omgea", "network.omgea is not a known field"),
        ("dt = 0.05", "dt = 0.05\nstart = [1.0]", "start must have shape (2,)"),
        ("n_trajectories = 2", "n_trajectories = 4000000000", "GB"),
        ("n_trajectories = 2", "n_trajectories = 1" + 400 * "0", "n_trajectories"),
        ("dt = 0.05", "dt = 1e-320", "pair.toml: this run with its report needs"),
        ("dt = 0.05", 'dt = 0.05\nmethod = "euler"', "got 'euler'"),
        ("dt = 0.05", "dt = 5\n", "pair.toml: dt = 5 is unstable"),
        ("omega", "lag = [[0, 1], [1]]\nomega", "the rows of lag must be equally"),
        ("dt = 0.05", "dt = 0.05\nstart = [[0, 1], [1]]", "the rows of start must"),
        ("matrix = [[0, 1], [1, 0]]", "matrix = [[0, 1], [1]]", "must be square"),
        (
            'kind = "matrix", matrix = [[0, 1], [1, 0]]',
            'kind = "all-to-all", n = 1' + 30 * "0",
            "oscillators needs over 1e9 GB of memory",
        ),
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
        (["PAIR", "--seed", "1.0"], "--seed"),
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
    assert names == {
        "trajectory.npz",
        "net.toml",
        "summary.json",
        "raster.png",
        "order.png",
    }


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


def test_a_file_that_is_read_once_or_changes_is_recorded_as_it_was(
    capfd, pair, monkeypatch
):
    """The record is of what was simulated; a pipe gives its bytes only once."""
    source = pair.read_bytes()
    reader, writer = os.pipe()
    os.write(writer, source)
    os.close(writer)
    code, _, err = run(capfd, "simulate", f"/dev/fd/{reader}", "--out", "piped")
    os.close(reader)
    assert (code, err) == (0, "")
    assert Path("piped/net.toml").read_bytes() == source

    original = osc.simulate

    def then_changed(*arguments, **named):
        changed(pair, "t1 = 10", "t1 = 99")
        return original(*arguments, **named)

    monkeypatch.setattr("oscsim.solve.simulate.simulate", then_changed)
    assert run(capfd, "simulate", pair, "--out", "changed")[0] == 0
    assert Path("changed/net.toml").read_bytes() == source


@pytest.mark.parametrize(
    ("error", "code", "why"),
    [
        (MemoryError, 1, "there was not enough memory"),
        (KeyboardInterrupt, 130, "interrupted"),
    ],
)
def test_a_finished_run_outlives_its_report(capfd, pair, monkeypatch, error, code, why):
    def failing(*_):
        raise error

    monkeypatch.setattr("oscsim.report.simulation.figures_of", failing)
    got, out, said = run(capfd, "simulate", pair)
    assert (got, out, said.count("\n")) == (code, "", 1)
    assert f"trajectory.npz is written, its summary and figures are not: {why}" in said
    with np.load("runs/pair-s0/trajectory.npz") as archive:
        assert archive["y"].shape == (2, 201, 2)


def test_a_lack_of_memory_while_it_runs_is_one_sentence(capfd, pair, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("oscsim.solve.simulate.simulate", full)
    assert "not enough memory" in complaint(run(capfd, "simulate", pair), code=1)


def peak_of(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("geometry", ["torus", "sphere"])
def test_the_report_takes_what_is_counted(geometry, tmp_path):
    """Beside the states, which are there already, no second copy of them."""
    n, d, saved = 400, 2 if geometry == "torus" else 3, 4000
    rng = np.random.default_rng(0)
    y = rng.standard_normal((2, saved, n, d))
    if geometry == "torus":
        network = osc.Network.kuramoto("all-to-all", omega=np.linspace(0, 1, n))
        y = y[..., 0].cumsum(axis=1) * 0.01
    else:
        network = osc.Network.lohe("all-to-all", d=3, n=n)
        y /= np.linalg.norm(y, axis=-1, keepdims=True)
    about = (geometry, 0, 0.01, "rk4", "0", np.full(2, -1))
    result = Trajectory(np.arange(saved) * 0.01, y, *about)

    def report():
        write_trajectory(tmp_path, result, b"")
        write_report(tmp_path, network, result, summarise(network, result))

    report()  # imports
    counted = bytes_of_report(
        network, t1=saved * 0.01, dt=0.01, save_every=1, n_trajectories=2
    )
    assert counted > y.nbytes
    assert peak_of(report) < counted - y.nbytes
    assert (
        peak_of(lambda: write_trajectory(tmp_path, result, b"")) < 0.2 * y.nbytes + 2e7
    )


def test_the_report_counts_before_the_run(capfd, pair, monkeypatch):
    monkeypatch.setattr("oscsim.memory.free_memory", lambda: 5e7)
    said = complaint(run(capfd, "simulate", pair))
    assert "pair.toml: this run with its report needs" in said
    assert not Path("runs").exists()


def test_a_frequency_in_doubt_is_noted(capfd, pair):
    """Unit vectors that turn by 3 rad between saved times."""
    text = PAIR.replace("kuramoto", "lohe").replace(
        "[-0.25, 0.25]", "[3.0, 3.0]\nd = 2"
    )
    pair.write_text(text.replace("dt = 0.05", "dt = 0.05\nsave_every = 20"))
    code, out, err = run(capfd, "simulate", pair)
    assert (code, err) == (0, "")
    assert "note: a unit vector turns by nearly half a turn" in out


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
    names = {path.name for path in folder.iterdir()}
    assert names == {"trajectory.npz", "net.toml", "summary.json"}


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
