"""Accuracy, or bits per byte, under perturbations and against the settling time."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.errors import SpecError
from oscsim.report.canvas import LINES, MARKERS, blank, labelled, plain
from oscsim.report.run_figures import METRICS
from oscsim.report.study_figures import SHADES
from oscsim.study.robustness import SETTLING, Robustness, Row

ASIDE = 1.04
"""Factor between the markers of one model and the next on the logarithmic axis."""


def robustness_figure(
    results: Sequence[Robustness], reference: Sequence[Row] = ()
) -> Figure:
    """Draw the metric against the strength of each perturbation and against T.

    Accuracy in percent, or bits per byte of language models. One panel a kind,
    one line a checkpoint with its smallest and largest redraw, moved aside a
    little so that none hides another; a thin horizontal line in its colour is
    its digital model. Reference rows are thin dotted lines with open markers.
    Panels of accuracy share their vertical axis, those of bits per byte, whose
    losses differ by orders of magnitude, do not and say so.

    Parameters
    ----------
    results : sequence of Robustness
        At least one, all with the same kinds.
    reference : sequence of Row
        Figures from elsewhere to compare with, in the same metric.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no result, or the results differ in kind or metric.
    """
    first = _one_study(results)
    rows = [row for result in results for row in result.rows()]
    kinds = list(dict.fromkeys(row.kind for row in rows))
    is_share = first.metric != "bits_per_byte"
    scale = 100.0 if is_share else 1.0
    columns = min(2, len(kinds))
    lines = math.ceil(len(kinds) / columns)
    with blank(7.4, 2.5 * lines + 0.9) as figure:
        axes = figure.subplots(lines, columns, squeeze=False, sharey=is_share)
        for ax, kind in zip(axes.flat, kinds, strict=False):
            for number, result in enumerate(results):
                shade = SHADES[number % len(SHADES)]
                label = "" if number else "digital, in the colour of its model"
                level = scale * result.digital
                ax.axhline(level, color=shade, lw=0.7, label=label or "_", zorder=1)
            _draw_curves(ax, [r for r in rows if r.kind == kind], scale, bold=True)
            elsewhere = [r for r in reference if r.kind == kind]
            _draw_curves(ax, elsewhere, scale, bold=False)
            _name_axes(ax, kind, [r.value for r in rows if r.kind == kind])
        for ax in axes.flat[len(kinds) :]:
            ax.set_visible(False)
        for ax in axes[:, 0] if is_share else axes.flat:
            ax.set_ylabel(METRICS[first.metric])
        if not is_share:
            figure.supxlabel(
                "every panel has a vertical scale of its own", fontsize=8.5
            )
        handles, labels = labelled(figure)
        ncols = 3 if len(labels) > 4 else 2
        figure.legend(handles, labels, loc="outside upper center", ncols=ncols)
    return figure


def _one_study(results: Sequence[Robustness]) -> Robustness:
    """Return the first of results that can share axes."""
    if not results:
        raise SpecError("nothing to draw: got 0 results, give at least one")
    first = results[0]
    for other in results[1:]:
        if (other.kinds, other.metric) != (first.kinds, first.metric):
            raise SpecError(
                f"{other.checkpoint} has kinds {', '.join(other.kinds)} and metric "
                f"{other.metric}; give results of one study"
            )
    return first


def _draw_curves(ax: Axes, rows: Sequence[Row], scale: float, *, bold: bool) -> None:
    names = list(dict.fromkeys(row.checkpoint for row in rows))
    for number, name in enumerate(names):
        mine = [row for row in rows if row.checkpoint == name]
        mean = np.array([row.mean for row in mine])
        spread = [
            [row.mean - row.low for row in mine],
            [row.high - row.mean for row in mine],
        ]
        shade = SHADES[number % len(SHADES)]
        ax.errorbar(
            [row.value * ASIDE ** (number - (len(names) - 1) / 2) for row in mine],
            scale * mean,
            yerr=scale * np.maximum(spread, 0.0) if bold else None,
            color=shade,
            ls=LINES[number % len(LINES)] if bold else ":",
            lw=1.5 if bold else 0.8,
            marker=MARKERS[number % len(MARKERS)],
            ms=4.5 if bold else 8,
            mfc=shade if bold else "none",
            capsize=2.5,
            label=plain(name),
        )


def _name_axes(ax: Axes, kind: str, values: Sequence[float]) -> None:
    ax.set_xscale("log")
    if kind == SETTLING:
        ax.set_title("random start, read after T")
        ax.set_xlabel("settling time T (model time units)")
    else:
        ax.set_title(f"{kind} perturbed")
        ax.set_xlabel("strength s (dimensionless)")
    ticks = sorted(set(values))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
