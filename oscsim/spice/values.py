"""Numbers and names as SPICE reads them, and nothing else that it would run."""

import math
import re
from decimal import Decimal

from oscsim.errors import NetlistError

_PREFIXES = {
    "": "", "f": "f", "p": "p", "n": "n", "u": "u", "µ": "u", "μ": "u", "m": "m",
    "k": "k", "M": "Meg", "Meg": "Meg", "G": "G", "T": "T",
}  # fmt: skip
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"ohm|Ohm|Ω|Hz|rad|F|A|V|S|H|s"
_QUANTITY = re.compile(rf"({_NUMBER})\s*(Meg|[fpnuµμmkMGT])?({_UNIT})", re.ASCII)
_ALONE = re.compile(rf"({_NUMBER})\s*(Meg|[pnuµμmkGT])?", re.ASCII)
_POWERS = {
    "": 0, "f": -15, "p": -12, "n": -9, "u": -6, "m": -3, "k": 3, "meg": 6, "g": 9,
    "t": 12,
}  # fmt: skip
_WRITTEN = re.compile(rf"({_NUMBER})(meg|[fpnumkgt]?)", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")


def spice_value(quantity: float | str) -> str:
    """Return a number, or a quantity with its SI unit, as SPICE writes it.

    ``1 F`` becomes ``1`` (SPICE reads F as femto), ``2 A`` becomes ``2`` (A is
    atto) and ``10 Mohm`` becomes ``10Meg`` (M is milli).

    Parameters
    ----------
    quantity : float or str
        A finite number in SI units, or text such as ``"10 uH"``. A prefix
        without a unit is read where it cannot mean two things: ``"10k"`` and
        ``"10Meg"``, but not ``"10M"``.

    Raises
    ------
    NetlistError
        If it is not finite or no quantity, with nothing beside it.
    """
    if isinstance(quantity, str):
        text = quantity.strip()
        found = _ALONE.fullmatch(text) or _QUANTITY.fullmatch(text)
        if found is None:
            raise NetlistError(
                f"{quantity!r:.60} is no quantity: give a number, or one with an SI "
                "prefix and unit such as '10 Mohm' (a lone M would be milli in SPICE)"
            )
        return found.group(1) + _PREFIXES[found.group(2) or ""]
    number = float(quantity)
    if not math.isfinite(number):
        raise NetlistError(f"a circuit has finite values only, got {number}")
    return repr(number).removesuffix(".0")


def spice_number(text: str) -> float:
    """Return what a value written as SPICE writes it amounts to.

    Parameters
    ----------
    text : str
        Such as ``"10u"`` or ``"1Meg"``.

    Raises
    ------
    NetlistError
        If it is an expression, or no number.
    """
    found = _WRITTEN.fullmatch(text.lower())
    if found is None:
        raise NetlistError(f"{text!r:.60} is not a plain number of SPICE")
    return float(Decimal(found.group(1)).scaleb(_POWERS[found.group(2)]))


def require_names(names: tuple[str, ...]) -> None:
    """Refuse names that SPICE would read as something else, or as one.

    Parameters
    ----------
    names : tuple of str
        Names from a user or a file, to become parts of node names.

    Raises
    ------
    NetlistError
        If a name is not letters, digits and underscores alone (a line break or
        another character could start a command), or two differ only in case.
    """
    seen: dict[str, str] = {}
    for name in names:
        if not _NAME.fullmatch(name):
            raise NetlistError(
                f"the name {name!r:.60} cannot stand in a netlist: use letters, "
                "digits and underscores"
            )
        if name.lower() in seen:
            raise NetlistError(
                f"the names {seen[name.lower()]!r} and {name!r} are one to SPICE, "
                "which ignores case: rename one of them"
            )
        seen[name.lower()] = name
