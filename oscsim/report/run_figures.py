"""What a run did: accuracy over chips, drives, settling times."""

import math
from collections.abc import Callable, Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from oscsim.bridge.compare import Comparison
from oscsim.bridge.infer import Run
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank, require_oscillators
from oscsim.report.numbers import percent, quantity
from oscsim.substrate.device import Device
from oscsim.substrate.tally import (
    LOG10_EDGES,
    SETTLED_WITHIN_RAD,
)
from oscsim.typing import FloatArray, IntArray

METRICS = {
    "hard_accuracy": "accuracy on hard sentences (%)",
    "accuracy": "accuracy (%)",
}
MERGED = 2
TAIL = 1e-4


def accuracy_per_repeat(run: Run) -> FloatArray:
    """Return the accuracy of every chip and repeat, shape (chips, repeats).

    Over the sentences that `oscsim.bridge.compare.compare` counts, so that the
    mean over repeats is its ``per_chip``.
    """
    counted = run.data.hard if run.data.hard.any() else np.ones_like(run.data.hard)
    right = (run.logits > 0) == (run.data.labels == 1)
    share: FloatArray = right[..., counted].mean(axis=-1)
    return share


def accuracy_figure(run: Run, comparison: Comparison) -> Figure:
    """Draw the accuracy of every chip beside the digital model.

    Small points are repeats, large ones chips; line and band are the mean over
    chips and its 95 % interval, the dashed line is the digital model.

    Parameters
    ----------
    run : Run
        Logits of every chip and repeat.
    comparison : Comparison
        Its summary.

    Returns
    -------
    Figure
    """
    chip = np.arange(comparison.chips)
    repeats = 100 * accuracy_per_repeat(run)
    with blank(4.7, 3.3) as figure:
        ax = figure.subplots()
        if comparison.ci95 is not None:
            low, high = comparison.ci95
            ax.axhspan(100 * low, 100 * high, color=PALE, label="95 % interval of mean")
        ax.axhline(100 * comparison.substrate, color=BLUE, label="mean over chips")
        ax.axhline(100 * comparison.digital, color=INK, ls="--", label="digital")
        ax.plot(
            np.repeat(chip, repeats.shape[1]),
            repeats.ravel(),
            "x",
            color=ORANGE,
            ms=4,
            label="repeat",
        )
        ax.plot(
            chip,
            100 * comparison.per_chip,
            "o",
            color=BLUE,
            mfc="none",
            ms=9,
            label="chip, mean of its repeats",
        )
        ax.set_xlabel("chip" if comparison.chips > 1 else "chip (one: no interval)")
        ax.set_ylabel(METRICS.get(comparison.metric, comparison.metric))
        ax.set_xlim(-0.6, comparison.chips - 0.4)
        ax.margins(y=0.15)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.ticklabel_format(axis="y", useOffset=False)
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def drive_figure(comparison: Comparison, device: Device) -> Figure:
    """Draw how strongly the oscillators were driven.

    Parameters
    ----------
    comparison : Comparison
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
        _say(ax, tally.oscillators, zip(("left", "right"), sides, strict=True))
        if ax.get_legend_handles_labels()[0]:
            figure.legend(loc="outside lower center", ncols=1)
    return figure


def settling_figure(comparison: Comparison, device: Device) -> Figure:
    """Draw the time that oscillators need to come within 0.01 rad of the drive.

    Parameters
    ----------
    comparison : Comparison
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
        ax.plot([], [], " ", label=f"unsettled when read: {share}")
        _say(ax, tally.oscillators, zip(("left", "right"), sides, strict=True))
        if ax.get_legend_handles_labels()[0]:
            figure.legend(loc="outside lower center", ncols=1)
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
    share = 100 * merged / total
    ax.stairs(share, edges, fill=True, color=PALE)
    ax.stairs(share, edges, color=BLUE, lw=0.8)
    ax.set_xscale("log")
    ax.set_ylabel("oscillators (% per 1/10 decade)")
    ax.set_ylim(bottom=0)
    many = np.cumsum(merged)
    few = TAIL * total
    shown = (many > few) & (many[-1] - many + merged > few)
    if not shown.any():
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


def _say(ax: Axes, total: int, sides: Iterable[tuple[str, int]]) -> None:
    for side, number in sides:
        if number:
            text = f"{side} of the axis: {percent(number / total)}"
            ax.plot([], [], " ", label=text)
