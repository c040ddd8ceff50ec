"""From times to targets: ratios, shares of a ceiling, verdicts."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.benchmarks.floors import batch_flops, shared_flops
from tests.benchmarks.reasons import REASONS
from tests.benchmarks.times import NotMeasuredError, Row, Times, at_error

Measure = Callable[["Times"], tuple[float, float]]


class Target(NamedTuple):
    """A figure that is asked for."""

    value: float
    sense: str
    what: str
    measure: Measure


def _both(evaluate: Callable[[str], float]) -> tuple[float, float]:
    return evaluate("wall_per_unit_s"), evaluate("cpu_per_unit_s")


def ratio(row: str, peer: str, ours: str = "oscsim") -> Measure:
    """Time of the peer's fastest over ours, wall and CPU."""
    return lambda t: _both(lambda key: t.best(row, peer, key) / t.best(row, ours, key))


def slowest_of(*measures: Measure) -> Measure:
    """The smallest of several ratios."""
    return lambda t: tuple(map(min, zip(*(m(t) for m in measures), strict=True)))


def settled_ratio(family: str) -> Measure:
    """Time of 200 noiseless steps over the settled state's, worst dimension."""
    return slowest_of(
        *(ratio(f"W4 settled d={d}", "stepped", family) for d in (2, 8, 32))
    )


def bandwidth(t: Times) -> tuple[float, float]:
    """Bytes of the matrix read per second over the fastest read of such a size."""
    n = _size(t, "W1")
    reads = [
        r
        for r in t.all("W1", "ceiling")
        if r["contender"].startswith("read of the matrix")
    ]
    if not reads:
        raise NotMeasuredError("no read was timed in W1")
    return _both(
        lambda key: (
            4 * 8 * n * n * min(r[key] for r in reads) / t.best("W1", "oscsim", key)
        )
    )


def flops(
    row: str, ours: str, ceiling: str, per_step: Callable[[Row], float]
) -> Measure:
    """Operations per second over those of a large matrix product."""

    def share(t: Times) -> tuple[float, float]:
        peak = [r for r in t.all(row, "ceiling") if r["contender"] == ceiling]
        mine = t.all(row, ours)
        if not (peak and mine):
            raise NotMeasuredError(f"{ours} or {ceiling} missing in {row}")
        work = per_step(mine[0])
        return _both(lambda key: work * peak[0][key] / mine[0][key])

    return share


def _size(t: Times, row: str) -> int:
    mine = t.all(row, "oscsim") or t.all(row, "oscsim32")
    if not mine:
        raise NotMeasuredError(f"oscsim did not run in {row}")
    return int(mine[0]["size"])


def equal_error(peer: str, error: float = 1e-8) -> Measure:
    """Time of the peer over ours at the same error."""

    def compare(t: Times) -> tuple[float, float]:
        row = "W1 adaptive"
        return _both(
            lambda key: (
                at_error(t.all(row, peer), error, key)
                / at_error(t.all(row, "oscsim"), error, key)
            )
        )

    return compare


def flatness(t: Times) -> tuple[float, float]:
    """Largest over smallest cost per edge between 1e3 and 1e5 oscillators."""
    chosen = [r for r in t.all("growth N", "float64 N") if 1e3 <= r["size"] <= 1e5]
    if len(chosen) < 3:
        raise NotMeasuredError("growth over N was not run")
    return _both(lambda key: max(r[key] for r in chosen) / min(r[key] for r in chosen))


def nanoseconds(t: Times) -> tuple[float, float]:
    """Time of one oscillator-step in ns."""
    n = _size(t, "W5")
    return _both(lambda key: t.best("W5", "oscsim", key) / n * 1e9)


def seconds(row: str, family: str) -> Measure:
    """Wall and CPU seconds of a process."""
    return lambda t: _both(lambda key: t.best(row, family, key))


def memory(t: Times) -> tuple[float, float]:
    """Growth of the peak of a run that saves every step over what it returns."""
    found = t.all("memory", "every step saved")
    if not found:
        raise NotMeasuredError("memory was not measured")
    grown = found[0]["peak_growth_bytes"] / found[0]["asked_bytes"]
    return grown, grown


