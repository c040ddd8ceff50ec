"""A digital data path of few bits: integer products, rounded operands, a table."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.models.arithmetic import EXACT
from oscsim.typing import FloatArray

ACCUMULATOR_BITS = 32
CLIPS = np.linspace(0.3, 1.0, 36)
"""Shares of the largest magnitude that are tried as the end of a range."""
TABLE_ENTRIES = 256
TABLE_STEP = np.log(510.0) / 255
"""Distance of two entries: the last lies where e^-u is half a step of the output."""
EXP_TABLE = np.rint(255 * np.exp(-TABLE_STEP * np.arange(TABLE_ENTRIES) - 1e-12)) / 255
"""``e^-u`` at ``u = 0, TABLE_STEP, ...`` in steps of 1/255; the last entry is 0."""


class Scale(NamedTuple):
    """A range of whole numbers.

    Attributes
    ----------
    step : FloatArray
        Value of one step; of one number, or one for each output channel.
    low, high : int
        Ends, ``-(2^(b-1) - 1)`` and ``2^(b-1) - 1``, or 0 and ``2^b - 1``.
    """

    step: FloatArray
    low: int
    high: int

    def rounded(self, x: FloatArray) -> FloatArray:
        """Return x in steps: whole numbers in float64, clipped at the ends."""
        found: FloatArray = np.clip(np.rint(x / self.step), self.low, self.high)
        return found


def least_squares_scale(
    x: FloatArray, bits: int, *, per_channel: bool = False
) -> Scale:
    """Return the range that rounds an operand with the least mean square error.

    The ends are tried at 30 to 100 % of the largest magnitude. Values that are
    nowhere negative use ``0 .. 2^b - 1``, others the symmetric range.

    Parameters
    ----------
    x : FloatArray
        Values, of any shape; with ``per_channel`` of shape (channels, n).
    bits : int
        Bits of one number, 2 to 16.
    per_channel : bool
        One step for each row, symmetric; else one for all.

    Raises
    ------
    SpecError
        If the number of bits is not in 2..16.
    """
    if not 2 <= bits <= 16:
        raise SpecError(f"a data path of {bits} bits: give 2 to 16")
    rows = x if per_channel else x.reshape(1, -1)
    low, high = -(2 ** (bits - 1) - 1), 2 ** (bits - 1) - 1
    if not per_channel and rows.min() >= 0:
        low, high = 0, 2**bits - 1
    largest = np.max(np.abs(rows), axis=-1, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)
    best, least = largest / high, np.full(largest.shape, np.inf)
    for clip in CLIPS:
        step = clip * largest / high
        error = rows - step * np.clip(np.rint(rows / step), low, high)
        square = np.mean(error * error, axis=-1, keepdims=True)
        best, least = np.where(square < least, step, best), np.minimum(square, least)
    return Scale(best[:, 0] if per_channel else best[0, 0], low, high)


class Watched:
    """Exact arithmetic that finds the range of every operand.

    Run it once over items that are not evaluated.

    Parameters
    ----------
    bits : iterable of int
        Widths for which ranges are wanted.

    Attributes
    ----------
    scales : dict of int to dict of str to Scale
        Ranges for each width, by operand.
    """

    def __init__(self, bits: Iterable[int]) -> None:
        self.scales: dict[int, dict[str, Scale]] = {b: {} for b in bits}

    def linear(
        self, weights: Mapping[str, FloatArray], name: str, x: FloatArray
    ) -> FloatArray:
        """Return the exact result; keep the range of ``x``."""
        self._watch(name, x)
        return EXACT.linear(weights, name, x)

    def product(self, name: str, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the exact result; keep the ranges of both operands."""
        self._watch(f"{name}, left", a)
        self._watch(f"{name}, right", b)
        return EXACT.product(name, a, b)

    def exponential(self, x: FloatArray) -> FloatArray:
        """Return ``e^x``."""
        return EXACT.exponential(x)

    def weighted_sum(
        self, name: str, affinity: FloatArray, value: FloatArray
    ) -> FloatArray:
        """Return the exact result; keep the range of the values."""
        self._watch(f"{name}, right", value)
        return EXACT.weighted_sum(name, affinity, value)

    def average(self, name: str, affinity: FloatArray, value: FloatArray) -> FloatArray:
        """Return the exact result; keep the range of the values."""
        self._watch(f"{name}, right", value)
        return EXACT.average(name, affinity, value)

    def _watch(self, operand: str, x: FloatArray) -> None:
        for bits, scales in self.scales.items():
            scales[operand] = least_squares_scale(x, bits)


