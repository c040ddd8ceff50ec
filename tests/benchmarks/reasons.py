"""Why a figure is what it is: one sentence per target, from rows of the same run.

No number in a sentence is written by hand: each is a measured time, or a count of
operations times one.
"""

from collections.abc import Callable

from tests.benchmarks import floors
from tests.benchmarks.floors import Floor
from tests.benchmarks.times import NotMeasuredError, Row, Times, at_error

Reason = Callable[[Times, float], str]


def seconds_text(seconds: float) -> str:
    """Return a time with a unit that suits it."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def processors(row: Row) -> str:
    """Return how many processors a contender kept busy, CPU time over wall."""
    return f"{row['cpu_per_unit_s'] / row['wall_per_unit_s']:.1f} processors"


def against(
    row: str, peer: str, floor: Callable[[Times], Floor], ours: str = "oscsim"
) -> Reason:
    """Compare ours and the fastest peer with the floor of a step."""

    def tell(t: Times, value: float) -> str:
        least, what = floor(t)
        mine, theirs = t.fastest(row, ours), t.fastest(row, peer)
        most = theirs["wall_per_unit_s"] / least
        if mine["wall_per_unit_s"] < least:
            verdict = "but ours is faster than this floor, which explains nothing"
        elif most < value:
            verdict = "less than is asked"
        else:
            verdict = "so what is missing lies between this floor and ours"
        return (
            f"{what} would take {seconds_text(least)} a step; ours takes "
            f"{mine['wall_per_unit_s'] / least:.2f} times that on {processors(mine)}, "
            f"the fastest peer ({theirs['contender']}) {most:.2f} times on "
            f"{processors(theirs)}. At the floor the ratio would be {most:.3g}, "
            f"{verdict}"
        )

    return tell


def share(
    row: str,
    ours: str,
    floor: Callable[[Times], Floor],
    peers: tuple[str, ...],
) -> Reason:
    """Say which part of our time the floor is, and of the peers'."""

    def tell(t: Times, value: float) -> str:
        del value
        least, what = floor(t)
        mine = t.fastest(row, ours)
        others = []
        for peer in peers:
            if t.all(row, peer):
                found = t.fastest(row, peer)
                part = least / found["wall_per_unit_s"]
                others.append(f"{found['contender']} {part:.0%}")
        return (
            f"{what} would take {seconds_text(least)} a step, "
            f"{least / mine['wall_per_unit_s']:.0%} of what ours takes on "
            f"{processors(mine)}; of the peers' steps it is: "
            f"{'; '.join(others) or 'none measured'}"
        )

    return tell


def adaptive(peer: str, *others: str) -> Reason:
    """Times at the error compared, and the cost of an evaluation where counted."""

    def tell(t: Times, value: float) -> str:
        del value
        row, key = "W1 adaptive", "wall_per_unit_s"
        told = []
        for family in ("oscsim", peer, *others):
            try:
                cost = at_error(t.all(row, family), 1e-8, key)
            except NotMeasuredError:
                continue
            told.append(f"{family} {seconds_text(cost)}")
        return f"to the error 1e-8: {', '.join(told)}{_evaluations(t)}"

    return tell


def _evaluations(t: Times) -> str:
    """Compare the cost of an evaluation at a tolerance where SciPy's were counted."""
    counted = [r for r in t.all("W1 adaptive", "SciPy DOP853") if "evaluations" in r]
    mine = {r["tolerance"]: r for r in t.all("W1 adaptive", "oscsim")}
    pairs = [(r, mine[r["tolerance"]]) for r in counted if r["tolerance"] in mine]
    if not pairs:
        return ""
    theirs, ours = min(pairs, key=lambda p: p[0]["tolerance"])
    n = theirs["evaluations"]
    text = (
        f"; at tolerance {theirs['tolerance']:g} DOP853 evaluates {n} times and our "
        f"error is {ours['error'] / theirs['error']:.2f} times its error; per such "
        f"evaluation ours takes {seconds_text(ours['wall_per_unit_s'] / n)} on "
        f"{processors(ours)}, SciPy {seconds_text(theirs['wall_per_unit_s'] / n)} on "
        f"{processors(theirs)}"
    )
    fixed = t.all("W1", "oscsim")
    if fixed:
        per = t.best("W1", "oscsim") / 4
        text += f", our fixed steps {seconds_text(per)} (W1)"
    return text


def flat(t: Times, value: float) -> str:
    """Costs per edge at every size."""
    del value
    chosen = [r for r in t.all("growth N", "float64 N") if 1e3 <= r["size"] <= 1e5]
    if not chosen:
        raise NotMeasuredError("growth over N was not run")
    costs = (
        f"{r['wall_per_unit_s'] * 1e9:.2f} ns on {processors(r)} at N = {r['size']}"
        for r in chosen
    )
    return f"per edge and evaluation {', '.join(costs)}"


