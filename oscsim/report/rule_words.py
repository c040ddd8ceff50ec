"""What is good enough, in words for a terminal and a sheet."""

import math

from oscsim.design.axis_rule import AxisRule
from oscsim.design.replicates import Interval
from oscsim.design.said import said_number
from oscsim.report.axis_words import said_value
from oscsim.typing import FloatArray


def said_allowed(one: AxisRule, loss: float) -> str:
    """Return the value that is good enough for a loss, with its interval.

    Numbers that devices have whole, such as bits, are rounded to the good side. Where
    no value is good enough, the least loss that was seen, and where.
    """
    found = one.allowed[loss]
    if math.isinf(found.value):
        if (found.value > 0) == (one.curve.better == "smaller"):
            return "every value run"
        value, least = one.least
        half = least.high - least.value
        around = "" if math.isnan(half) else f" +- {said_number(100 * half, 2)}"
        lost = said_number(100 * least.value)
        return f"none: least {lost} %{around} at {said_value(value)}"
    return said_interval(one.allowed_whole(loss) or found, one.curve.values)


def said_interval(found: Interval, run: FloatArray | None = None) -> str:
    """Return a number with its interval.

    Parameters
    ----------
    found : Interval
        Of a finite value.
    run : FloatArray, optional
        Rising values that were run: an end beyond them is told by the last one.
    """
    if math.isnan(found.low):
        return said_number(found.value)
    ends = []
    for end in found[1:]:
        if math.isinf(end) and run is not None:
            sign, last = (">", run[-1]) if end > 0 else ("<", run[0])
            ends.append(f"{sign} {said_value(float(last))}")
        else:
            ends.append(said_number(end))
    return f"{said_number(found.value)} [{ends[0]}, {ends[1]}]"
