"""Numbers of a sweep as its reports write them: one format for all."""

import math

LEAST, MOST = 1e-4, 1e5
"""Between them numbers stand in full, elsewhere with an exponent."""


def said_number(value: float, digits: int = 3) -> str:
    """Return a number: ``0.01``, ``1620``, ``30000``, ``1e5``, ``3.4e-6``.

    Parameters
    ----------
    value : float
        Any.
    digits : int
        Significant digits; whole ones before the point all stand.
    """
    if not math.isfinite(value):
        return str(float(value))
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    rounded = float(f"{mantissa}e{exponent}")
    if rounded == 0 or LEAST <= abs(rounded) < MOST:
        places = max(digits - 1 - int(exponent), 0)
        return _short(f"{rounded:.{places}f}")
    return f"{_short(mantissa)}e{int(exponent)}"


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