def settled(family: str, *, has_noise: bool) -> Reason:
    """Cost per vector against bytes and normal numbers, in every dimension."""

    def tell(t: Times, value: float) -> str:
        del value
        parts = []
        for d in (2, 8, 32):
            row = f"W4 settled d={d}"
            n = t.number(row, "size")
            mine, steps = t.fastest(row, family), t.fastest(row, "stepped")
            cost = mine["wall_per_unit_s"]
            moved = 3 * 8 * n * d * t.named(row, "read of the arrays")
            text = (
                f"d = {d}: {cost / n * 1e9:.1f} ns a vector on {processors(mine)}, "
                f"{moved / cost:.0%} of it reading and writing at the fastest read"
            )
            if has_noise:
                drawn = n * d * t.named(row, "normal")
                text += f", d normal numbers alone on one processor {drawn / cost:.0%}"
            one = steps["wall_per_unit_s"] / 200 / n
            parts.append(
                f"{text}; a step {one * 1e9:.2f} ns a vector on {processors(steps)}: "
                f"ratio {steps['wall_per_unit_s'] / cost:.1f}, at most "
                f"{steps['wall_per_unit_s'] / moved:.0f} by those bytes"
            )
        return ". ".join(parts)

    return tell


def oscillator_step(t: Times, value: float) -> str:
    """The parts of a noisy oscillator-step."""
    least, what = floors.noise(t)
    n, mine = t.number("W5", "size"), t.fastest("W5", "oscsim")
    rest = mine["wall_per_unit_s"] - least
    return (
        f"{what}: {least / n * 1e9:.2f} ns of {mine['wall_per_unit_s'] / n * 1e9:.2f} "
        f"ns ({value:g} asked); the rest, {rest / n * 1e9:.2f} ns, is mean, coupling "
        f"and update"
    )


def inference(t: Times, value: float) -> str:
    """What a chip adds to the digital pass, and the ideal substrate alone."""
    del value
    digital, ideal, chip = (
        t.best("inference", family) for family in ("digital", "ideal", "chip")
    )
    return (
        f"the digital pass takes {seconds_text(digital)} a token, the ideal substrate "
        f"{seconds_text(ideal - digital)} more, mismatch, noise and converters "
        f"{seconds_text(chip - ideal)} more"
    )


def peak(t: Times, value: float) -> str:
    """Bytes by which memory grows, with every state saved and with the end alone."""
    del value
    saved, end = (
        t.all("memory", family) for family in ("every step saved", "only the end saved")
    )
    if not (saved and end):
        raise NotMeasuredError("memory was not measured")
    return (
        f"{saved[0]['peak_growth_bytes'] / 1e6:.1f} MB for states of "
        f"{saved[0]['asked_bytes'] / 1e6:.1f} MB; "
        f"{end[0]['peak_growth_bytes'] / 1e6:.1f} MB where only the end is saved"
    )


def startup(t: Times, value: float) -> str:
    """The interpreter's own start beside ours."""
    del value
    ours, alone = (
        t.fastest("startup", family) for family in ("--help", "the interpreter alone")
    )
    return (
        f"the interpreter alone takes {seconds_text(alone['wall_per_unit_s'])}, "
        f"{alone['wall_per_unit_s'] / ours['wall_per_unit_s']:.0%} of it; "
        f"{processors(ours)} busy"
    )


def _gathers32(t: Times) -> Floor:
    return floors.gathers(t, "float32")


REASONS: dict[str, Reason] = {
    "W1_numpy": against("W1", "numpy", floors.reads),
    "W1_bandwidth": share("W1", "oscsim", floors.reads, ("numpy", "jax", "torch")),
    "W1_naive": against("W1", "naive", floors.reads),
    "W1_adaptive_scipy": adaptive("SciPy DOP853", "SciPy RK45"),
    "W1_adaptive_diffrax": adaptive("diffrax Tsit5", "diffrax Dopri8"),
    "W2_scipy": against("W2", "scipy", floors.gathers),
    "W2_scipy_f32": against("W2", "scipy", _gathers32, "oscsim32"),
    "W2_jax": against("W2", "jax", floors.gathers),
    "W2_flat": flat,
    **{
        f"W3_{peer}": against("W3", peer, floors.batches)
        for peer in ("numpy", "jax", "torch")
    },
    "W3_dgemm": share("W3", "oscsim", floors.batches, ("numpy", "jax", "torch")),
    **{
        f"W4_{peer}_d{d}": against(
            f"W4 d={d}", peer, lambda t, d=d: floors.columns(t, d)
        )
        for peer in ("numpy", "jax")
        for d in (2, 8, 32)
    },
    "W4_settled": settled("closed", has_noise=False),
    "W4_settled_noise": settled("draw", has_noise=True),
    **{
        f"W5_{peer}": against("W5", peer, floors.noise)
        for peer in ("numpy", "jax", "diffrax", "torchsde")
    },
    "W5_ns": oscillator_step,
    "W6_torch": against("W6", "torch", floors.shared, "oscsim32"),
    "W6_sgemm": share("W6", "oscsim32", floors.shared, ("torch", "jax", "numpy")),
    "infer_ratio": inference,
    "memory": peak,
    "help_s": startup,
}
"""By target."""
