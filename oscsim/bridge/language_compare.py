"""A language model on chips beside the digital model, on the same windows."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from oscsim.bridge.language import LanguageRun
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray


@dataclass(frozen=True, eq=False)
class LanguageComparison:
    """Bits per byte on chips beside those of the digital model.

    Attributes
    ----------
    n_windows, n_items : int
        Windows, and bytes predicted in all of them.
    digital, digital_error : float
        Bits per byte of the digital model and its standard error over windows.
    per_chip : FloatArray, shape (chips,)
        Bits per byte of each chip, mean over its repeats.
    substrate : float
        Mean of ``per_chip``.
    ci95 : tuple of float, or None
        95 % Student interval of that mean over chips; None with one chip.
    difference, difference_error : float
        Substrate minus digital, and its standard error over windows (paired).
    agreement : float
        Fraction of bytes whose most probable one is that of the digital model.
    max_abs_error : float
        Largest |substrate - digital| logit.
    tally : SettleTally
        Oscillators and couplings of all chips together.
    metric : str
        ``"bits_per_byte"``, what ``digital`` and ``substrate`` are.
    """

    n_windows: int
    n_items: int
    digital: float
    digital_error: float
    per_chip: FloatArray
    substrate: float
    ci95: tuple[float, float] | None
    difference: float
    difference_error: float
    agreement: float
    max_abs_error: float
    tally: SettleTally
    metric: str = "bits_per_byte"

    @property
    def chips(self) -> int:
        """Number of chips that were run."""
        return len(self.per_chip)

    @property
    def digital_perplexity(self) -> float:
        """Perplexity per byte of the digital model, ``2^bits``."""
        return perplexity_of(self.digital)

    @property
    def perplexity(self) -> float:
        """Perplexity per byte on the substrate, 2 to the mean of the bits."""
        return perplexity_of(self.substrate)


def perplexity_of(bits: float) -> float:
    """Return ``2^bits``, infinite where float64 ends."""
    return math.exp2(bits) if bits < 1024 else math.inf


def compare_text(run: LanguageRun) -> LanguageComparison:
    """Compare a language run with the digital model on the same windows."""
    per_window = run.bits.mean(axis=-1)
    digital = run.digital.mean(axis=-1)
    per_chip = per_window.mean(axis=(1, 2))
    lost = per_window.mean(axis=(0, 1)) - digital
    return LanguageComparison(
        n_windows=len(run.data),
        n_items=run.digital.size,
        digital=float(digital.mean()),
        digital_error=float(standard_error(digital)),
        per_chip=per_chip,
        substrate=float(per_chip.mean()),
        ci95=student_interval(per_chip),
        difference=float(lost.mean()),
        difference_error=float(standard_error(lost)),
        agreement=float((run.top == run.digital_top).mean()),
        max_abs_error=float(run.max_error.max()),
        tally=sum(run.tallies, SettleTally()),
    )


def student_interval(values: FloatArray) -> tuple[float, float] | None:
    """Return the 95 % Student interval of a mean, None of fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    half = float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / math.sqrt(n))
    return float(values.mean()) - half, float(values.mean()) + half


def standard_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the last axis, NaN of one value."""
    n = values.shape[-1]
    if n < 2:
        return np.full(values.shape[:-1], math.nan)
    error: FloatArray = values.std(axis=-1, ddof=1) / math.sqrt(n)
    return error
