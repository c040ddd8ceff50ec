"""How far a ratio of two ledgers hangs on each number that it rests on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from oscsim.counts import Counts
from oscsim.energy.components import Component, Library
from oscsim.energy.ledger import Ledger, account
from oscsim.energy.prices import Prices
from oscsim.energy.pricing import ADC_FLOOR
from oscsim.errors import ComponentError
from oscsim.typing import FloatArray

SWEEPS = 8
ATTENTION_PHASES = (
    "weights",
    "load",
    "settle",
    "readout",
    "similarity",
    "normalise",
    "value",
)
"""From the scores to the mixed values: the part that oscillators change."""
CACHE = ("memory", "sram_write_byte")
"""Phase and action of storing keys and values, which belongs to the stage."""


class Case(NamedTuple):
    """What was done and what it costs."""

    counts: Counts
    prices: Prices


def in_attention(phase: str, action: str) -> bool:
    """Return whether an action belongs to the attention stage, with its cache."""
    return phase in ATTENTION_PHASES or (phase, action) == CACHE


def attention_case(case: Case) -> Case:
    """Return the attention stage of a case, its cache included, no overheads."""
    counts = Counts(tokens=case.counts.tokens)
    for (phase, action), number in case.counts.actions.items():
        if in_attention(phase, action):
            counts.add(phase, action, number)
    return Case(counts, replace(case.prices, overheads={}))


class Sensitivity(NamedTuple):
    """How the ratio moves with one cause.

    Attributes
    ----------
    cause : str
        A component, or a group of components that are drawn together.
    rank_correlation : float
        Spearman's, of the cause with the ratio over the draws.
    at_low, at_high : float
        The ratio with the cause at its p10 and p90, all else nominal.
    """

    cause: str
    rank_correlation: float
    at_low: float
    at_high: float


class Extremes(NamedTuple):
    """The largest and smallest ratio with every cause at an end of its range.

    Attributes
    ----------
    worst, best : float
        Ratios.
    worst_ends : Mapping[str, str]
        By cause, ``"low"`` or ``"high"``, for the worst.
    """

    worst: float
    best: float
    worst_ends: Mapping[str, str]


@dataclass(frozen=True)
class Curve:
    """A ratio against the price of one component.

    Attributes
    ----------
    component : str
        Which.
    own : Component
        It as the library has it.
    values : FloatArray, shape (n,)
        Its values, in its unit, increasing.
    nominal : FloatArray, shape (n,)
        The ratio with all else nominal.
    low, high : FloatArray, shape (n,)
        p10 and p90 over the draws of all else: an assumption range.
    """

    component: str
    own: Component
    values: FloatArray
    nominal: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def crossings(self) -> tuple[float, ...]:
        """Values at which the nominal ratio is 1, between the points linear in log."""
        height, x = np.log(self.nominal), np.log(self.values)
        found = []
        for k in np.flatnonzero(height[:-1] * height[1:] < 0):
            part = height[k] / (height[k] - height[k + 1])
            found.append(float(np.exp(x[k] + part * (x[k + 1] - x[k]))))
        return tuple(found)


def share_won(ledger: Ledger, rival: Ledger) -> float:
    """Return the share of paired draws in which a ledger's system total is smaller.

    Raises
    ------
    ComponentError
        If the draws are not paired.
    """
    ledger.ratio(rival)
    return float(np.mean(ledger.draws["system"] < rival.draws["system"]))


def used(counts: Counts, prices: Prices, library: Library) -> tuple[Component, ...]:
    """Return the components of all that was counted, in the library's order."""
    done = {action for (_, action), n in counts.actions.items() if n > 0}
    names = {c for action in done for p in prices.terms[action] for c in p}
    names |= {overhead.share for overhead in prices.overheads.values()}
    read = [c for p in prices.terms.get("state_read", ()) for c in p]
    if "state_read" in done and any(name.startswith("adc.") for name in read):
        names.add(ADC_FLOOR)
    return in_order((library[name] for name in names), library)


def in_order(parts: Iterable[Component], library: Library) -> tuple[Component, ...]:
    """Return components in the library's order, those derived from others last."""
    place = {name: number for number, name in enumerate(library.components)}
    return tuple(sorted(parts, key=lambda c: (place.get(c.id, len(place)), c.id)))


def causes(cases: Sequence[Case], library: Library) -> dict[str, tuple[str, ...]]:
    """Return what is drawn as one: components by group, or alone; exact ones not."""
    found: dict[str, list[str]] = {}
    for case in cases:
        for part in used(*case, library):
            names = found.setdefault(part.corr_group or part.id, [])
            if part.low < part.high and part.id not in names:
                names.append(part.id)
    return {cause: tuple(names) for cause, names in found.items() if names}


