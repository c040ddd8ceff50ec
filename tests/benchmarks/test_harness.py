"""The benchmark itself: all contenders solve one problem, verdicts follow times."""

import importlib.util
import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks import peers, problems
from tests.benchmarks.figure import draw
from tests.benchmarks.measure import Contender, Missing, alternate, attempt
from tests.benchmarks.targets import TARGETS, NotMeasuredError, at_error, judge

STEPS = 20
ROOT = Path(__file__).parents[2]


def exact(problem, field):
    t1 = STEPS * problem.dt
    return problems.references(field, problem.start, [t1])[t1]


def test_fast_fields_equal_the_definition():
    """Products of sines and cosines are sines of differences, in every shape."""
    rng = np.random.default_rng(0)
    for problem in (problems.dense(12), problems.batch(3, 8)):
        x = rng.uniform(-3, 3, problem.start.shape)
        expected = problems.pairwise_field(np, *problem.arrays)(x)
        found = problems.paired_field(np, *problem.arrays)(x)
        np.testing.assert_allclose(found, expected, atol=1e-13)
        assert np.abs(expected - problem.arrays[1]).max() > 0.1
    graph = problems.sparse(40)
    x = rng.uniform(-3, 3, 40)
    expected = problems.edge_field(np, *graph.arrays)(x)
    matrix = problems.as_csr(graph)
    for found in (
        problems.gathered_field(np, *graph.arrays)(x),
        problems.dense_field(np, *matrix.arrays)(x),
        problems.pairwise_field(np, matrix.arrays[0].toarray(), graph.arrays[2])(x),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-13)
    columns = problems.shared(10, 3)
    found = problems.shared_field(np, *columns.arrays)(columns.start)
    each = problems.pairwise_field(np, *columns.arrays)(columns.start.T)
    np.testing.assert_allclose(found, each.T, atol=1e-13)
    mean = problems.mean_field(9)
    weight = np.full((9, 9), 1.5 / 9)
    expected = problems.pairwise_field(np, weight, mean.arrays[0])(mean.start)
    found = problems.mean_drift(np, mean.arrays[0], 1.5)(mean.start)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_graph_has_the_degree_it_says():
    neighbours = problems.sparse(64, 8).arrays[0]
    assert neighbours.shape == (64, 8)
    assert not (neighbours == np.arange(64)[:, None]).any()
    matrix = problems.as_csr(problems.sparse(64)).arrays[0]
    pattern = matrix.toarray() > 0
    assert (pattern == pattern.T).all()


