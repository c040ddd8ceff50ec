"""How right a run was: accuracy over chips, beside the digital model."""

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oscsim.bridge.compare import Comparison
from oscsim.bridge.infer import Run
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank
from oscsim.typing import FloatArray

METRICS = {
    "hard_accuracy": "accuracy on hard sentences (%)",
    "accuracy": "accuracy (%)",
    "bits_per_byte": "bits per byte",
}
ALL = "accuracy on all sentences (%)"
NARROWEST = 2.0
"""Percentage points that an axis of accuracy spans at least."""


def accuracy_per_repeat(run: Run, *, everything: bool = False) -> FloatArray:
    """Return the accuracy of every chip and repeat, shape (chips, repeats).

    Over the sentences that `oscsim.bridge.compare.compare` counts, so that the
    mean over repeats is its ``per_chip``; over all of them if ``everything``.
    """
    hard = run.data.hard
    counted = hard if hard.any() and not everything else np.ones_like(hard)
    right = run.decided(run.logits) == run.data.labels
    share: FloatArray = right[..., counted].mean(axis=-1)
    return share


def accuracy_figure(run: Run, comparison: Comparison) -> Figure:
    """Draw the accuracy of every chip beside the digital model.

    Small crosses are repeats, circles chips; line and band are the mean over
    chips and its 95 % interval. The dashed line is the digital model, between
    dotted lines one standard error of the sentences away, sqrt(p (1 - p) / n).
    One panel for the hard sentences, if there are any, and one for all.

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
    c = comparison
    panels = [
        _Panel(
            METRICS.get(c.metric, c.metric),
            c.n_items,
            accuracy_per_repeat(run),
            c.digital,
            c.ci95,
        )
    ]
    if c.n_items < len(run.data):
        every = accuracy_per_repeat(run, everything=True)
        panels.append(_Panel(ALL, len(run.data), every, c.digital_all, c.ci95_all))
    drawn = "redraw" if run.setting.perturbation is not None else "chip"
    with blank(3.7 * len(panels) + 0.6, 3.6) as figure:
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, panel in zip(axes, panels, strict=True):
            _draw_accuracy(ax, panel, drawn)
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2
        )
    return figure


class _Panel(NamedTuple):
    """Accuracies over one set of sentences; ``repeats`` is (chips, repeats)."""

    title: str
    n_items: int
    repeats: FloatArray
    digital: float
    interval: tuple[float, float] | None


def _draw_accuracy(ax: Axes, panel: _Panel, drawn: str) -> None:
    per_chip = panel.repeats.mean(axis=1)
    chip = np.arange(len(per_chip))
    chance = math.sqrt(panel.digital * (1 - panel.digital) / panel.n_items)
    seen = [*panel.repeats.ravel(), panel.digital + chance, panel.digital - chance]
    if panel.interval is not None:
        low, high = panel.interval
        label = f"95 % interval over {drawn}s"
        ax.axhspan(100 * low, 100 * high, color=PALE, label=label)
        seen += panel.interval
    ax.axhline(100 * per_chip.mean(), color=BLUE, label=f"mean over {drawn}s")
    ax.axhline(100 * panel.digital, color=INK, ls="--", label="digital")
    for side, label in ((-1, "digital ± 1 standard error of the sentences"), (1, "")):
        height = 100 * (panel.digital + side * chance)
        ax.axhline(height, color=INK, ls=":", lw=1.2, label=label or "_")
    ax.plot(
        np.repeat(chip, panel.repeats.shape[1]),
        100 * panel.repeats.ravel(),
        "x",
        color=ORANGE,
        ms=4,
        label="repeat",
    )
    ax.plot(
        chip,
        100 * per_chip,
        "o",
        color=BLUE,
        mfc="none",
        ms=9,
        label=f"{drawn}, mean of its repeats",
    )
    ax.set_xlabel(drawn if len(chip) > 1 else f"{drawn} (one: no interval)")
    ax.set_ylabel(panel.title)
    ax.set_xlim(-0.6, len(chip) - 0.4)
    ax.set_ylim(*_wide(100 * min(seen), 100 * max(seen)))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.ticklabel_format(axis="y", useOffset=False)


def _wide(low: float, high: float) -> tuple[float, float]:
    """Return an axis of at least 2 points about a range, with a margin."""
    half = max(NARROWEST / 2, 0.6 * (high - low))
    return 0.5 * (low + high) - half, 0.5 * (low + high) + half
