"""Bits per byte against thermal noise, for models of different dimension d_osc."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Progress, checked_draws
from oscsim.bridge.infer import infer
from oscsim.bridge.language import LanguageRun, require_bytes
from oscsim.bridge.language_compare import standard_error
from oscsim.bridge.setting import Setting
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.study.drives import drive_length, over_oscillators
from oscsim.substrate.device import Device
from oscsim.typing import FloatArray

if TYPE_CHECKING:
    import xarray

DECIDED = 3.0
"""Standard errors of the paired difference from which on a model counts as better."""


class Row(NamedTuple):
    """One model at one noise.

    Attributes
    ----------
    checkpoint : str
        Name of the model.
    d_osc : int
        Components of an oscillator.
    relative : float
        Diffusion over the median |h| of the model (dimensionless).
    diffusion : float
        D (rad^2 per model time unit).
    bits_per_byte, error : float
        Mean, and its standard error over windows.
    difference, difference_error : float
        To the best model at this noise, paired over windows; 0 for the best.
    place : str
        ``"best"``, ``"undecided"`` (within `DECIDED` standard errors of the
        best), or ``"worse"``.
    """

    checkpoint: str
    d_osc: int
    relative: float
    diffusion: float
    bits_per_byte: float
    error: float
    difference: float
    difference_error: float
    place: str


@dataclass(frozen=True, eq=False)
class NoiseByDimension:
    """Bits per byte of several models against the noise, on the same windows.

    Attributes
    ----------
    checkpoints : tuple of str
        Names of the models.
    d_osc : tuple of int
        Components of an oscillator of each.
    relative : FloatArray, shape (n_noises,)
        Diffusion D over the median |h| of each model (dimensionless).
    medians : FloatArray, shape (n_models,)
        Median |h| over all oscillators of all layers and heads (model units).
    layer_medians : FloatArray, shape (n_models, n_layers)
        The same of each layer.
    digital : FloatArray, shape (n_models, windows)
        Bits per byte of the digital models.
    bits : FloatArray, shape (n_models, n_noises, repeats, windows)
        Bits per byte of the noisy, settled oscillators.
    seed : int
        Seed of all draws.
    """

    checkpoints: tuple[str, ...]
    d_osc: tuple[int, ...]
    relative: FloatArray
    medians: FloatArray
    layer_medians: FloatArray
    digital: FloatArray
    bits: FloatArray
    seed: int

    @property
    def mean(self) -> FloatArray:
        """Bits per byte over repeats and windows, shape (n_models, n_noises)."""
        mean: FloatArray = self.bits.mean(axis=(2, 3))
        return mean

    def differences(self, to: int) -> tuple[FloatArray, FloatArray]:
        """Return every model minus one of them, and the paired standard errors.

        Repeats are averaged first, so that the error over windows holds the
        chance of the noise and of the text.

        Parameters
        ----------
        to : int
            Number of the model to subtract.

        Returns
        -------
        tuple of FloatArray, shape (n_models, n_noises) each
            Bits per byte.

        Raises
        ------
        SpecError
            If there is no such model.
        """
        if not 0 <= to < len(self.checkpoints):
            raise SpecError(f"model must be in 0..{len(self.checkpoints) - 1}: {to}")
        per_window = self.bits.mean(axis=2)
        lost = per_window - per_window[to]
        return lost.mean(axis=-1), standard_error(lost)

    def rows(self) -> list[Row]:
        """Return the table, noise by noise."""
        mean, error = self.mean, standard_error(self.bits.mean(axis=2))
        table = []
        for k, relative in enumerate(self.relative):
            best = int(np.argmin(mean[:, k]))
            difference, spread = (values[:, k] for values in self.differences(best))
            for m, name in enumerate(self.checkpoints):
                is_worse = difference[m] > DECIDED * spread[m]
                place = "worse" if is_worse else "undecided"
                table.append(
                    Row(
                        name,
                        self.d_osc[m],
                        float(relative),
                        float(relative * self.medians[m]),
                        float(mean[m, k]),
                        float(error[m, k]),
                        float(difference[m]),
                        float(spread[m]),
                        "best" if m == best else place,
                    )
                )
        return table

    def said(self) -> list[str]:
        """Return the best dimension at every noise in words, rivals included."""
        found = []
        for relative in self.relative:
            here = [row for row in self.rows() if row.relative == relative]
            names = [str(row.d_osc) for row in here if row.place == "best"]
            rivals = [str(row.d_osc) for row in here if row.place == "undecided"]
            text = f"D / median |h| = {relative:g}: d_osc {names[0]} is best"
            found.append(text + (f", undecided {', '.join(rivals)}" if rivals else ""))
        return found

    def to_xarray(self) -> "xarray.Dataset":
        """Return the table with axes checkpoint, noise, repeat, window, layer."""
        import xarray  # noqa: PLC0415  (slow to import, needed here only)

        return xarray.Dataset(
            {
                "bits": (("checkpoint", "noise", "repeat", "window"), self.bits),
                "digital": (("checkpoint", "window"), self.digital),
                "median_h": (("checkpoint",), self.medians),
                "layer_median_h": (("checkpoint", "layer"), self.layer_medians),
            },
            coords={
                "checkpoint": list(self.checkpoints),
                "d_osc": ("checkpoint", list(self.d_osc)),
                "noise": ("noise", self.relative, {"units": "median |h|"}),
            },
            attrs={"seed": self.seed},
        )


def noise_by_dimension(
    checkpoints: Sequence[Checkpoint],
    data: ByteText,
    *,
    relative: Sequence[float] = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    repeats: int = 2,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> NoiseByDimension:
    """Measure language models of different d_osc under the same relative noise.

    Every oscillator settles (infinite time) and is read once from its exact
    law, von Mises-Fisher with concentration |h| / D about h / |h|; nothing
    else is wrong. One diffusion D serves all oscillators of a model, as one
    temperature does: ``D = relative * median |h|``, the median over all
    layers, heads and positions of the digital pass on the same windows.

    Parameters
    ----------
    checkpoints : sequence of Checkpoint
        Fixed-query oscillator models of bytes, all of as many layers.
    data : ByteText
        Windows that all of them read.
    relative : sequence of float
        Noises, finite and >= 0 (dimensionless).
    repeats : int
        Independent draws of every cell, from 1.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (cells done, cells).

    Returns
    -------
    NoiseByDimension

    Raises
    ------
    SpecError
        If there is no model or noise, a noise is negative or not finite, a
        model has no anchors and fixed queries or another number of layers
        than the first, or a count or the seed is out of range.
    DataError
        If a model cannot read the windows.

    Notes
    -----
    The windows follow each other in one text; their errors are taken as
    independent. One model a dimension says nothing of other trainings.

    References
    ----------
    .. [1] Mardia & Jupp (2000), Directional Statistics, chapter 9.
    """
    _require(checkpoints, data, relative)
    ideal = Device.load("ideal")
    Setting(ideal, "noisy", seed)
    checked_draws("noisy", 1, repeats)
    total, done = len(checkpoints) * len(relative), 0
    medians, layer_medians, digital, bits = [], [], [], []
    for checkpoint in checkpoints:
        cells: list[FloatArray] = []
        for noise in relative:
            if progress is not None:
                progress(done, total)
            if not cells:
                lengths = over_oscillators(
                    checkpoint, data, drive_length, n_threads=n_threads
                )
                medians.append(float(np.median(lengths)))
                layer_medians.append([float(np.median(layer)) for layer in lengths])
            run = infer(
                checkpoint,
                data,
                device=ideal.changed(diffusion=float(noise) * medians[-1]),
                rung="noisy",
                chips=1,
                repeats=repeats,
                seed=seed,
                n_threads=n_threads,
            )
            cells.append(cast("LanguageRun", run).bits[0].mean(axis=-1))
            done += 1
        digital.append(run.digital.mean(axis=-1))
        bits.append(cells)
    if progress is not None:
        progress(total, total)
    return NoiseByDimension(
        checkpoints=tuple(checkpoint.name for checkpoint in checkpoints),
        d_osc=tuple(int(checkpoint.d_osc or 0) for checkpoint in checkpoints),
        relative=np.asarray(relative, np.float64),
        medians=np.array(medians),
        layer_medians=np.array(layer_medians),
        digital=np.array(digital),
        bits=np.array(bits),
        seed=seed,
    )


def _require(
    checkpoints: Sequence[Checkpoint], data: ByteText, relative: Sequence[float]
) -> None:
    if not checkpoints or not len(relative):
        raise SpecError(
            f"nothing to measure: got {len(checkpoints)} models and {len(relative)} "
            "noises, give at least one of each"
        )
    for noise in relative:
        if not (math.isfinite(noise) and noise >= 0):
            raise SpecError(f"a relative noise must be finite and >= 0, got {noise}")
    n_layers = checkpoints[0].config.n_layers
    for checkpoint in checkpoints:
        if checkpoint.d_osc is None:
            raise SpecError(
                f"{checkpoint.name} has no driven oscillators: give fixed-query "
                "oscillator models"
            )
        require_bytes(checkpoint, data)
        if checkpoint.config.n_layers != n_layers:
            raise SpecError(
                f"{checkpoint.name} has {checkpoint.config.n_layers} layers and "
                f"{checkpoints[0].name} {n_layers}: give models of one depth"
            )