def sensitivities(
    case: Case, rival: Case, library: Library, *, n_draws: int = 4096, seed: int = 0
) -> tuple[Sensitivity, ...]:
    """Return how the ratio of two system totals hangs on each cause.

    Parameters
    ----------
    case, rival : Case
        Numerator and denominator.
    library : Library
        The components.
    n_draws, seed : int
        Draws of the priors.

    Returns
    -------
    tuple of Sensitivity
        The largest swing between the ends first.
    """
    from scipy.stats import spearmanr  # noqa: PLC0415 - slow, and seldom needed

    mine, other = (account(*c, library, n_draws, seed) for c in (case, rival))
    ratio = mine.draws["system"] / other.draws["system"]
    found = []
    for cause, names in causes((case, rival), library).items():
        drawn = library.draws(names[0], n_draws, seed)
        rho = float(spearmanr(drawn, ratio).statistic)
        ends = (_at_end(library, names, end) for end in ("low", "high"))
        low, high = (_ratio(case, rival, moved) for moved in ends)
        found.append(Sensitivity(cause, rho, low, high))
    return tuple(sorted(found, key=lambda s: -abs(np.log(s.at_high / s.at_low))))


def extremes(case: Case, rival: Case, library: Library) -> Extremes:
    """Return the worst and the best ratio with every cause at p10 or p90.

    One cause after the other is moved to its worse end until none makes the
    ratio worse: the ratio is monotonic in each, but the end found need not be
    the worst of all combinations.
    """
    worst, ends = _search(case, rival, library, sign=1)
    best, _ = _search(case, rival, library, sign=-1)
    return Extremes(worst, best, ends)


def price_curve(
    case: Case,
    rival: Case,
    library: Library,
    component: str,
    values: FloatArray,
    *,
    n_draws: int = 1024,
    seed: int = 0,
) -> Curve:
    """Return the ratio of two system totals against the value of one component.

    Parameters
    ----------
    case, rival : Case
        Numerator and denominator.
    library : Library
        The components.
    component : str
        Which is set to each value in turn, exactly.
    values : FloatArray, shape (n,)
        Increasing and above 0, in the component's unit.
    n_draws, seed : int
        Draws of the priors of all else.

    Raises
    ------
    ComponentError
        If there is no such component or the values are not increasing and
        above 0.
    """
    if len(values) < 2 or not np.all(np.diff(values, prepend=0.0) > 0):
        raise ComponentError(
            f"values of {component} must increase from above 0, got {values!r:.80}"
        )
    own = library[component]
    rows = []
    for value in values:
        moved = set_values(library, {component: float(value)})
        mine, other = (account(*c, moved, n_draws, seed) for c in (case, rival))
        spread = mine.ratio(other)
        rows.append((mine.nominal_j() / other.nominal_j(), spread.p10, spread.p90))
    nominal, low, high = np.array(rows).T
    return Curve(component, own, values, nominal, low, high)


def set_values(library: Library, values: Mapping[str, float]) -> Library:
    """Return a library in which some components have exact values.

    Raises
    ------
    ComponentError
        If there is no component of a name, or it cannot have the value: a number
        that is not finite, below 0 where only more is possible, or above its ``most``.
    """
    changed: dict[str, Component] = {}
    for name, value in values.items():
        moved = library[name].model_dump() | dict.fromkeys(_ENDS, value)
        changed |= Library.parse([moved], where="set_values").components
    return Library({**library.components, **changed})


_OTHER: dict[str | None, tuple[str, ...]] = {
    None: ("low", "high"),
    "low": ("high",),
    "high": ("low",),
}
_ENDS = ("value", "low", "high")


def _at_end(library: Library, names: Sequence[str], end: str) -> Library:
    return set_values(library, {n: getattr(library[n], end) for n in names})


def _ratio(case: Case, rival: Case, library: Library) -> float:
    mine, other = (account(*c, library, 1).nominal_j() for c in (case, rival))
    if not other > 0:
        raise ComponentError(f"the rival's system total is {other:g}: no ratio")
    return mine / other


def _search(
    case: Case, rival: Case, library: Library, sign: int
) -> tuple[float, dict[str, str]]:
    groups = causes((case, rival), library)
    ends: dict[str, str] = {}
    reached, current = _ratio(case, rival, library), library
    for _ in range(SWEEPS):
        before = dict(ends)
        for cause, names in groups.items():
            for end in _OTHER[ends.get(cause)]:
                values = {name: getattr(library[name], end) for name in names}
                tried = set_values(current, values)
                found = _ratio(case, rival, tried)
                if cause not in ends or sign * (found - reached) > 0:
                    reached, current, ends[cause] = found, tried, end
        if ends == before:
            break
    return reached, ends
