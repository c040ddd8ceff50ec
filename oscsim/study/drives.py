"""What drives the oscillators of a language model in its digital pass."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Engine
from oscsim.bridge.language import LANGUAGE_BLOCK
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.models.fixed_query import Pass, settle_digital
from oscsim.substrate.drive import Drive
from oscsim.typing import FloatArray

Measure: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""Of couplings (windows, heads, queries, anchors) and anchors (heads, anchors,
d_osc), one number an oscillator: (windows, heads, queries)."""


def over_oscillators(
    checkpoint: Checkpoint,
    data: ByteText,
    measure: Measure,
    *,
    n_threads: int | None = None,
) -> list[FloatArray]:
    """Return a number of every oscillator of each layer in the digital pass.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query oscillator model of bytes.
    data : ByteText
        The windows.
    measure : callable
        Gives the number from couplings and anchors (model units).
    n_threads : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    list of FloatArray, one a layer, shape (windows, heads, context)

    Raises
    ------
    SpecError
        If the model is of another family.
    """
    config = checkpoint.fixed_query
    shape = (len(data), config.n_heads, data.context)
    layers: list[FloatArray] = [np.empty(shape) for _ in range(config.n_layers)]

    def watch(drive: Drive, counts: Counts) -> FloatArray:
        real = drive.items >= 0
        found = measure(drive.coupling[real], drive.anchors)
        layers[drive.layer][drive.items[real]] = found
        return settle_digital(drive, counts)

    engine = Engine(checkpoint, data.ids, None, n_threads, block=LANGUAGE_BLOCK)
    with engine.running():
        engine.run(lambda: Pass(watch))
    return layers


def medians_by_position(
    checkpoint: Checkpoint,
    data: ByteText,
    measure: Measure,
    edges: Sequence[int],
    *,
    n_threads: int | None = None,
) -> FloatArray:
    """Return medians of `over_oscillators` between positions, layer by layer.

    Parameters
    ----------
    checkpoint, data, measure, n_threads
        As in `over_oscillators`.
    edges : sequence of int
        Rising positions from 0; a bin holds those from one edge to the next.

    Returns
    -------
    FloatArray, shape (n_layers, n_bins)
    """
    layers = over_oscillators(checkpoint, data, measure, n_threads=n_threads)
    return np.array(
        [[np.median(x[..., a:b]) for a, b in pairwise(edges)] for x in layers]
    )


def drive_length(coupling: FloatArray, anchors: FloatArray) -> FloatArray:
    """Return |h|, h_i = sum_j w_ij r_j (model units)."""
    length: FloatArray = np.linalg.norm(np.matmul(coupling, anchors), axis=-1)
    return length


def mismatch_angle(coupling: FloatArray, anchors: FloatArray) -> FloatArray:
    r"""Return the angle by which couplings with relative errors turn h.

    To first order in independent errors of relative deviation 1, root mean
    square over their law: sqrt(sum_j w_ij^2 |P r_j|^2) / |h_i| with P the
    projection on the complement of h_i (rad). n equal couplings to anchors
    that do not cancel give 1 / sqrt(n).
    """
    field = np.matmul(coupling, anchors)
    along: FloatArray = np.matmul(field, anchors.swapaxes(-1, -2))
    square = np.square(field).sum(axis=-1)
    across = np.square(anchors).sum(axis=-1)[:, None, :] - along**2 / square[..., None]
    turned = (coupling**2 * np.maximum(across, 0.0)).sum(axis=-1)
    angle: FloatArray = np.sqrt(turned / square)
    return angle


def effective_anchors(coupling: FloatArray, anchors: FloatArray) -> FloatArray:
    """Return how many anchors share a drive, (sum a)^2 / sum a^2, a_j = w_ij |r_j|.

    n for n equal ones, 1 if one of them does everything.
    """
    share = coupling * np.linalg.norm(anchors, axis=-1)[:, None, :]
    number: FloatArray = share.sum(axis=-1) ** 2 / np.square(share).sum(axis=-1)
    return number


def alignment(coupling: FloatArray, anchors: FloatArray) -> FloatArray:
    """Return |h_i| / sum_j w_ij |r_j|: 1 for parallel anchors, 0 if they cancel."""
    share = coupling * np.linalg.norm(anchors, axis=-1)[:, None, :]
    left: FloatArray = drive_length(coupling, anchors) / share.sum(axis=-1)
    return left