class Quantised:
    """Products of b-bit integers with 32-bit sums, as a digital accelerator has.

    Weights have one symmetric range for each output channel, every other
    operand one range for the tensor: symmetric, or ``0 .. 2^b - 1`` if it was
    nowhere negative in the calibration. Affinities (exponentials of a softmax,
    couplings, read-outs) use ``0 .. 2^b - 1`` with a shift for each row, full
    scale being the power of two that its largest does not exceed: 1 for a
    softmax. An average divides by the sum of the rounded ones. Whole numbers
    are held in float64, where sums below 2^53 are exact, so a product has the
    bits that int32 gives.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Float64 tensors of the model.
    scales : mapping of str to Scale
        Ranges of the operands, of `Watched`.
    bits : int
        Bits of a number.
    table : bool
        Whether the exponential of a softmax is read from `EXP_TABLE`, entry
        ``min(255, round(u / TABLE_STEP))`` for ``e^-u``; else it is exact.

    Raises
    ------
    SpecError
        If the number of bits is not in 2..16.
    """

    def __init__(
        self,
        weights: Mapping[str, FloatArray],
        scales: Mapping[str, Scale],
        bits: int,
        *,
        table: bool = False,
    ) -> None:
        self.scales, self.bits, self.table = scales, bits, table
        self.tensors: dict[str, tuple[FloatArray, Scale]] = {}
        for name in scales.keys() & {key.removesuffix(".weight") for key in weights}:
            tensor = weights[f"{name}.weight"]
            scale = least_squares_scale(tensor, bits, per_channel=True)
            columns = scale._replace(step=scale.step[:, None])
            self.tensors[name] = columns.rounded(tensor), scale

    def linear(
        self, weights: Mapping[str, FloatArray], name: str, x: FloatArray
    ) -> FloatArray:
        """Return ``x W^T + b`` with a rounded x and W; the bias is exact."""
        own = self.scales[name]
        tensor, scale = self.tensors[name]
        rows = own.rounded(x.reshape(-1, x.shape[-1]))
        found = _summed(rows, tensor.T, own, scale) * (own.step * scale.step)
        if f"{name}.bias" in weights:
            found += weights[f"{name}.bias"]
        return found.reshape(*x.shape[:-1], len(tensor))

    def product(self, name: str, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``a b`` of the rounded operands."""
        left, right = self.scales[f"{name}, left"], self.scales[f"{name}, right"]
        total = _summed(left.rounded(a), right.rounded(b), left, right)
        found: FloatArray = total * (left.step * right.step)
        return found

    def exponential(self, x: FloatArray) -> FloatArray:
        """Return ``e^x`` for ``x <= 0``, from the table if there is one."""
        if not self.table:
            return EXACT.exponential(x)
        last = TABLE_ENTRIES - 1
        entry = np.rint(np.minimum(x / -TABLE_STEP, last)).astype(np.intp)
        found: FloatArray = EXP_TABLE[entry]
        return found

    def weighted_sum(
        self, name: str, affinity: FloatArray, value: FloatArray
    ) -> FloatArray:
        """Return the sum of rounded values, weighted by rounded affinities."""
        whole, left = self._affinities(affinity)
        right = self.scales[f"{name}, right"]
        total = _summed(whole, right.rounded(value), left, right)
        found: FloatArray = total * (left.step * right.step)
        return found

    def average(self, name: str, affinity: FloatArray, value: FloatArray) -> FloatArray:
        """Return the mean of rounded values, weighted by rounded affinities."""
        whole, left = self._affinities(affinity)
        right = self.scales[f"{name}, right"]
        total = _summed(whole, right.rounded(value), left, right) * right.step
        found: FloatArray = total / np.maximum(whole.sum(axis=-1, keepdims=True), 1)
        return found

    def _affinities(self, affinity: FloatArray) -> tuple[FloatArray, Scale]:
        """Return affinities in steps, and the range of each row."""
        largest = np.max(affinity, axis=-1, keepdims=True)
        _, exponent = np.frexp(np.nextafter(largest, 0))
        high = 2**self.bits - 1
        scale = Scale(np.ldexp(1.0 / high, exponent), 0, high)
        return scale.rounded(affinity), scale


def rounded_tables(
    weights: Mapping[str, FloatArray], bits: int
) -> dict[str, FloatArray]:
    """Return the tensors with embedding and position rows rounded to b bits.

    They are read as rows, not multiplied: one symmetric range for each row.
    """
    found = dict(weights)
    for name in ("embedding.weight", "embed.weight", "pos_enc.pe"):
        if name in weights:
            rows = weights[name].reshape(-1, weights[name].shape[-1])
            scale = least_squares_scale(rows, bits, per_channel=True)
            columns = scale._replace(step=scale.step[:, None])
            steps = columns.rounded(rows) * columns.step
            found[name] = steps.reshape(weights[name].shape)
    return found


def _summed(a: FloatArray, b: FloatArray, left: Scale, right: Scale) -> FloatArray:
    """Return ``a b`` of whole numbers, checked to fit the accumulator."""
    largest = a.shape[-1] * max(left.high, -left.low) * max(right.high, -right.low)
    if largest >= 2 ** (ACCUMULATOR_BITS - 1):
        raise SpecError(
            f"sums of {a.shape[-1]} products reach {largest:,}: more than an "
            f"accumulator of {ACCUMULATOR_BITS} bits holds; use fewer bits"
        )
    found: FloatArray = np.matmul(a, b)
    return found
