"""Loss by coupling errors, static and redrawn, by position in the window."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from oscsim.bridge.language_compare import standard_error
from oscsim.typing import FloatArray

if TYPE_CHECKING:
    import xarray

Kind = Literal["static", "redrawn"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Row(NamedTuple):
    """One cell of the table.

    Attributes
    ----------
    checkpoint : str
        Name of the model.
    kind : str
        ``"static"``, one draw a chip, or ``"redrawn"`` for every window.
    strength : float
        Deviation s of the logarithm of a coupling (dimensionless).
    first, last : int
        Positions in the window, from 1: position i averages over i anchors.
    loss, error : float
        Bits per byte lost to the digital model, and its standard error.
    gained, gained_error : float
        Loss at the first positions of the table minus this loss.
    chip_deviation : float
        Standard deviation of the loss from chip (or redraw) to chip.
    turn : float
        Median angle (rad) by which h turns, to first order in the errors.
    """

    checkpoint: str
    kind: str
    strength: float
    first: int
    last: int
    loss: float
    error: float
    gained: float
    gained_error: float
    chip_deviation: float
    turn: float


@dataclass(frozen=True, eq=False)
class MismatchByContext:
    """Loss by coupling errors, by position in the window.

    Attributes
    ----------
    checkpoint : str
        Name of the model.
    strengths : FloatArray, shape (n_strengths,)
        Deviation s of the logarithm of a coupling.
    last : tuple of int
        Last position, from 1, of each bin; the next begins after it.
    digital : FloatArray, shape (windows, n_bins)
        Bits per byte of the digital model.
    lost : FloatArray, shape (2, n_strengths, chips, windows, n_bins)
        Bits per byte above digital, static and redrawn.
    turn : FloatArray, shape (n_layers, n_bins)
        Median angle (rad) of `mismatch_angle`, errors of relative deviation 1.
    effective, aligned : FloatArray, shape (n_layers, n_bins)
        Medians of `effective_anchors`, and of `alignment` (dimensionless):
        sharing by more anchors makes the angle smaller, cancelling larger.
    seed : int
        Seed of all draws.
    """

    checkpoint: str
    strengths: FloatArray
    last: tuple[int, ...]
    digital: FloatArray
    lost: FloatArray
    turn: FloatArray
    effective: FloatArray
    aligned: FloatArray
    seed: int

    @property
    def first(self) -> tuple[int, ...]:
        """First position, from 1, of each bin."""
        return (1, *(position + 1 for position in self.last[:-1]))

    @property
    def mean(self) -> FloatArray:
        """Loss in bits per byte, shape (2, n_strengths, n_bins)."""
        mean: FloatArray = self.lost.mean(axis=(2, 3))
        return mean

    @property
    def error(self) -> FloatArray:
        """Standard error of `mean`, over chips and windows."""
        return _crossed_error(self.lost)

    def gained(self) -> tuple[FloatArray, FloatArray]:
        """Return loss of the first bin minus that of each, and its error.

        Paired: both are of the same chips and windows. Shape (2, n_strengths,
        n_bins) each.
        """
        gained = self.lost[..., :1] - self.lost
        return gained.mean(axis=(2, 3)), _crossed_error(gained)

    def static_minus_redrawn(self) -> tuple[FloatArray, FloatArray]:
        """Return how much more the static errors cost, and its standard error.

        Paired over windows; chips and redraws have nothing in common. Shape
        (n_strengths, n_bins) each.
        """
        static, redrawn = self.lost
        by_window = static.mean(axis=1) - redrawn.mean(axis=1)
        parts = [standard_error(by_window.swapaxes(-1, -2))]
        for lost in (static, redrawn):
            parts.append(standard_error(lost.mean(axis=2).swapaxes(-1, -2)))
        error: FloatArray = np.sqrt(np.square(parts).sum(axis=0))
        return by_window.mean(axis=1), error

    def rows(self) -> list[Row]:
        """Return the table, static first."""
        mean, error = self.mean, self.error
        gained, gained_error = self.gained()
        chips = self.lost.mean(axis=3)
        spread = chips.std(axis=2, ddof=1) if chips.shape[2] > 1 else mean * math.nan
        turn = np.median(self.turn, axis=0)
        return [
            Row(
                self.checkpoint,
                kind,
                float(s),
                self.first[b],
                self.last[b],
                float(mean[k, n, b]),
                float(error[k, n, b]),
                float(gained[k, n, b]),
                float(gained_error[k, n, b]),
                float(spread[k, n, b]),
                float(turn[b]) * math.sqrt(math.expm1(s * s)),
            )
            for k, kind in enumerate(KINDS)
            for n, s in enumerate(self.strengths)
            for b in range(len(self.last))
        ]

    def to_xarray(self) -> "xarray.Dataset":
        """Return the losses with axes kind, strength, chip, window, last."""
        import xarray  # noqa: PLC0415  (slow to import, needed here only)

        return xarray.Dataset(
            {
                "lost": (("kind", "strength", "chip", "window", "last"), self.lost),
                "digital": (("window", "last"), self.digital),
                "turn": (("layer", "last"), self.turn, {"units": "rad"}),
                "effective": (("layer", "last"), self.effective),
                "aligned": (("layer", "last"), self.aligned),
            },
            coords={
                "kind": list(KINDS),
                "strength": self.strengths,
                "last": list(self.last),
            },
            attrs={"checkpoint": self.checkpoint, "seed": self.seed},
        )


def _crossed_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over chips (axis 2) and windows (3)."""
    by_chip = standard_error(values.mean(axis=3).swapaxes(2, 3))
    by_window = standard_error(values.mean(axis=2).swapaxes(2, 3))
    return np.hypot(by_chip, by_window)
