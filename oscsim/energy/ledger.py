"""Joules per token: counts times prices, with the range that the priors imply."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from oscsim.counts import Counts, is_whole
from oscsim.energy.components import Library
from oscsim.energy.prices import ACTIONS, CONVERTER_ACTIONS, CORE_ACTIONS, Prices
from oscsim.energy.pricing import Entry, Pricing
from oscsim.errors import ComponentError
from oscsim.typing import FloatArray

Total: TypeAlias = Literal["core", "converters", "system"]
TOTALS: tuple[Total, ...] = ("core", "converters", "system")


class Range(NamedTuple):
    """Percentiles of a total or of a ratio; a range of assumptions."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True)
class Ledger:
    """What a token costs, by part, in three totals, with its ranges.

    ``core`` is the oscillators, anchors and couplers; ``converters`` adds
    coupling writes and read-outs; ``system`` adds everything else that was
    counted, and the overheads.

    Attributes
    ----------
    tokens : int
        Number of tokens the counts cover.
    entries : tuple of Entry
        Nominal joules per token, one entry per phase, action and component.
    draws : Mapping[str, FloatArray]
        Draws of each total (J per token), shape (n_draws,), paired between
        ledgers of one library and seed.
    untrusted : Mapping[str, float]
        Nominal joules per token that rest on assumed or remembered numbers,
        by component.
    notes : tuple of str
        What was changed or borrowed: a clamped converter, another node.
    seed : int
        Seed of the draws.
    """

    tokens: int
    entries: tuple[Entry, ...]
    draws: Mapping[str, FloatArray]
    untrusted: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seed: int = 0

    @property
    def joules(self) -> dict[tuple[str, str], float]:
        """Nominal J per token by (phase, action)."""
        parts: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for entry in self.entries:
            parts[entry.phase, entry.action].append(entry.joules)
        return {key: math.fsum(values) for key, values in parts.items()}

    @property
    def by_component(self) -> dict[str, float]:
        """Nominal J per token by component."""
        parts: defaultdict[str, list[float]] = defaultdict(list)
        for entry in self.entries:
            parts[entry.component].append(entry.joules)
        return {name: math.fsum(values) for name, values in parts.items()}

    def nominal_j(self, total: Total = "system") -> float:
        """Return a total at nominal values (J per token)."""
        kept = _members(_checked(total))
        return math.fsum(
            e.joules for e in self.entries if kept is None or e.action in kept
        )

    def per_token_j(self, total: Total = "system", quantile: float = 0.5) -> float:
        """Return a quantile of a total over the draws (J per token).

        Raises
        ------
        ComponentError
            If the total is unknown or the quantile outside [0, 1].
        """
        if not 0 <= quantile <= 1:
            raise ComponentError(f"quantile must be within 0..1, got {quantile}")
        return float(np.quantile(self.draws[_checked(total)], quantile))

    def range_j(self, total: Total = "system") -> Range:
        """Return p10, p50 and p90 of a total (J per token)."""
        return _range(self.draws[_checked(total)])

    def ratio(self, other: "Ledger", total: Total = "system") -> Range:
        """Return the percentiles of this total over another ledger's.

        The draws are paired: what both have in common cancels.

        Raises
        ------
        ComponentError
            If the ledgers were drawn with different seeds or sizes, or the
            other total is 0.
        """
        mine, theirs = self.draws[_checked(total)], other.draws[total]
        if self.seed != other.seed or mine.shape != theirs.shape:
            raise ComponentError(
                "a ratio needs paired draws: same seed and n_draws, got "
                f"{self.seed}, {mine.size} and {other.seed}, {theirs.size}"
            )
        if not np.all(theirs > 0):
            raise ComponentError(f"the other ledger's {total} total is 0: no ratio")
        return _range(mine / theirs)

    @property
    def untrusted_share(self) -> float:
        """Share of the nominal system total that is assumed or from memory."""
        total = self.nominal_j()
        return math.fsum(self.untrusted.values()) / total if total > 0 else 0.0

    @property
    def has_banner(self) -> bool:
        """Whether most of the system total is assumed or from memory."""
        return self.untrusted_share > 0.5

    @property
    def banner(self) -> str:
        """The sentence that such a headline carries; empty for others."""
        if not self.has_banner:
            return ""
        total = self.nominal_j()
        largest = sorted(self.untrusted.items(), key=lambda part: -part[1])[:3]
        listed = ", ".join(f"{name} ({j / total:.0%})" for name, j in largest)
        return (
            f"{self.untrusted_share:.0%} of the system total rests on numbers that "
            f"are assumed or from memory: {listed}"
        )


