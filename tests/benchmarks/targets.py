"""From times to targets: ratios, shares of a ceiling, verdicts."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Row = dict[str, Any]
Measure = Callable[["Times"], tuple[float, float]]


class NotMeasuredError(Exception):
    """A contender that a target needs is missing."""


class Times:
    """Look-up of the measured rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if "missing" not in row]
        self.gone = [row for row in rows if "missing" in row]

    def all(self, row: str, family: str) -> list[Row]:
        """Return the contenders of one family in one row."""
        return [r for r in self.rows if (r["row"], r["family"]) == (row, family)]

    def best(self, row: str, family: str, key: str = "wall_per_unit_s") -> float:
        """Return the time per unit of the family's fastest contender."""
        found = self.all(row, family)
        if not found:
            reasons = [
                g["missing"]
                for g in self.gone
                if (g["row"], g["family"]) == (row, family)
            ]
            raise NotMeasuredError(
                f"no {family} in {row}: {'; '.join(reasons) or 'not run'}"
            )
        return float(min(r[key] for r in found))


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


def batch_flops(row: Row) -> float:
    """Multiplications and additions of four evaluations: 4 n^2 + 52 n each.

    4 n^2 for the two products; 52 n for sine, cosine and the stage, counted as
    in a polynomial of 40 operations.
    """
    n = row["size"]
    return 4.0 * row["n_networks"] * (4 * n * n + 52 * n)


def shared_flops(row: Row) -> float:
    """The products of four evaluations, 4 n^2 per trajectory; nothing else."""
    n = row["size"]
    return 4.0 * 4 * n * n * row["n_trajectories"]


def at_error(rows: Iterable[Row], error: float, key: str) -> float:
    """Return the time to reach an error, log-log between measured tolerances.

    The fastest of the fronts: a point counts only if no faster one is better.
    """
    points = sorted((r[key], r["error"]) for r in rows if r["error"])
    front: list[tuple[float, float]] = []
    for cost, found in points:
        if not front or found < front[-1][1]:
            front.append((cost, found))
    if not front or front[-1][1] > error:
        raise NotMeasuredError(f"no contender reached an error of {error:g}")
    for (cost0, error0), (cost1, error1) in pairwise(front):
        if error1 <= error <= error0:
            part = math.log(error0 / error) / math.log(error0 / error1)
            return cost0 * (cost1 / cost0) ** part
    return front[0][0]


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


def judge(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return every target with what was measured, None where it could not be."""
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
        judged[name] = entry
    return judged


def rooflines(rows: Sequence[Row]) -> dict[str, str]:
    """Say for each row how near the machine's own limits ours comes."""
    times = Times(rows)
    told: dict[str, str] = {}
    for name, tell in (("W1", _tell_reads), ("W2", _tell_gathers)):
        _put(told, name, lambda tell=tell: tell(times))
    _put(told, "W3", lambda: _tell_flops(times, "W3", "oscsim", batch_flops))
    for d in (2, 8, 32):
        row = f"W4 d={d}"
        _put(told, row, lambda row=row: _tell_flops(times, row, "oscsim", driven_flops))
    _put(told, "W4 settled", lambda: _tell_settled(times))
    _put(told, "W6", lambda: _tell_flops(times, "W6", "oscsim32", shared_flops))
    return told


def _put(told: dict[str, str], name: str, tell: Callable[[], str]) -> None:
    try:
        told[name] = tell()
    except NotMeasuredError:
        return


def driven_flops(row: Row) -> float:
    """Operations of one step of driven vectors, 33 d each.

    Four evaluations of 4 d (product, projection), three stages of 2 d, the
    weighted sum 8 d, length and division 3 d.
    """
    d = row["dimension"]
    return 33.0 * d * row["size"]


def _tell_reads(t: Times) -> str:
    share, _ = bandwidth(t)
    n = _size(t, "W1")
    rate = 4 * 8 * n * n / t.best("W1", "oscsim") / 1e9
    return f"the matrix is read at {rate:.1f} GB/s, {share:.0%} of the fastest read"


def _tell_gathers(t: Times) -> str:
    edges = 4 * 8 * _size(t, "W2")
    mine, floor = t.best("W2", "oscsim") / edges, t.best("W2", "ceiling")
    return (
        f"{mine * 1e9:.2f} ns per edge; the gather of sine and cosine alone "
        f"{floor * 1e9:.2f} ns"
    )


def _tell_settled(t: Times) -> str:
    parts = []
    for d in (2, 8, 32):
        row = f"W4 settled d={d}"
        closed, draw = t.best(row, "closed"), t.best(row, "draw")
        plain = t.best(row, "stepped") / closed
        noisy = t.best(row, "stepped noise") / draw
        drift = t.best(row, "stepped") / draw
        parts.append(f"d = {d} {plain:.0f}, {drift:.0f} and {noisy:.0f}")
    return (
        "200 plain steps over the closed form, 200 plain and 200 noisy steps over "
        "the exact draw: " + "; ".join(parts)
    )


def _tell_flops(t: Times, row: str, ours: str, per_step: Callable[[Row], float]) -> str:
    ceiling = "sgemm" if ours.endswith("32") else "dgemm"
    share, _ = flops(row, ours, ceiling, per_step)(t)
    work = per_step(t.all(row, ours)[0])
    rate = work / t.best(row, ours) / 1e9
    return f"{rate:.1f} GF/s, {share:.0%} of {ceiling}"
