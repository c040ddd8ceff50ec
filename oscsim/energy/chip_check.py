"""A published machine beside a prediction, and what the comparison shows."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oscsim.energy.ledger import Range

Kind: TypeAlias = Literal["figure", "stand-in", "bound", "memory", "prediction"]

TOLERATED = 3.0
KINDS: dict[Kind, str] = {
    "figure": "with a read figure and the machine's own inputs",
    "stand-in": "with a read figure but parts or inputs of another machine",
    "bound": "with an upper bound only",
    "memory": "with figures from memory",
    "prediction": "with nothing",
}
CAVEAT = (
    "validates power, time and energy, not precision: an Ising machine needs the "
    "sign of a phase, attention its value to 5 or 6 bits; the recipes were written "
    "with the published figures known"
)


@dataclass(frozen=True)
class ChipCheck:
    """A figure of a published machine and the model's prediction of it.

    Attributes
    ----------
    chip, quantity, what : str
        Which machine, which of its figures, and what the machine is.
    unit : str
        ``"J"``, ``"W"``, ``"s"``, ``"Hz"`` or ``"count"``.
    published : float or None
        None where none was read.
    is_bound : bool
        Whether the source gives an upper bound, "less than".
    predicted : float or None
        At nominal values; None where the library cannot predict it.
    spread : Range or None
        Percentiles of the prediction over the priors of the components; the
        machine's own inputs are taken as they are.
    cause : str
        Why the ratio is beyond 3; empty elsewhere.
    note : str
        What stands in for a figure that was not read.
    components : tuple of str
        Ids that the prediction rests on.
    sources : tuple of str
        Of the published figure and of the machine's inputs.
    is_from_memory : bool
        Whether the published figure, or an input, was recalled or assumed.
    kind : str
        What the comparison is: ``"figure"`` (a read figure, from the machine's own
        inputs), ``"stand-in"`` (a read figure, but an input or a part of another
        machine), ``"bound"``, ``"memory"`` or ``"prediction"`` (one side is
        missing).
    shows : str
        The same in words.
    """

    chip: str
    quantity: str
    what: str
    unit: str
    published: float | None
    is_bound: bool
    predicted: float | None
    spread: Range | None
    cause: str
    note: str
    components: tuple[str, ...]
    sources: tuple[str, ...]
    is_from_memory: bool
    kind: Kind
    shows: str

    @property
    def ratio(self) -> float | None:
        """Prediction over published figure, None if one of them is missing."""
        if self.published is None or self.predicted is None:
            return None
        return self.predicted / self.published

    @property
    def is_beyond(self) -> bool:
        """Whether the two differ by more than a factor of 3."""
        ratio = self.ratio
        return ratio is not None and abs(math.log(ratio)) > math.log(TOLERATED)

    @property
    def is_unexplained(self) -> bool:
        """Whether they differ by more than a factor of 3 without a cause."""
        return self.is_beyond and not self.cause


def tally(checks: Sequence[ChipCheck]) -> str:
    """Return in a sentence what the ratios within 3 compare."""
    within = [c for c in checks if c.ratio is not None and not c.is_beyond]
    found = Counter(check.kind for check in within)
    said = [f"{found[kind]} {words}" for kind, words in KINDS.items() if found[kind]]
    rated = sum(check.ratio is not None for check in checks)
    return (
        f"{len(within)} of {rated} ratios are within {TOLERATED:g}: {', '.join(said)}"
    )
