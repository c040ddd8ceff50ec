"""The least time of one step, from work measured alone in the same run.

Counts of operations, and what they would take at the rates of the row's ceilings.
None of it is a proof: a floor is what our own pieces reach when nothing is between
them.
"""

from typing import NamedTuple

from tests.benchmarks.times import Row, Times


class Floor(NamedTuple):
    """Seconds per step, and of what."""

    seconds: float
    what: str


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


def driven_flops(row: Row) -> float:
    """Operations of one step of driven vectors, 33 d each.

    Four evaluations of 4 d (product, projection), three stages of 2 d, the
    weighted sum 8 d, length and division 3 d.
    """
    d = row["dimension"]
    return 33.0 * d * row["size"]


def reads(t: Times) -> Floor:
    """W1: the matrix once per evaluation."""
    n = t.number("W1", "size")
    seconds = 4 * 8 * n * n * t.named("W1", "read of the matrix")
    return Floor(seconds, "reading the matrix four times at the fastest read")


def gathers(t: Times, dtype: str = "float64") -> Floor:
    """W2: sine and cosine of every neighbour, once per evaluation."""
    seconds = 4 * 8 * t.number("W2", "size") * t.named("W2", f"gather {dtype}")
    return Floor(seconds, f"gathering sines and cosines alone ({dtype})")


def batches(t: Times) -> Floor:
    """W3: products as in dgemm, our sines and cosines as alone."""
    n, count = t.number("W3", "size"), t.number("W3", "n_networks")
    angles = 4 * n * count * t.named("W3", "sine and cosine float64")
    seconds = 16 * n * n * count * t.named("W3", "dgemm") + angles
    return Floor(
        seconds,
        f"products at the rate of dgemm and sines and cosines alone "
        f"({angles / seconds:.0%} of it)",
    )


def columns(t: Times, d: int) -> Floor:
    """W4: its operations at the rate of a x + y in the first-level cache."""
    row = f"W4 d={d}"
    work = 33.0 * d * t.number(row, "size")
    return Floor(
        work * t.named(row, "a x + y in cache"),
        "its operations at the rate of a x + y on arrays in cache",
    )


def noise(t: Times) -> Floor:
    """W5: a normal number, a sine and a cosine per oscillator, one processor."""
    n = t.number("W5", "size")
    normal, angle = t.named("W5", "normal"), t.named("W5", "sine")
    return Floor(
        n * (normal + angle),
        f"normal numbers ({normal * 1e9:.2f} ns) and sines and cosines "
        f"({angle * 1e9:.2f} ns) alone on one processor",
    )


def shared(t: Times) -> Floor:
    """W6: products as in sgemm, our sines and cosines as alone."""
    n, many = t.number("W6", "size"), t.number("W6", "n_trajectories")
    products = 16.0 * n * n * many * t.named("W6", "sgemm")
    angles = 4 * n * many * t.named("W6", "sine and cosine float32")
    return Floor(
        products + angles,
        f"products at the rate of sgemm and sines and cosines alone "
        f"({angles / (products + angles):.1%} of it)",
    )
