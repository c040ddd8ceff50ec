"""White noise in a netlist, drawn from the project's generator instead of ngspice's.

``TRNOISE`` has the right variance and no seed that makes it repeatable across
versions. A source ``TRNOISE(NA NT 0 0)`` is therefore replaced by straight lines
between numbers drawn here, so that a netlist runs alone in ngspice, and here with a
seed that fixes every bit of the waveforms' input.
"""

import math
import re
from dataclasses import replace

import numpy as np

from oscsim.errors import NetlistError
from oscsim.solve.noise import Stream, normals
from oscsim.spice.netlist import Netlist
from oscsim.typing import FloatArray

STAGE = 33
"""The stage of these numbers in the key of the generator."""

MOST = 4_000_000
"""Numbers in one netlist; ngspice reads some 10 million characters a second."""

_VALUE = r"(\{[^}]*\}|[^\s{}(),]+)"
_SOURCE = re.compile(
    rf"([iv]\w*)\s+(\S+)\s+(\S+)\s+(?:dc\s+0\s+)?trnoise\s*\(\s*{_VALUE}\s+{_VALUE}"
    r"(?:\s+0\s+0)?\s*\)\s*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([a-z]*)", re.IGNORECASE)
_SUFFIX = {"t": 1e12, "g": 1e9, "meg": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6}
_SUFFIX |= {"n": 1e-9, "p": 1e-12, "f": 1e-15}
_A_LINE = 4


def with_noise(netlist: Netlist, seed: int = 0) -> Netlist:
    """Return a netlist whose noise sources play numbers drawn from a seed.

    A source ``TRNOISE(NA NT 0 0)`` becomes NA times straight lines between standard
    normal numbers at 0, NT, 2 NT and so on. As a current ``NA = sqrt(2 D / NT)`` into
    1 F it gives a phase the variance 2 D t for t well above NT. The k-th source of
    the netlist has the stream (seed, 33, 0, k).

    Parameters
    ----------
    netlist : Netlist
        With any number of such sources, none of them in a sub-circuit, whose copies
        would share their numbers. One without is returned as it is.
    seed : int
        From 0 to 2^32 - 1.

    Returns
    -------
    Netlist
        The same for the same seed, bit for bit.

    Raises
    ------
    NetlistError
        If a source has another kind of noise or stands in a sub-circuit or another
        file, NT or the end of the analysis is no number or parameter, or there would
        be more than 4 million numbers.
    SpecError
        If the seed is out of range.

    Notes
    -----
    The spectrum is white below 1 / NT: straight lines lower the variance of a phase
    that is pulled back at a rate K by about K NT / 2.
    """
    lines, found, depth = netlist.text.splitlines(), 0, 0
    _refuse_included(netlist)
    total = sum(_is_random(line) for line in lines[1:])
    out = lines[:1]
    for line in lines[1:]:
        bare = line.strip().lower()
        depth += bare.startswith(".subckt") - bare.startswith(".ends")
        if not _is_random(bare) or bare.startswith("*"):
            out.append(line)
            continue
        source = _SOURCE.fullmatch(line.strip())
        if source is None:
            raise NetlistError(
                f"{netlist.name}: cannot draw the noise of {line.strip()!r}: write "
                "NAME NODE NODE TRNOISE(NA NT 0 0) on one line, white noise alone"
            )
        if depth:
            raise NetlistError(
                f"{netlist.name}: {source.group(1)} makes noise in a sub-circuit, and "
                "all its copies would make the same: move it to the top level"
            )
        out += _drawn(netlist, source, Stream(seed, STAGE, 0, found), total)
        found += 1
    return replace(netlist, text="\n".join(out) + "\n") if found else netlist


def _is_random(text: str) -> bool:
    return re.search("trnoise|trrandom", text, re.IGNORECASE) is not None


def _refuse_included(netlist: Netlist) -> None:
    """Refuse noise that ngspice would draw itself, from another file."""
    for line in netlist.expanded():
        if line.file and _is_random(line.text) and not line.text.startswith("*"):
            raise NetlistError(
                f"{netlist.name}: {line.file}, which it includes, makes noise: move "
                "the source to the top level"
            )


def spice_number(text: str) -> float:
    """Return a number written as SPICE does, ``10Meg``, ``1.5m`` or ``2ns``.

    Parameters
    ----------
    text : str
        The number; letters beyond the suffix are a unit and mean nothing.

    Raises
    ------
    NetlistError
        If it is not one.
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise NetlistError(f"{text!r} is no number")
    letters = found.group(2).lower()
    suffix = "meg" if letters.startswith("meg") else letters[:1]
    return float(found.group(1)) * _SUFFIX.get(suffix, 1.0)


def parameter_value(netlist: Netlist, text: str) -> float:
    """Return a number, or the value of the parameter whose name stands in braces.

    Parameters
    ----------
    netlist : Netlist
        Where its parameters are.
    text : str
        ``5n`` or ``{step}``.

    Raises
    ------
    NetlistError
        If it is an expression, or no parameter has this name.
    """
    known, asked = netlist.parameters(), text
    for _ in range(len(known) + 1):
        name = text.strip("{} ").lower()
        if name not in known:
            break
        text = known[name]
    try:
        return spice_number(text.strip("{} "))
    except NetlistError:
        raise NetlistError(
            f"{netlist.name}: {asked} must be a number or the name of a parameter "
            f"with one, got {text!r}"
        ) from None


def _drawn(
    netlist: Netlist, source: re.Match[str], stream: Stream, total: int
) -> list[str]:
    """Return the lines of one source: standard normals, and what multiplies them."""
    name, plus, minus, amplitude, spacing = source.groups()
    step = parameter_value(netlist, spacing)
    end = parameter_value(netlist, _end_of(netlist))
    if not (step > 0 and end > 0):
        raise NetlistError(
            f"{netlist.name}: NT of {name} and the end of the analysis must be above "
            f"0 s, got {step:g} and {end:g}"
        )
    n = math.ceil(end / step) + 2
    if n * total > MOST:
        raise NetlistError(
            f"{netlist.name}: {total} sources of {n} numbers each are more than "
            f"{MOST}: lengthen NT of {name}, or shorten the analysis"
        )
    node = f"noise_{name.lower()}"
    if node in netlist.text.lower():
        raise NetlistError(f"{netlist.name}: the name {node} is taken: rename it")
    kind = "G" if name[0].lower() == "i" else "E"
    values = normals(stream, np.arange(n), 1)[:, 0]
    return [
        f"V{node} {node} 0 PWL(",
        *_knots(step, values),
        "+ )",
        f"{kind}{node} {plus} {minus} {node} 0 {amplitude}",
    ]


def _knots(step: float, values: FloatArray) -> list[str]:
    pairs = [f"{k * step!r} {float(value)!r}" for k, value in enumerate(values)]
    return [
        "+ " + " ".join(pairs[k : k + _A_LINE]) for k in range(0, len(pairs), _A_LINE)
    ]


def _end_of(netlist: Netlist) -> str:
    """Return how the end of the transient analysis is written."""
    for line in netlist.text.splitlines():
        words = line.split()
        if words and words[0].lower() == ".tran" and len(words) > 2:
            return words[2]
    raise NetlistError(f"{netlist.name} has no .tran line with an end")
