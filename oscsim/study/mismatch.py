"""A chip's static coupling errors beside redrawn ones, against anchors averaged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Progress, checked_draws
from oscsim.bridge.infer import infer
from oscsim.bridge.language import LanguageRun, require_bytes
from oscsim.bridge.language_compare import standard_error
from oscsim.bridge.setting import Setting
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.study.drives import mismatch_angle, over_oscillators
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
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
    seed : int
        Seed of all draws.
    """

    checkpoint: str
    strengths: FloatArray
    last: tuple[int, ...]
    digital: FloatArray
    lost: FloatArray
    turn: FloatArray
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
            },
            coords={
                "kind": list(KINDS),
                "strength": self.strengths,
                "last": list(self.last),
            },
            attrs={"checkpoint": self.checkpoint, "seed": self.seed},
        )


def mismatch_by_context(
    checkpoint: Checkpoint,
    data: ByteText,
    *,
    strengths: Sequence[float] = (0.1, 0.2, 0.5),
    last: Sequence[int] = (8, 16, 32, 64),
    chips: int = 8,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> MismatchByContext:
    """Measure what errors of the couplings cost, by anchors averaged.

    Every coupling w_ij becomes w_ij exp(N(0, s^2)), once a chip (a device with
    ``coupling_mismatch`` alone) or anew for every window (the published
    perturbation). The oscillator at position i, from 1, is driven by i anchors.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query oscillator model of bytes.
    data : ByteText
        Windows.
    strengths : sequence of float
        s, >= 0 (dimensionless).
    last : sequence of int
        Last position of each bin, rising; the last at most the context.
    chips : int
        Chips, and as many redraws.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (runs done, runs).

    Returns
    -------
    MismatchByContext

    Raises
    ------
    SpecError
        If no strength is given or one is wrong, the bins do not rise or do not
        fit the context, the model has no oscillators, or a count or the seed
        is out of range.
    DeviceError
        If a strength is above what a device can have.
    DataError
        If the model cannot read the windows.

    Notes
    -----
    Errors add the variance over chips to that over windows; chance that is in
    both is counted twice, which makes them too large rather than too small.
    Later positions also read a context that errors have changed in the first
    layer, and predict other bytes: the angle ``turn`` is the averaging alone.
    """
    _require(checkpoint, data, strengths, last)
    ideal = Device.load("ideal")
    Setting(ideal, "device", seed)
    checked_draws("device", chips, 1)
    perturbations = [Perturbation("coupling", float(s)) for s in strengths]
    devices = [ideal.changed(coupling_mismatch=float(s)) for s in strengths]
    asked: list[tuple[Device, Perturbation | None]] = [(d, None) for d in devices]
    asked += [(ideal, perturbation) for perturbation in perturbations]
    edges = (0, *last)
    lost = []
    for number, (device, perturbation) in enumerate(asked):
        if progress is not None:
            progress(number, len(asked))
        run = infer(
            checkpoint,
            data,
            device=device,
            chips=chips,
            repeats=1,
            seed=seed,
            perturbation=perturbation,
            n_threads=n_threads,
        )
        if run.interrupted:
            raise KeyboardInterrupt
        bits = cast("LanguageRun", run)
        lost.append(_binned(bits.bits[:, 0] - bits.digital, edges))
        digital = _binned(bits.digital, edges)
    if progress is not None:
        progress(len(asked), len(asked))
    layers = over_oscillators(checkpoint, data, mismatch_angle, n_threads=n_threads)
    return MismatchByContext(
        checkpoint=checkpoint.name,
        strengths=np.asarray(strengths, np.float64),
        last=tuple(int(position) for position in last),
        digital=digital,
        lost=np.array(lost).reshape(2, len(strengths), *lost[0].shape),
        turn=np.array([_medians(layer, edges) for layer in layers]),
        seed=seed,
    )


def _binned(values: FloatArray, edges: Sequence[int]) -> FloatArray:
    """Return means over bins of the last axis."""
    parts = [values[..., a:b].mean(axis=-1) for a, b in pairwise(edges)]
    return np.stack(parts, axis=-1)


def _medians(values: FloatArray, edges: Sequence[int]) -> list[float]:
    return [float(np.median(values[..., a:b])) for a, b in pairwise(edges)]


def _crossed_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over chips (axis 2) and windows (3)."""
    by_chip = standard_error(values.mean(axis=3).swapaxes(2, 3))
    by_window = standard_error(values.mean(axis=2).swapaxes(2, 3))
    return np.hypot(by_chip, by_window)


def _require(
    checkpoint: Checkpoint,
    data: ByteText,
    strengths: Sequence[float],
    last: Sequence[int],
) -> None:
    if not len(strengths):
        raise SpecError("nothing to measure: got 0 strengths, give at least one")
    if checkpoint.d_osc is None:
        raise SpecError(
            f"{checkpoint.name} has no driven oscillators: give a fixed-query "
            "oscillator model"
        )
    require_bytes(checkpoint, data)
    rises = all(a < b for a, b in pairwise((0, *last)))
    if not last or not rises or last[-1] > data.context:
        raise SpecError(
            f"bins must end at rising positions in 1..{data.context}, got {list(last)}"
        )