def account(
    counts: Counts,
    prices: Prices,
    library: Library,
    n_draws: int = 4096,
    seed: int = 0,
) -> Ledger:
    """Price a tally.

    ``E = sum_actions n_action sum_products prod_k component_k``, plus each
    overhead's share of its base. An action in seconds times a power gives
    joules, times an energy per cycle it is multiplied by the frequency. The
    draws use the same formula with every component drawn once.

    A ``state_read`` priced through an ``adc.*`` component never costs less
    than the floor of the converter survey (``adc.envelope_floor``).

    Parameters
    ----------
    counts : Counts
        What was done, for ``counts.tokens`` tokens.
    prices : Prices
        Components by action.
    library : Library
        The components.
    n_draws : int
        Draws of the priors.
    seed : int
        Seed of the draws; ledgers with one seed are paired.

    Returns
    -------
    Ledger
        Per token. All zero if nothing was counted.

    Raises
    ------
    ComponentError
        If a counted action is unknown or has no price, a price is malformed
        or names an unknown component, ``n_draws < 1``, a count is negative or
        not finite, or actions were counted for no whole number of tokens from 1.

    Notes
    -----
    An estimate: no oscillator-attention chip has published joules per token.
    Not modelled: utilisation, batch effects, arrays smaller than the model,
    and joules that depend on data.
    """
    _check_counts(counts)
    done = {key: n for key, n in counts.actions.items() if n > 0}
    _check(done, counts.tokens, prices, library, n_draws)
    pricing = Pricing(prices, library, n_draws, seed)
    for (phase, action), number in sorted(done.items()):
        per_token = number / counts.tokens
        for product in prices.terms[action]:
            pricing.charge(phase, action, product, per_token)
    for name, overhead in prices.overheads.items():
        pricing.charge_overhead(name, overhead)
    return ledger_of(pricing, counts.tokens)


def ledger_of(pricing: Pricing, tokens: int) -> Ledger:
    """Return what was charged so far as a ledger."""
    return Ledger(
        tokens=tokens,
        entries=tuple(pricing.entries),
        draws={total: pricing.summed(_members(total)) for total in TOTALS},
        untrusted=dict(pricing.untrusted),
        notes=tuple(pricing.notes),
        seed=pricing.seed,
    )


def _check_counts(counts: Counts) -> None:
    for (phase, action), number in counts.actions.items():
        if not 0 <= number < math.inf:
            raise ComponentError(
                f"count of {action!r} in {phase!r} must be finite and >= 0, "
                f"got {number}"
            )
    if not is_whole(counts.tokens) or counts.tokens < 0:
        raise ComponentError(
            f"tokens must be a whole number from 0, got {counts.tokens!r}"
        )


def _check(
    done: Mapping[tuple[str, str], float],
    tokens: int,
    prices: Prices,
    library: Library,
    n_draws: int,
) -> None:
    if n_draws < 1:
        raise ComponentError(f"n_draws must be at least 1, got {n_draws}")
    for action, products in prices.terms.items():
        for product in products:
            prices.base(action, product, library)
    for overhead in prices.overheads.values():
        if library[overhead.share].unit != "ratio":
            raise ComponentError(
                f"overhead {overhead.share!r} must be of unit ratio, "
                f"got {library[overhead.share].unit}"
            )
    for _, action in done:
        if action not in ACTIONS:
            raise ComponentError(
                f"unknown action {action!r}: one of {', '.join(sorted(ACTIONS))}"
            )
        if action not in prices.terms:
            raise ComponentError(
                f"action {action!r} was counted but has no price; priced are "
                f"{', '.join(sorted(prices.terms))}"
            )
    if done and tokens < 1:
        raise ComponentError(
            f"actions were counted for {tokens} tokens: set counts.tokens"
        )


def _checked(total: Total) -> Total:
    if total not in TOTALS:
        raise ComponentError(f"unknown total {total!r}: one of {', '.join(TOTALS)}")
    return total


def _members(total: Total) -> tuple[str, ...] | None:
    if total == "system":
        return None
    return CORE_ACTIONS if total == "core" else CORE_ACTIONS + CONVERTER_ACTIONS


def _range(draws: FloatArray) -> Range:
    p10, p50, p90 = np.quantile(draws, [0.1, 0.5, 0.9])
    return Range(float(p10), float(p50), float(p90))
