"""Tokens per second of a mapped model against the batch, and where the time goes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from oscsim.energy.baselines import Shape
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.timeline import PHASES, Timeline, timeline
from oscsim.errors import SpecError
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, PALE, blank
from oscsim.substrate.device import Device

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHADES = {
    "projection": (PALE, "xx"),
    "weights": (PALE, "//"),
    "load": (PALE, ""),
    "settle": (BLUE, ""),
    "read": (INK, ""),
    "value": (ORANGE, ""),
    "ffn": (ORANGE, "\\\\"),
}


def timeline_figure(
    devices: Sequence[Device],
    model: Attention,
    *,
    batches: Sequence[int] = BATCHES,
    settle_s: float | None = None,
    macs_per_s: float | None = None,
    ops_per_s: float | None = None,
    shape: Shape | None = None,
) -> Figure:
    """Draw decoding against the batch: rate by array, time by phase on the last.

    Parameters
    ----------
    devices : sequence of Device
        Arrays of one kind and several sizes, at most six.
    model : Attention
        A causal model.
    batches : sequence of int
        Sequences at a time, increasing.
    settle_s, macs_per_s, ops_per_s, shape : optional
        As in `oscsim.energy.timeline.timeline`.

    Returns
    -------
    Figure
        Left, tokens per second over the batch, both axes logarithmic. Right,
        share of the time by phase on the last device.

    Raises
    ------
    SpecError
        If there is no device or no batch, or more than six devices.
    """
    if not devices or not batches or len(devices) > len(LINES):
        raise SpecError(
            f"1 to {len(LINES)} devices and at least one batch are drawn, got "
            f"{len(devices)} and {len(batches)}"
        )
    timed = [
        [
            timeline(
                map_attention(device, model, batch=batch, is_decoding=True),
                settle_s=settle_s,
                macs_per_s=macs_per_s,
                ops_per_s=ops_per_s,
                shape=shape,
            )
            for batch in batches
        ]
        for device in devices
    ]
    with blank(8.8, 3.4) as figure:
        left, right = figure.subplots(1, 2)
        _rates(left, timed, batches)
        _phases(right, timed[-1], batches)
    return figure


def _rates(
    ax: Any, timed: Sequence[Sequence[Timeline]], batches: Sequence[int]
) -> None:
    for number, row in enumerate(timed):
        ax.plot(
            batches,
            [one.tokens_per_s for one in row],
            color=(BLUE, ORANGE, INK)[number % 3],
            ls=LINES[number],
            marker=MARKERS[number],
            ms=4,
            lw=1.2,
            label=_size(row[0].mapping.device),
        )
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(batches, [str(batch) for batch in batches])
    ax.set_xlabel("sequences at a time")
    ax.set_ylabel("tokens per second, all sequences")
    ax.set_title("decoding, attention on the array")
    ax.legend(title="oscillators of a tile")


def _phases(ax: Any, row: Sequence[Timeline], batches: Sequence[int]) -> None:
    base = np.zeros(len(row))
    for name in (name for name in PHASES if name in row[0].seconds):
        share = np.array([100 * one.seconds[name] / one.latency_s for one in row])
        shade, hatch = SHADES[name]
        ax.bar(
            range(len(row)),
            share,
            bottom=base,
            color=shade,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.4,
            label=name,
        )
        base += share
    ax.set_ylim(0, 100)
    ax.set_xticks(range(len(row)), [str(batch) for batch in batches])
    ax.set_xlabel("sequences at a time")
    ax.set_ylabel("share of the time (%)")
    ax.set_title(f"{_size(row[0].mapping.device)} oscillators a tile, by phase")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)


def _size(device: Device) -> str:
    if device.query_slots == 1:
        return "1"
    return "unlimited" if device.oscillators is None else f"{device.oscillators:,}"
