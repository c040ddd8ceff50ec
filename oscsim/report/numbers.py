"""Numbers as people read them."""

import math

PREFIXES = {
    -15: "f",
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
}


def engineering(value: float, unit: str) -> str:
    """Return three significant digits with an SI prefix, for example ``12.3 nJ``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    power = 3 * math.floor(math.log10(abs(value)) / 3)
    power = min(max(power, min(PREFIXES)), max(PREFIXES))
    scaled = float(f"{value / 10.0**power:.3g}")
    if abs(scaled) >= 1000 and power < max(PREFIXES):
        power, scaled = power + 3, scaled / 1000
    return f"{scaled:.3g} {PREFIXES[power]}{unit}"


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with two decimals."""
    return f"{100 * fraction:.2f} %"


def share(part: int, whole: int) -> str:
    """Return a part of a whole as a percentage; a dash of nothing."""
    return percent(part / whole) if whole else "-"
