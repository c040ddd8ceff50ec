"""What the oscillators of a run did: drives, times and angles, as histograms."""

import math
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from oscsim.bridge.compare import AnyComparison
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank, require_oscillators
from oscsim.report.numbers import percent, quantity
from oscsim.substrate.device import Device
from oscsim.substrate.tally import (
    LOG10_EDGES,
    SETTLED_WITHIN_RAD,
    histogram_quantile,
)
from oscsim.typing import FloatArray, IntArray

MERGED = 2
TAIL = 1e-4
WEAK = f"drive too weak for {SETTLED_WITHIN_RAD} rad in that time"


def drive_figure(comparison: AnyComparison, device: Device) -> Figure:
    """Draw how strongly the oscillators were driven.

    Parameters
    ----------
    comparison : Comparison or LanguageComparison
        Its tally holds the histogram of |h|.
    device : Device
        Gives the unit of |h| and the limit of the phase model,
        |h| / (2 pi f) = 0.1.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no oscillator was settled.
    """
    tally = comparison.tally
    require_oscillators(tally.oscillators)
    unit = device.coupling_max
    with blank(4.7, 3.3) as figure:
        ax = figure.subplots()
        limit = None
        if unit is not None and device.frequency_hz is not None:
            limit = device.weak_coupling * 2 * math.pi * device.frequency_hz / unit
        sides = _draw_histogram(ax, tally.field_histogram, 1.0, limit)
        ax.set_xlabel(
            "drive |h| (model units)" if unit is None else "drive |h| / coupling_max"
        )
        if unit is not None:
            top = ax.secondary_xaxis("top", functions=_times(unit))
            top.set_xlabel("drive |h| (rad/s)")
        if limit is not None:
            ax.axvline(
                limit,
                color=ORANGE,
                ls="--",
                label=f"limit of the phase model, |h| = {device.weak_coupling:g} (2πf)",
            )
        _say(figure, ax, tally.oscillators, sides)
    return figure


def settling_figure(comparison: AnyComparison, device: Device) -> Figure:
    """Draw the time that oscillators need to come within 0.01 rad of the drive.

    Parameters
    ----------
    comparison : Comparison or LanguageComparison
        Its tally holds the histogram of times.
    device : Device
        Gives the unit of time and the settling time.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no oscillator was settled.
    """
    tally = comparison.tally
    require_oscillators(tally.oscillators)
    in_seconds = device.coupling_max is not None
    unit = 1.0 if device.coupling_max is None else 1 / device.coupling_max
    with blank(4.7, 3.3) as figure:
        ax = figure.subplots()
        mark = device.settle_time if math.isfinite(device.settle_time) else None
        sides = _draw_histogram(ax, tally.time_histogram, unit, mark)
        named = "s" if in_seconds else "model units"
        ax.set_xlabel(f"time to {SETTLED_WITHIN_RAD} rad of the drive ({named})")
        if mark is not None:
            time = quantity(mark, "s") if in_seconds else f"{mark:g} model units"
            ax.axvline(mark, color=ORANGE, ls="--", label=f"settling time, {time}")
            share = percent(tally.unsettled / tally.oscillators)
            ax.plot([], [], " ", label=f"{WEAK}: {share}")
        _say(figure, ax, tally.oscillators, sides)
    return figure


def angle_figure(comparison: AnyComparison) -> Figure:
    """Draw the angle between state and drive when the oscillators are read.

    Settling, detuning and noise together; the error that the read-out meets.

    Parameters
    ----------
    comparison : Comparison or LanguageComparison
        Its tally holds the histogram of angles.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no oscillator was settled.
    """
    tally = comparison.tally
    require_oscillators(tally.oscillators)
    errors = tally.error_histogram
    with blank(4.7, 3.3) as figure:
        ax = figure.subplots()
        sides = _draw_histogram(ax, errors, 1.0, SETTLED_WITHIN_RAD)
        ax.set_xlabel("angle between state and drive when read (rad)")
        ax.axvline(
            SETTLED_WITHIN_RAD,
            color=ORANGE,
            ls="--",
            label=f"{SETTLED_WITHIN_RAD} rad",
        )
        for name, q, line in (("median", 0.5, "-"), ("p90", 0.9, "-.")):
            value = histogram_quantile(errors, q)
            label = f"{name}, {value:.2g} rad"
            if 0 < value < math.inf:
                ax.axvline(value, color=INK, ls=line, lw=1.0, label=label)
            else:
                ax.plot([], [], " ", label=label)
        _say(figure, ax, tally.oscillators, sides)
    return figure


def _draw_histogram(
    ax: Axes, histogram: IntArray, unit: float, mark: float | None
) -> tuple[int, int]:
    """Draw shares per tenth of a decade; return the counts left and right of it.

    The axis holds all but 1e-4 of the oscillators on either side, and the mark.
    """
    edges = unit * 10 ** LOG10_EDGES[::MERGED]
    merged = histogram[1:-1].reshape(-1, MERGED).sum(axis=1)
    total = histogram.sum()
    share = 100 * merged / max(total, 1)
    ax.stairs(share, edges, fill=True, color=PALE)
    ax.stairs(share, edges, color=BLUE, lw=0.8)
    ax.set_xscale("log")
    ax.set_ylabel("oscillators (% per 1/10 decade)")
    ax.set_ylim(bottom=0)
    many = np.cumsum(merged)
    few = TAIL * total
    shown = (many > few) & (many[-1] - many + merged > few)
    if not shown.any():
        ax.set_xlim(edges[0], edges[-1])
        return int(histogram[0]), int(histogram[-1])
    first, last = int(shown.argmax()), len(shown) - 1 - int(shown[::-1].argmax())
    left, right = edges[first], edges[last + 1]
    if mark is not None and edges[0] < mark < edges[-1]:
        first = min(first, int(np.searchsorted(edges, mark)) - 2)
        last = max(last, int(np.searchsorted(edges, mark)))
        first, last = max(first, 0), min(last, len(merged) - 1)
        left, right = edges[first], edges[last + 1]
    ax.set_xlim(left, right)
    return (
        int(histogram[0] + merged[:first].sum()),
        int(histogram[-1] + merged[last + 1 :].sum()),
    )


def _times(
    rate: float,
) -> tuple[Callable[[ArrayLike], FloatArray], Callable[[ArrayLike], FloatArray]]:
    """Return the change from units of ``rate`` to SI, and back."""
    return (lambda x: np.asarray(x) * rate), (lambda x: np.asarray(x) / rate)


def _say(figure: Figure, ax: Axes, total: int, sides: tuple[int, int]) -> None:
    for side, number in zip(("left", "right"), sides, strict=True):
        if number:
            text = f"{side} of the axis: {percent(number / total)}"
            ax.plot([], [], " ", label=text)
    if ax.get_legend_handles_labels()[0]:
        figure.legend(loc="outside lower center", ncols=1)
