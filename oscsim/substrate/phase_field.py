"""The field that a chip's couplers really make of latched phases."""

import numpy as np

from oscsim._jit import kernel
from oscsim.substrate.phase_chip import PhaseChip
from oscsim.substrate.quantize import quantize_phase, quantize_unsigned
from oscsim.substrate.tally import SettleTally
from oscsim.typing import ComplexArray, FloatArray


def full_scales(attention: FloatArray, chip: PhaseChip, k: int) -> FloatArray:
    """Return the weight that each oscillator's row loads as full scale.

    Parameters
    ----------
    attention : FloatArray, shape (batch, heads, time, time)
        Causal weights A.
    chip : PhaseChip
        Says which.
    k : int
        Oscillators per token.

    Returns
    -------
    FloatArray, shape (batch, time, k)
        1, or the largest weight of the row.
    """
    batch, heads, time, _ = attention.shape
    if chip.model.ranging == "fixed":
        return np.ones((batch, time, k))
    largest = np.swapaxes(attention.max(axis=-1), 1, 2)
    return np.repeat(np.where(largest > 0, largest, 1.0), k // heads, axis=-1)


def realised_field(
    attention: FloatArray,
    theta: FloatArray,
    chip: PhaseChip,
    layer: int,
    tally: SettleTally,
) -> ComplexArray:
    """Return ``G_tj = sum_u c_tuj p_uj``, in units of a weight at full scale.

    The weights, over the full scale of their row, pass a converter
    (``weight_bits``) and differ by coupler; the copies p are the latched phases
    through theirs (``anchor_bits``), each a little turned and scaled. A
    co-rotating self term turns with its own oscillator and so never pulls it:
    it is left out.

    Parameters
    ----------
    attention : FloatArray, shape (batch, heads, time, time)
        Causal weights A.
    theta : FloatArray, shape (batch, time, k)
        Latched phases (rad).
    chip : PhaseChip
        The static draw.
    layer : int
        Number of the layer.
    tally : SettleTally
        Given the weights that were clipped or lost.

    Returns
    -------
    complex array, shape (batch, time, k)
    """
    device, drawn = chip.device, chip.layers[layer]
    heads, k = attention.shape[1], theta.shape[-1]
    scale = full_scales(attention, chip, k)[..., :: k // heads]
    loaded = quantize_unsigned(
        attention / np.swapaxes(scale, 1, 2)[..., None],
        1.0,
        device.weight_bits,
        limit=device.weight_bits is not None,
    )
    tally.record_couplings(layer, attention, loaded)
    weights = loaded.values
    if device.anchor_bits is not None:
        theta = quantize_phase(theta, device.anchor_bits)
    copies = np.exp(1j * theta)
    if drawn.copies is not None:
        copies = copies * drawn.copies[: theta.shape[1]]
    has_self = chip.model.self_term == "frozen"
    if drawn.gain is None or drawn.offset is None:
        return _shared(weights, copies, has_self=has_self)
    parts = np.zeros((2, *theta.shape))
    coupled_field(
        np.ascontiguousarray(weights),
        np.ascontiguousarray(copies.real),
        np.ascontiguousarray(copies.imag),
        drawn.gain,
        drawn.offset,
        device.query_slots == 1,
        has_self,
        parts[0],
        parts[1],
    )
    field: ComplexArray = parts[0] + 1j * parts[1]
    return field


def _shared(
    weights: FloatArray, copies: ComplexArray, *, has_self: bool
) -> ComplexArray:
    """Return the field if all couplers of a weight are alike."""
    if not has_self:
        time = weights.shape[-1]
        weights = np.where(np.eye(time, dtype=bool), 0.0, weights)
    batch, heads, time, _ = weights.shape
    k = copies.shape[-1]
    by_head = np.swapaxes(copies.reshape(batch, time, heads, k // heads), 1, 2)
    both = np.concatenate([by_head.real, by_head.imag], axis=-1)
    mixed = np.swapaxes(np.matmul(weights, both), 1, 2)
    real, imaginary = np.split(mixed, 2, axis=-1)
    field: ComplexArray = (real + 1j * imaginary).reshape(batch, time, k)
    return field


@kernel
def coupled_field(
    weights: FloatArray,
    cosine: FloatArray,
    sine: FloatArray,
    gain: FloatArray,
    offset: FloatArray,
    in_turn: bool,
    has_self: bool,
    real: FloatArray,
    imaginary: FloatArray,
) -> None:
    """Add ``sum_u (gain w + offset) p`` over u < t, and u = t if ``has_self``.

    Tokens are the outer loop, so that a token's couplers serve all windows.
    """
    batch, heads, time, _ = weights.shape
    width = cosine.shape[2] // heads
    for t in range(time):
        first = 0 if in_turn else t * (t + 1) // 2
        last = t + 1 if has_self else t
        for b in range(batch):
            for h in range(heads):
                for u in range(last):
                    w = weights[b, h, t, u]
                    for j in range(h * width, (h + 1) * width):
                        c = gain[first + u, j] * w + offset[first + u, j]
                        real[b, t, j] += c * cosine[b, u, j]
                        imaginary[b, t, j] += c * sine[b, u, j]