TARGETS: dict[str, Target] = {
    "W1_numpy": Target(1, ">=", "numpy / ours, per step", ratio("W1", "numpy")),
    "W1_bandwidth": Target(0.75, ">=", "share of the read bandwidth", bandwidth),
    "W1_naive": Target(
        80, ">=", "sines of all differences, kuramoto / ours", ratio("W1", "naive")
    ),
    "W1_adaptive_scipy": Target(
        1, ">=", "SciPy DOP853 / ours, error 1e-8", equal_error("SciPy DOP853")
    ),
    "W1_adaptive_diffrax": Target(
        1, ">=", "diffrax Tsit5 / ours, error 1e-8", equal_error("diffrax Tsit5")
    ),
    "W2_scipy": Target(3.5, ">=", "scipy.sparse / ours", ratio("W2", "scipy")),
    "W2_scipy_f32": Target(
        6, ">=", "scipy.sparse / ours in float32", ratio("W2", "scipy", "oscsim32")
    ),
    "W2_jax": Target(15, ">=", "jax / ours", ratio("W2", "jax")),
    "W2_flat": Target(2, "<=", "cost per edge, N = 1e3 to 1e5", flatness),
    "W3_numpy": Target(8, ">=", "numpy / ours", ratio("W3", "numpy")),
    "W3_jax": Target(10, ">=", "jax / ours", ratio("W3", "jax")),
    "W3_torch": Target(6, ">=", "torch / ours", ratio("W3", "torch")),
    "W3_dgemm": Target(
        0.55, ">=", "share of dgemm", flops("W3", "oscsim", "dgemm", batch_flops)
    ),
    **{
        f"W4_{peer}_d{d}": Target(
            value, ">=", f"{peer} / ours, d = {d}", ratio(f"W4 d={d}", peer)
        )
        for peer, values in (("numpy", (10, 7, 12)), ("jax", (10, 3.5, 2.2)))
        for d, value in zip((2, 8, 32), values, strict=True)
    },
    "W4_settled": Target(
        30, ">=", "200 steps / closed form, worst d", settled_ratio("closed")
    ),
    "W4_settled_noise": Target(
        10, ">=", "200 noiseless steps / exact draw, worst d", settled_ratio("draw")
    ),
    "W5_numpy": Target(15, ">=", "numpy / ours", ratio("W5", "numpy")),
    "W5_jax": Target(20, ">=", "jax / ours", ratio("W5", "jax")),
    "W5_diffrax": Target(20, ">=", "diffrax / ours", ratio("W5", "diffrax")),
    "W5_torchsde": Target(60, ">=", "torchsde / ours", ratio("W5", "torchsde")),
    "W5_ns": Target(3, "<=", "ns per oscillator-step", nanoseconds),
    "W6_torch": Target(1, ">=", "torch / ours", ratio("W6", "torch", "oscsim32")),
    "W6_sgemm": Target(
        0.7, ">=", "share of sgemm", flops("W6", "oscsim32", "sgemm", shared_flops)
    ),
    "infer_ratio": Target(
        3, "<=", "one chip / digital", ratio("inference", "chip", "digital")
    ),
    "memory": Target(2, "<=", "peak growth / states asked for", memory),
    "help_s": Target(0.5, "<=", "s for oscsim --help", seconds("startup", "--help")),
}


COMPARISONS: dict[str, tuple[str, Measure]] = {
    "W1_adaptive_dopri8": (
        "diffrax Dopri8 / ours, error 1e-8",
        equal_error("diffrax Dopri8"),
    ),
    "W1_jax": ("jax / ours", ratio("W1", "jax")),
    "W1_torch": ("torch / ours", ratio("W1", "torch")),
    "W2_scipy32_f32": (
        "scipy.sparse / ours, both float32",
        ratio("W2", "scipy32", "oscsim32"),
    ),
    "W2_torch": ("torch / ours", ratio("W2", "torch")),
    "W3_jax32_f32": ("jax / ours, both float32", ratio("W3", "jax32", "oscsim32")),
    **{
        f"W4_{peer}_d{d}": (f"{peer} / ours, d = {d}", ratio(f"W4 d={d}", peer))
        for peer in ("torch", "diffrax")
        for d in (2, 8, 32)
    },
    "W6_numpy": ("numpy / ours", ratio("W6", "numpy", "oscsim32")),
    "W6_jax": ("jax / ours", ratio("W6", "jax", "oscsim32")),
}
"""What no target asks for and a reader should know: ratios without a demand."""


def compare(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return the comparisons as measured, None where they could not be."""
    times = Times(rows)
    told: dict[str, dict[str, Any]] = {}
    for name, (what, measure) in COMPARISONS.items():
        entry: dict[str, Any] = {"measured": None, "what": what}
        try:
            wall, cpu = measure(times)
        except NotMeasuredError as reason:
            entry["missing"] = str(reason)
        else:
            entry |= {"measured": wall, "measured_cpu": cpu}
        told[name] = entry
    return told


def judge(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return every target with what was measured, None where it could not be.

    A target that was missed carries the reason, made of other rows of the run.
    """
    times = Times(rows)
    judged: dict[str, dict[str, Any]] = {}
    for name, target in TARGETS.items():
        entry: dict[str, Any] = {
            "measured": None,
            "target": target.value,
            "sense": target.sense,
            "what": target.what,
        }
        try:
            wall, cpu = target.measure(times)
        except NotMeasuredError as reason:
            entry["missing"] = str(reason)
        else:
            low_is_good = target.sense == "<="
            reached = wall <= target.value if low_is_good else wall >= target.value
            entry |= {"measured": wall, "measured_cpu": cpu, "reached": bool(reached)}
            if not reached:
                entry["reason"] = _explained(name, target, times)
        judged[name] = entry
    return judged


def rooflines(rows: Sequence[Row]) -> dict[str, str]:
    """Say for every target how near the machine's own limits ours comes."""
    times = Times(rows)
    return {name: _explained(name, target, times) for name, target in TARGETS.items()}


def _explained(name: str, target: Target, times: Times) -> str:
    try:
        return REASONS[name](times, target.value)
    except NotMeasuredError as reason:
        return f"not known: {reason}"
