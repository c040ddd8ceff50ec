"""Components that follow from another one and a number of bits."""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from oscsim.typing import FloatArray

if TYPE_CHECKING:
    from oscsim.energy.components import Component

NAME = re.compile(
    r"(?P<of>[A-Za-z][\w.]*)(?P<form>[:@])(?P<to>-?\d+)(?:/(?P<start>\d+))?"
)


class Factor(NamedTuple):
    """A ratio that a parameter p of a law gives.

    Attributes
    ----------
    of : str
        The component p.
    to : int
        Bits; without ``start`` their difference from those of a price.
    start : int or None
        Bits of the price. None: ``2^(p to)``; else ``(p + to) / (p + start)``.
    """

    of: str
    to: int
    start: int | None

    def at(self, p: FloatArray) -> FloatArray:
        """Return the ratio for values of the parameter, any shape."""
        found: FloatArray
        if self.start is None:
            found = 2.0 ** (p * self.to)
        else:
            found = (p + self.to) / (p + self.start)
        return found


def doublings(parameter: str, bits: int) -> str:
    """Return the name of ``2 ** (parameter * bits)``."""
    return f"{parameter}:{bits}"


def words(parameter: str, to: int, start: int) -> str:
    """Return the name of ``(parameter + to) / (parameter + start)``."""
    return f"{parameter}:{to}/{start}"


def units(component: str, to: int, start: int) -> str:
    """Return the name of a count of binary-weighted units at ``to`` bits."""
    return f"{component}@{to}/{start}"


def factor_of(name: str) -> Factor | None:
    """Return the factor that a name means; None if it means none."""
    found = NAME.fullmatch(name)
    if found is None or found["form"] == "@":
        return None
    start = None if found["start"] is None else int(found["start"])
    return Factor(found["of"], int(found["to"]), start)


def origin(name: str) -> str:
    """Return the component that a name is derived from; empty if from none."""
    found = NAME.fullmatch(name)
    return "" if found is None else found["of"]


def derived(name: str, own: "Component") -> "Component | None":
    """Return the component that a name of this module means; None if it means none.

    Parameters
    ----------
    name : str
        From `doublings`, `words` or `units`.
    own : Component
        What it is derived from.

    Notes
    -----
    A factor's ends are those of the parameter. Of b binary-weighted units,
    2^b - 1 in all, the nominal count is 2^(b-1), the low end b and the high end
    2^b - 1: a coupler of ``start`` bits becomes one of ``to`` bits by the ratio of
    each, and is drawn with it (`moved_units`). An exact count moves as the nominal.
    """
    factor = factor_of(name)
    if factor is not None:
        value, *rest = factor.at(np.array([own.value, own.low, own.high])).tolist()
        ends = {"value": value, "low": min(rest), "high": max(rest)}
        return own.model_copy(update=_fields(name, own, ends))
    found = NAME.fullmatch(name)
    if found is None or found["form"] != "@" or found["start"] is None:
        return None
    to, start = int(found["to"]), int(found["start"])
    value = own.value * 2.0 ** (to - start)
    ends = {
        "value": value,
        "low": own.low * to / start,
        "high": own.high * (2**to - 1) / (2**start - 1),
    }
    if own.low == own.high:
        ends = dict.fromkeys(ends, value)
    return own.model_copy(update=_fields(name, own, ends) | {"bits": to})


def moved_units(z: FloatArray, moved: "Component", own: "Component") -> FloatArray:
    """Map standard normal scores to draws of a count of units moved to other bits.

    Down to the p10 they are the quantiles of the moved count, below it the draws of
    its origin in proportion to bits, ``n b / r``: one bit more is more units in every
    draw. (The quantiles alone would be fewer from b = 3 on, far below the p10.)

    Parameters
    ----------
    z : FloatArray
        Standard normal scores, any shape.
    moved : Component
        From `units`.
    own : Component
        What it is derived from.

    Returns
    -------
    FloatArray
        Shape of ``z``.
    """
    drawn = own.quantile(z)
    per_bit = moved.low / own.low if own.low > 0 else 1.0
    found: FloatArray = np.where(drawn < own.low, drawn * per_bit, moved.quantile(z))
    return found


def _fields(name: str, own: "Component", ends: dict[str, float]) -> dict[str, object]:
    """Return what differs: drawn with its origin, read nowhere but there."""
    return {
        **ends,
        "id": name,
        "source": f"{own.id} at other bits: {own.source}",
        "corr_group": own.corr_group or own.id,
        "most": None,
    }
