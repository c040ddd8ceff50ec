"""A tally of what was done, filled by the code that does it."""

from collections import Counter
from dataclasses import dataclass, field
from numbers import Integral

from oscsim.errors import SpecError

PHASES = (
    "projection",
    "weights",
    "load",
    "settle",
    "readout",
    "similarity",
    "normalise",
    "value",
    "ffn",
    "memory",
    "control",
)


@dataclass
class Counts:
    """How often each action happened, by phase of the computation.

    ``actions[phase, action]`` is a number of events, or seconds for actions
    whose name ends in ``_s``. A sum of two tallies is the tally of both.
    """

    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: int = 0

    def add(self, phase: str, action: str, number: float) -> None:
        """Record ``number`` events of ``action`` during ``phase``.

        Raises
        ------
        SpecError
            If the phase is unknown or the number is negative or not finite.
        """
        if phase not in PHASES:
            raise SpecError(f"unknown phase {phase!r}: one of {', '.join(PHASES)}")
        if not 0 <= number < float("inf"):
            raise SpecError(f"count of {action} must be finite and >= 0, got {number}")
        self.actions[phase, action] += number  # type: ignore[assignment]

    def total(self, action: str) -> float:
        """Return the number of events of ``action`` over all phases."""
        return sum(n for (_, name), n in self.actions.items() if name == action)

    def __add__(self, other: "Counts") -> "Counts":
        both = Counts(Counter(self.actions), self.tokens)
        both += other
        return both

    def __iadd__(self, other: "Counts") -> "Counts":
        self.actions.update(other.actions)
        self.tokens += other.tokens
        return self


def is_whole(found: object) -> bool:
    """Return whether something is a whole number, of Python or of numpy."""
    return isinstance(found, Integral) and not isinstance(found, bool)
