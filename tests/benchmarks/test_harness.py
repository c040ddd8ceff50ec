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

from tests.benchmarks import layouts, peers, peers_noisy, problems
from tests.benchmarks.entries import Entry, fixed_step
from tests.benchmarks.figure import draw
from tests.benchmarks.measure import Contender, Missing, alternate, attempt
from tests.benchmarks.targets import COMPARISONS, TARGETS, compare, judge, rooflines
from tests.benchmarks.times import NotMeasuredError, at_error

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


def test_other_arrangements_are_the_same_field():
    rng = np.random.default_rng(1)
    for problem in (problems.dense(12), problems.batch(3, 8)):
        x = rng.uniform(-3, 3, problem.start.shape)
        expected = problems.pairwise_field(np, *problem.arrays)(x)
        turned = layouts.transposed_weight(problem)
        for make, solved in (
            (layouts.row_pair_field, turned),
            (layouts.summed_field, problem),
            (layouts.einsum_field, problem),
        ):
            found = make(np, *solved.arrays)(x)
            np.testing.assert_allclose(found, expected, atol=1e-13)
    innermost = layouts.reversed_axes(problem)
    found = layouts.innermost_field(np, *innermost.arrays)(x.T)
    np.testing.assert_allclose(found.T, expected, atol=1e-13)
    columns = problems.shared(10, 3)
    expected = problems.shared_field(np, *columns.arrays)(columns.start)
    weight, omega = layouts.transposed_weight(columns).arrays
    found = layouts.trajectory_rows_field(np, weight, omega)(columns.start.T)
    np.testing.assert_allclose(found.T, expected, atol=1e-13)
    graph = problems.sparse(40)
    x = rng.uniform(-3, 3, 40)
    expected = problems.edge_field(np, *graph.arrays)(x)
    found = layouts.paired_gather_field(np, *graph.arrays)(x)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    driven = problems.driven(9, 3)
    expected = problems.driven_field(np, *driven.arrays)(driven.start)
    turned = layouts.reversed_axes(driven)
    for make in (layouts.columns_field, layouts.columns_einsum_field):
        found = make(np, *turned.arrays)(turned.start)
        np.testing.assert_allclose(found.T, expected, atol=1e-13)


