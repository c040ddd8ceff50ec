"""Small drives and devices whose answer is known in closed form."""

import numpy as np

from oscsim.counts import Counts
from oscsim.substrate.device import Device
from oscsim.substrate.drive import Drive
from oscsim.substrate.mismatch import Programming, program
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally

RATE = 2.0
"""Coupling at full scale of the devices built here (rad/s)."""


def device(oscillator="ring", **fields):
    """A device without any imperfection but those given; full scale 2 rad/s."""
    neutral = {"range_limit": "weight_bits" in fields, "coupling_max": RATE}
    return Device.parse(
        {"name": "bench", "oscillator": oscillator} | neutral | fields,
        where="bench device",
    )


def drive(coupling, anchors, *, items=None, connected=None, live=None, layer=0):
    """A drive; all pairs and queries exist unless told otherwise."""
    coupling = np.asarray(coupling, dtype=float)
    batch, _, queries, n_anchors = coupling.shape
    return Drive(
        layer=layer,
        items=np.arange(batch) if items is None else np.asarray(items),
        coupling=coupling,
        anchors=np.asarray(anchors, dtype=float),
        connected=(
            np.ones((batch, queries, n_anchors), bool)
            if connected is None
            else connected
        ),
        live=np.ones((batch, queries), bool) if live is None else live,
    )


def single(n, *, w=1.0, d=2, heads=1):
    """``n`` items of one query and one anchor along the first axis."""
    anchors = np.zeros((heads, 1, d))
    anchors[..., 0] = 1.0
    return drive(np.full((n, heads, 1, 1), w), anchors)


def chip_of(kind, asked, *, seed=3, chip=0, full_scale=1.0):
    """A chip with a slot for every query and anchor of a drive, in every layer."""
    heads, n_anchors, d = asked.anchors.shape
    slots = np.ones((heads, max(n_anchors, asked.coupling.shape[2]), d))
    slots[:, :n_anchors] = asked.anchors
    layer = Programming(slots, np.broadcast_to(np.float64(full_scale), heads))
    return program(kind, [layer] * (asked.layer + 1), seed=seed, chip=chip)


def settled(kind, asked, *, repeat=0, tally=None, counts=None, **chip):
    """The states that a chip of a device gives for a drive."""
    return settle_on(
        chip_of(kind, asked, **chip),
        repeat,
        SettleTally() if tally is None else tally,
    )(asked, Counts() if counts is None else counts)


def angle(states):
    """Phases of states on the circle (rad)."""
    return np.arctan2(states[..., 1], states[..., 0])
