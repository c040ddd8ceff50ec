"""Numbers as a reader meets them: SI prefixes, percentages, missing values."""

import math

from oscsim.energy.ledger import Range

PREFIXES = {
    -18: "a",
    -15: "f",
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
}


def scale_of(value: float) -> tuple[float, str]:
    """Return the power of 1000 that fits a magnitude, and its SI prefix."""
    if value == 0 or not math.isfinite(value):
        return 1.0, ""
    exponent = 3 * math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3)
    exponent = min(max(exponent, min(PREFIXES)), max(PREFIXES))
    return 10.0**exponent, PREFIXES[exponent]


def quantity(value: float, unit: str) -> str:
    """Return three significant digits with an SI prefix, for example ``12.3 nJ``."""
    rounded = float(f"{value:.2e}")
    scale, prefix = scale_of(rounded)
    return f"{rounded / scale:.3g} {prefix}{unit}"


def difference_of(value: float, other: float) -> str:
    """Return ``value - other`` with its sign, or that one of them is infinite."""
    if math.isinf(value) or math.isinf(other):
        return "not finite"
    return f"{value - other:+.4f}"


def quantity_range(found: Range, unit: str) -> str:
    """Return ``p10..p90`` in the unit that fits p50, or each in its own if far."""
    scale, prefix = scale_of(float(f"{found.p50:.2e}"))
    low, high = (float(f"{end:.2e}") / scale for end in (found.p10, found.p90))
    if high >= 999.5:
        return f"{quantity(found.p10, unit)}..{quantity(found.p90, unit)}"
    return f"{low:.3g}..{high:.3g} {prefix}{unit}"


def difference_range(found: Range, unit: str) -> str:
    """Return ``p50 (p10..p90)`` with signs, all in the unit that fits the largest."""
    scale, prefix = scale_of(float(f"{max(map(abs, found)):.2e}"))
    low, middle, high = (f"{float(f'{end:.2e}') / scale:+.3g}" for end in found)
    return f"{middle} ({low}..{high}) {prefix}{unit}"


def between(low: float, high: float, digits: int, *, sign: str = "") -> str:
    """Return an interval; an infinite end is open, for example ``[0.80, open)``."""
    first = f"[{low:{sign}.{digits}f}" if not math.isinf(low) else "(open"
    last = f"{high:{sign}.{digits}f}]" if not math.isinf(high) else "open)"
    return f"{first}, {last}"


def points(difference: float, error: float) -> str:
    """Return a difference of fractions in percentage points with its error."""
    spread = "" if math.isnan(error) else f" ± {100 * error:.2f}"
    return f"{100 * difference:+.2f}{spread} points"


def percent(share: float, digits: int = 2) -> str:
    """Return a fraction as a percentage; what rounds to 0 but is not says so."""
    if 0 < share < 0.5 * 10.0 ** -(digits + 2):
        return f"< {10.0**-digits:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def bits(value: float, error: float = math.nan, *, sign: str = "") -> str:
    """Return bits per byte to four digits, with a standard error if there is one."""
    spread = "" if math.isnan(error) else f" ± {error:.4f}"
    return f"{value:{sign}.4f}{spread}"
