"""Converters between numbers and hardware levels, with what they lose."""

from typing import NamedTuple

import numpy as np

from oscsim.typing import FloatArray


class Quantized(NamedTuple):
    """Values after a converter and how many it clipped or lost.

    Attributes
    ----------
    values : FloatArray
        Same shape as the input.
    clipped : int
        Values beyond the range, set to its end.
    zeroed : int
        Values that were not 0 and became 0.
    """

    values: FloatArray
    clipped: int
    zeroed: int


def quantize_unsigned(
    x: FloatArray, full_scale: float, bits: int | None, *, limit: bool = True
) -> Quantized:
    """Convert values >= 0 to ``2^bits`` codes over [0, full_scale].

    The step is LSB = full_scale / (2^bits - 1), codes are rounded to nearest;
    inside the range the error is at most LSB / 2. ``bits=None`` leaves values
    continuous, and only clips if ``limit``.

    Parameters
    ----------
    x : FloatArray
        Values, unit of ``full_scale``.
    full_scale : float
        Largest value that the converter holds.
    bits : int or None
        Resolution.
    limit : bool
        Whether values above full scale clip; always so with ``bits``.
    """
    if bits is None and not limit:
        return Quantized(x, 0, 0)
    clipped = int(np.count_nonzero(x > full_scale))
    inside = np.clip(x, 0, full_scale)
    if bits is None:
        return Quantized(inside, clipped, 0)
    lsb = full_scale / (2**bits - 1)
    values = np.rint(inside / lsb) * lsb
    zeroed = int(np.count_nonzero((values == 0) & (x > 0)))
    return Quantized(values, clipped, zeroed)


def quantize_signed(x: FloatArray, full_scale: float, bits: int) -> Quantized:
    """Convert values to ``2^bits`` levels over [-full_scale, full_scale].

    Mid-rise levels at -full_scale + (k + 1/2) LSB, LSB = 2 full_scale / 2^bits,
    so that one bit keeps the sign; inside the range the error is at most
    LSB / 2 and its variance for a spread-out input LSB^2 / 12.
    """
    clipped = int(np.count_nonzero(np.abs(x) > full_scale))
    lsb = 2 * full_scale / 2**bits
    code = np.clip(np.floor((x + full_scale) / lsb), 0, 2**bits - 1)
    return Quantized(-full_scale + (code + 0.5) * lsb, clipped, 0)


def quantize_phase(theta: FloatArray, bits: int) -> FloatArray:
    """Round phases (rad) to the nearest of ``2^bits`` equal steps of the circle.

    A phase has no ends, so nothing clips; the error is at most pi / 2^bits.
    """
    step = 2 * np.pi / 2**bits
    rounded: FloatArray = np.rint(theta / step) * step
    return rounded


def quantize_direction(x: FloatArray, bits: int, *, by_phase: bool) -> Quantized:
    """Quantise unit vectors by their phase, or component by component.

    Parameters
    ----------
    x : FloatArray, shape (..., d)
        Vectors.
    bits : int
        Resolution of the phase, or of each component over [-1, 1].
    by_phase : bool
        Whether a phase stands for the vector (d = 2); only its direction is
        kept then.
    """
    if by_phase:
        theta = quantize_phase(np.arctan2(x[..., 1], x[..., 0]), bits)
        return Quantized(np.stack([np.cos(theta), np.sin(theta)], axis=-1), 0, 0)
    return quantize_signed(x, 1.0, bits)
