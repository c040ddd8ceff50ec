"""How long the parts of a tile are on while the queries of a head settle."""

from typing import NamedTuple

import numpy as np

from oscsim.substrate.device import Device
from oscsim.typing import FloatArray, IntArray

UNIT_TOLERANCE = 1e-6
"""Largest |norm - 1| of an anchor that needs no product: a float32 unit vector."""


class TimeOn(NamedTuple):
    """Seconds that the parts of a tile are on, summed over the parts.

    Attributes
    ----------
    oscillators, couplers, anchors : float
        Of one line each: times the components of a state that has no phase.
    """

    oscillators: float
    couplers: float
    anchors: float


def oscillators_for(device: Device, queries: int) -> int:
    """Return how many oscillators a tile has for some queries of a head."""
    if device.query_slots == 1:
        return 1
    return device.oscillators or queries


def time_on(
    device: Device, couplings: IntArray, *, is_decoding: bool = False
) -> TimeOn:
    """Return how long oscillators, couplers and anchors of one head are on.

    Queries settle together as far as there are oscillators, in their order, and
    in passes one after the other otherwise; tokens that are decoded settle one by
    one. In each pass its oscillators, their couplers and the anchors that any of
    its queries sees are on for ``settle_time + read_time``, and while the
    couplings of the pass are loaded if the device says so
    (``runs_while_loading``); all others are gated off.

    Parameters
    ----------
    device : Device
        With a finite settling time.
    couplings : IntArray, shape (queries,)
        Couplings of each query, to the first anchors of the head: a pass sees as
        many anchors as its query of the most couplings.
    is_decoding : bool
        Whether each query is a pass of its own, whatever the device has.
    """
    if len(couplings) == 0:
        return TimeOn(0.0, 0.0, 0.0)
    slots = 1 if is_decoding else oscillators_for(device, len(couplings))
    starts = np.arange(0, len(couplings), slots)
    queries = np.diff(starts, append=len(couplings))
    on = np.full(len(starts), device.settle_time + device.read_time)
    if device.runs_while_loading:
        rows = row_seconds(device, couplings, device.weight_bits)
        on += np.add.reduceat(rows, starts)
    pairs = np.add.reduceat(couplings, starts)
    seen = np.maximum.reduceat(couplings, starts)
    return TimeOn(
        oscillators=float(np.sum(queries * on)),
        couplers=float(np.sum(pairs * on)),
        anchors=float(np.sum(seen * on)),
    )


def row_seconds(device: Device, words: IntArray, bits: int | None) -> FloatArray:
    """Return the time to load rows of some words of some bits (s).

    ``write_time``, and with a bus ``ceil(words bits / bus_bits) / bus_hz``.
    """
    rows = np.full(np.shape(words), device.write_time)
    if device.bus_bits is None or device.bus_hz is None or bits is None:
        return rows
    cycles = -(-np.asarray(words) * bits // device.bus_bits)
    loaded: FloatArray = rows + cycles / device.bus_hz
    return loaded


def have_unit_norm(norms: FloatArray) -> bool:
    """Return whether anchors are unit vectors, so that w need not be multiplied."""
    return bool(np.all(np.abs(norms - 1) <= UNIT_TOLERANCE))