@pytest.mark.parametrize(
    "make",
    [
        layouts.jax_segment_field,
        layouts.jax_sparse_field("BCSR"),
        layouts.jax_sparse_field("BCOO"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_sparse_fields_of_jax_are_the_same_field(make):
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    graph = problems.sparse(40)
    run = peers.jax_rk4(make, graph, 5)
    expected = peers.numpy_rk4(problems.edge_field, graph, 5)()
    np.testing.assert_allclose(run(), expected, atol=1e-12)
    assert np.abs(expected - graph.start).max() > 0.01


def test_numpy_in_place_takes_the_same_steps():
    """And leaves the start alone: a second run gives the same."""
    dense, shared = problems.dense(12), problems.shared(10, 3)
    driven = problems.driven(9, 3)
    turned = layouts.reversed_axes(driven)
    cut = [
        np.ascontiguousarray(a[:, k])
        for k in (slice(4), slice(4, None))
        for a in (turned.arrays[0], turned.start)
    ]
    blocks = [(layouts.columns_into(h), z) for h, z in (cut[:2], cut[2:])]
    unit = layouts.unit_columns_into
    for expected, found in (
        (
            peers.numpy_rk4(problems.dense_field, dense, 7),
            peers.numpy_in_place(
                [(layouts.dense_into(*dense.arrays), dense.start)], dense.dt, 7
            ),
        ),
        (
            peers.numpy_rk4(problems.shared_field, shared, 7),
            peers.numpy_in_place(
                [(layouts.shared_into(*shared.arrays, 3), shared.start)], shared.dt, 7
            ),
        ),
        (
            lambda: (
                peers.numpy_rk4(problems.driven_field, driven, 7, peers.unit_rows)().T
            ),
            peers.numpy_in_place(blocks, driven.dt, 7, unit),
        ),
    ):
        np.testing.assert_allclose(found(), expected(), atol=1e-13)
        np.testing.assert_array_equal(found(), found())


@pytest.mark.filterwarnings("ignore")
def test_jax_in_blocks_takes_the_same_steps():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    turned = layouts.reversed_axes(problems.driven(12, 3))
    unit = layouts.unit_columns
    run = peers.jax_blocks_rk4(layouts.columns_field, turned, 7, unit, n_blocks=3)
    expected = peers.numpy_rk4(layouts.columns_field, turned, 7, unit)()
    np.testing.assert_allclose(run(), expected, atol=1e-13)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_torch_takes_the_same_steps():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    turned = layouts.reversed_axes(problems.driven(12, 3))
    unit = layouts.unit_columns
    run = peers.torch_compiled_rk4(layouts.columns_field, turned, unit)(7)
    expected = peers.numpy_rk4(layouts.columns_field, turned, 7, unit)()
    np.testing.assert_allclose(run(), expected, atol=1e-13)


def test_errors_belong_to_one_time():
    """However many steps are timed; states that are turned are turned back."""
    problem = problems.driven(20, 3)
    turned = layouts.reversed_axes(problem)
    unit = layouts.unit_columns

    def rows(n_steps):
        return peers.numpy_rk4(problems.driven_field, problem, n_steps, peers.unit_rows)

    def columns(n_steps):
        return peers.numpy_rk4(layouts.columns_field, turned, n_steps, unit)

    entries = [
        Entry("2 steps", "numpy", "", rows, 2),
        Entry("10 steps", "numpy", "", rows, 10),
        Entry("columns", "numpy", "", columns, 40, is_turned=True),
        Entry("other time", "numpy", "", lambda n: rows(n + 1), 2),
    ]
    exact = problems.settled(problem, 10 * problem.dt)
    made = alternate("row", fixed_step(exact, 10, problem.dt, entries), 1)
    errors = [r["error"] for r in made]
    assert 1e-12 < errors[0] == errors[1] < 1e-6
    assert errors[2] == pytest.approx(errors[0], rel=1e-4)
    assert errors[3] > 1e-3
    assert {r["error_time"] for r in made} == {10 * problem.dt}


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
        ("numpy", peers_noisy.numpy_noisy),
        ("numpy", lambda _make, *rest: peers_noisy.numpy_noisy_in_place(*rest)),
        ("jax", peers_noisy.jax_noisy),
        ("jax", partial(peers_noisy.jax_noisy, at_once=True)),
        ("diffrax", peers_noisy.diffrax_noisy),
        ("diffrax", partial(peers_noisy.diffrax_noisy, tree=True)),
        ("sdeint", peers_noisy.sdeint_noisy),
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


def whole_run(ours=1.0, floor=1e-12):
    """Return rows of every kind that a reason is made of, times all alike."""
    rows = [
        timed(row, family, ours if family.startswith("oscsim") else 3.0, **sizes)
        for row, families, sizes in (
            ("W1", "oscsim numpy naive", {"size": 10}),
            ("W2", "oscsim oscsim32 scipy jax", {"size": 10}),
            ("W3", "oscsim numpy jax torch", {"size": 4, "n_networks": 8}),
            *(
                (f"W4 d={d}", "oscsim numpy jax", {"size": 10, "dimension": d})
                for d in (2, 8, 32)
            ),
            *(
                (f"W4 settled d={d}", "stepped closed draw", {"size": 10})
                for d in (2, 8, 32)
            ),
            ("W5", "oscsim numpy jax diffrax torchsde", {"size": 10}),
            ("W6", "oscsim32 torch", {"size": 10, "n_trajectories": 4}),
            ("inference", "digital ideal chip", {}),
        )
        for family in families.split()
    ]
    rows += [
        timed(row, "ceiling", floor) | {"contender": name}
        for row, names in (
            ("W1", ("read of the matrix, sum",)),
            ("W2", ("gather float64", "gather float32")),
            ("W3", ("dgemm", "sine and cosine float64")),
            *((f"W4 d={d}", ("a x + y in cache",)) for d in (2, 8, 32)),
            *(
                (f"W4 settled d={d}", ("read of the arrays, sum", "normal numbers"))
                for d in (2, 8, 32)
            ),
            ("W5", ("sine and cosine float64", "normal numbers")),
            ("W6", ("sgemm", "sine and cosine float32")),
        )
        for name in names
    ]
    rows += [
        timed("W1 adaptive", family, ours, error=1e-9, tolerance=1e-9, **more)
        for family, more in (
            ("oscsim", {}),
            ("SciPy DOP853", {"evaluations": 50}),
            ("diffrax Tsit5", {}),
        )
    ]
    rows += [timed("growth N", "float64 N", k, size=10**k) for k in (3, 4, 5)]
    rows += [
        timed("memory", name, 0.0, peak_growth_bytes=9, asked_bytes=4)
        for name in ("every step saved", "only the end saved")
    ]
    rows += [
        timed("startup", name, 0.7) for name in ("--help", "the interpreter alone")
    ]
    return rows


def test_every_target_has_a_reason_made_of_the_rows():
    told = rooflines(whole_run())
    assert set(told) == set(TARGETS)
    assert not [name for name, text in told.items() if "not known" in text]
    assert "50 times" in told["W1_adaptive_scipy"]
    doubled = rooflines(whole_run(ours=2.0))
    assert told["W2_jax"] != doubled["W2_jax"]
    judged = judge(whole_run(ours=2.0))
    assert not judged["W2_jax"]["reached"]
    assert judged["W2_jax"]["reason"] == doubled["W2_jax"]
    assert all(("reason" in e) is not e["reached"] for e in judged.values())


def test_a_reason_says_whether_the_floor_is_near_enough():
    """320 edges and evaluations; the peer takes 3 s, 15 times ours are asked."""
    far, near, wrong = (
        rooflines(whole_run(floor=floor))["W2_jax"] for floor in (1e-3, 1e-4, 1e-2)
    )
    assert "the ratio would be 9.38, less than is asked" in far
    assert "the ratio would be 93.8, so what is missing" in near
    assert "faster than this floor" in wrong


def test_a_reason_that_lacks_rows_says_so():
    rows = [timed("W2", "oscsim", 2.0), timed("W2", "jax", 4.0)]
    assert judge(rows)["W2_jax"]["reason"].startswith("not known: no size in W2")


def test_comparisons_are_no_targets():
    rows = [timed("W6", "oscsim32", 2.0), timed("W6", "numpy", 1.0)]
    told = compare(rows)
    assert told["W6_numpy"]["measured"] == 0.5
    assert told["W1_adaptive_dopri8"]["measured"] is None
    assert set(told) == set(COMPARISONS)
    assert not set(told) & set(TARGETS)


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
    assert rows["oscsim float64"]["error"] < 2 * rows["numpy, 2 products"]["error"]
    assert "W1_adaptive_dopri8" in report["comparisons"]
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