@pytest.mark.parametrize(
    ("library", "solver", "dtype", "band"),
    [
        ("numpy", peers.numpy_rk4, "float64", (1e-13, 1e-9)),
        ("numpy", peers.numpy_rk4, "float32", (1e-9, 1e-5)),
        ("torch", peers.torch_rk4, "float64", (1e-13, 1e-9)),
        ("torchdiffeq", peers.torchdiffeq_rk4, "float64", (1e-13, 1e-9)),
        ("jax", peers.jax_rk4, "float64", (1e-13, 1e-9)),
        ("jax", peers.jax_rk4, "float32", (1e-9, 1e-5)),
        ("diffrax", peers.diffrax_fixed, "float64", (0, 1e-10)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_fixed_step_drivers_solve_the_problem(library, solver, dtype, band):
    """Error in a band: fourth order at this step, or rounding; never exact."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    problem = problems.dense(12)
    field = problems.dense_field
    run = solver(field, problem, STEPS, dtype=dtype)
    error = np.abs(run() - exact(problem, field(np, *problem.arrays))).max()
    assert band[0] <= error <= band[1]


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("numpy", peers.numpy_noisy),
        ("jax", peers.jax_noisy),
        ("diffrax", peers.diffrax_noisy),
        ("diffrax", partial(peers.diffrax_noisy, tree=True)),
        ("sdeint", peers.sdeint_noisy),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_noisy_drivers_have_the_right_noise(library, make):
    """Variance 2 D t without coupling, to 5 standard errors; 4 D t is seen."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    problem = problems.mean_field(400)
    diffusion, t1 = 0.2, STEPS * problem.dt
    state = make(problems.mean_drift, problem, STEPS)(0.0, diffusion)
    kicks = state - problem.start - problem.arrays[0] * t1
    ratio = (kicks**2).mean() / (2 * diffusion * t1)
    band = 5 * math.sqrt(2 / 400)
    assert abs(ratio - 1) < band < abs(ratio / 2 - 1)


def test_exact_driven_state_is_the_flow():
    problem = problems.driven(20, 3)
    found = problems.settled(problem, 0.4)
    t1 = 0.4
    field = problems.driven_field(np, *problem.arrays)
    expected = problems.references(field, problem.start, [t1])[t1]
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_a_peer_that_fails_is_reported_and_the_others_run():
    def broken():
        raise ImportError("No module named 'peer'\nmore")

    rows = alternate(
        "row",
        [
            attempt("peer", "peer", broken, "peer"),
            Contender("fails late", "numpy", lambda: 1 / 0, 1, family="late"),
            Contender("works", "numpy", lambda: np.ones(2), 2, lambda s: s[0]),
        ],
        repeats=3,
        size=4,
    )
    assert rows[0]["missing"] == "ImportError: No module named 'peer'"
    assert rows[1]["missing"].startswith("ZeroDivisionError")
    assert rows[2]["error"] == 1.0
    assert rows[2]["size"] == 4
    assert len(rows[2]["wall_s"]) == 3
    assert rows[2]["wall_per_unit_s"] == sorted(rows[2]["wall_s"])[1] / 2


def timed(row, family, wall, **more):
    times = {"wall_per_unit_s": wall, "cpu_per_unit_s": wall}
    names = {"row": row, "family": family, "contender": family}
    return names | times | {"error": None} | more


def test_verdicts_follow_the_times():
    rows = [
        timed("W2", "oscsim", 2.0),
        timed("W2", "scipy", 8.0),
        timed("W2", "scipy", 9.0),
        timed("W2", "jax", 20.0),
        {"row": "W3", "family": "oscsim", "contender": "x", "missing": "not there"},
        timed("startup", "--help", 0.6),
    ]
    judged = judge(rows)
    assert judged["W2_scipy"]["measured"] == 4.0
    assert judged["W2_scipy"]["reached"]
    assert judged["W2_jax"]["measured"] == 10.0
    assert not judged["W2_jax"]["reached"]
    assert not judged["help_s"]["reached"]
    assert judged["W3_numpy"]["measured"] is None
    assert set(judged) == set(TARGETS)
    assert all(e["sense"] in (">=", "<=") for e in judged.values())
    assert json.loads(json.dumps(judged)) == judged
    picture = draw({"targets": judged, "rows": rows})
    assert picture.startswith(b"\x89PNG")


def test_times_are_compared_at_the_same_error():
    """Between tolerances log-log; a slower and worse point does not count."""
    rows = [
        timed("W1", "a", 1.0, error=1e-6),
        timed("W1", "a", 4.0, error=1e-10),
        timed("W1", "a", 3.0, error=1e-5),
    ]
    assert at_error(rows, 1e-8, "wall_per_unit_s") == pytest.approx(2.0)
    assert at_error(rows, 1e-4, "wall_per_unit_s") == 1.0
    with pytest.raises(NotMeasuredError, match="reached an error"):
        at_error(rows, 1e-12, "wall_per_unit_s")


def test_missing_contender_carries_its_reason():
    gone = attempt("x", "y", lambda: [][0])
    assert isinstance(gone, Missing)
    assert gone.reason.startswith("IndexError")


@pytest.mark.slow
def test_a_quick_run_writes_the_report(tmp_path):
    """Also without the peers: they are reported missing, ours are not."""
    out = tmp_path / "latest.json"
    command = [sys.executable, "-m", "tests.benchmarks.run", "--quick"]
    command += ["--only", "W1", "startup", "--out", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text(encoding="utf-8"))
    assert set(report["targets"]) == set(TARGETS)
    assert report["targets"]["help_s"]["measured"] > 0
    assert report["targets"]["W1_numpy"]["measured"] > 0
    assert report["targets"]["W2_scipy"]["measured"] is None
    rows = {r["contender"]: r for r in report["rows"]}
    assert 1e-13 < rows["oscsim float64"]["error"] < 1e-8
    assert rows["oscsim float64"]["error"] < 2 * rows["numpy, 2 dgemv"]["error"]
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
