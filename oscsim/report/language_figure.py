"""How well a language model predicts: over chips, and along a window."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oscsim.bridge.language import LanguageRun
from oscsim.bridge.language_compare import LanguageComparison
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank

NARROWEST = 0.01
"""Bits per byte that the axis spans at least."""


def bits_figure(run: LanguageRun, comparison: LanguageComparison) -> Figure:
    """Draw bits per byte of every chip, and at every position of a window.

    Parameters
    ----------
    run : LanguageRun
        Bits of every chip, repeat and token.
    comparison : LanguageComparison
        Its summary.

    Returns
    -------
    Figure
    """
    with blank(8.0, 3.6) as figure:
        left, right = figure.subplots(1, 2)
        _draw_chips(left, run, comparison)
        position = np.arange(1, run.data.context + 1)
        right.plot(position, run.digital.mean(axis=0), "--", color=INK)
        right.plot(position, run.bits.mean(axis=(0, 1, 2)), color=BLUE)
        right.set_xlabel("bytes read in the window")
        right.set_ylabel("bits per byte")
        right.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(
            *left.get_legend_handles_labels(), loc="outside upper center", ncols=3
        )
    return figure


def _draw_chips(ax: Axes, run: LanguageRun, comparison: LanguageComparison) -> None:
    c = comparison
    repeats = run.bits.mean(axis=(2, 3))
    chip = np.arange(c.chips)
    seen = [*repeats.ravel(), c.digital]
    if c.ci95 is not None:
        ax.axhspan(*c.ci95, color=PALE, label="95 % interval over chips")
        seen += c.ci95
    ax.axhline(c.substrate, color=BLUE, label="mean over chips")
    ax.axhline(c.digital, color=INK, ls="--", label="digital")
    ax.plot(
        np.repeat(chip, repeats.shape[1]),
        repeats.ravel(),
        "x",
        color=ORANGE,
        ms=4,
        label="repeat",
    )
    ax.plot(chip, c.per_chip, "o", color=BLUE, mfc="none", ms=9, label="chip")
    low, high = min(seen), max(seen)
    half = max(NARROWEST / 2, 0.6 * (high - low))
    ax.set_ylim(0.5 * (low + high) - half, 0.5 * (low + high) + half)
    ax.set_xlim(-0.6, c.chips - 0.4)
    ax.set_xlabel("chip" if c.chips > 1 else "chip (one: no interval)")
    ax.set_ylabel("bits per byte")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.ticklabel_format(axis="y", useOffset=False)
