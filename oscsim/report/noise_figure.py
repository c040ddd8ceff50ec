"""Bits per byte against thermal noise, one line a dimension."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.errors import SpecError
from oscsim.report.canvas import LINES, MARKERS, blank, plain
from oscsim.report.robustness_figure import ASIDE
from oscsim.report.study_figures import SHADES
from oscsim.study.noise import NoiseByDimension
from oscsim.typing import FloatArray

NOISE_LABEL = "diffusion D / median |h| of the model (dimensionless)"


def noise_figure(result: NoiseByDimension, to: int = 0) -> Figure:
    """Draw bits per byte of every model, and what it loses to one of them.

    Noise 0 stands apart at the left end of the logarithmic axis. Whiskers
    are 2 standard errors over windows, in the right panel of the paired
    difference; its axis is linear between -0.1 and 0.1 and logarithmic
    beyond.

    Parameters
    ----------
    result : NoiseByDimension
        At least one noise above 0.
    to : int
        Number of the model that the right panel subtracts.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If no noise is above 0, or there is no such model.
    """
    if not (result.relative > 0).any():
        raise SpecError(
            "nothing to draw: no noise is above 0, got "
            + str([float(noise) for noise in result.relative])
        )
    difference, spread = result.differences(to)
    with blank(7.4, 3.5) as figure:
        left, right = figure.subplots(1, 2)
        for number, (name, d_osc) in enumerate(
            zip(result.checkpoints, result.d_osc, strict=True)
        ):
            label = f"d_osc {d_osc} ({plain(name)})"
            _draw(left, result, number, result.mean[number], None, label)
            _draw(right, result, number, difference[number], 2 * spread[number], label)
        left.set_ylabel("bits per byte")
        right.set_ylabel(f"bits per byte minus those of d_osc {result.d_osc[to]}")
        right.set_yscale("symlog", linthresh=0.1, linscale=1.5)
        ticks = [-1, -0.3, -0.1, -0.05, 0, 0.05, 0.1, 0.3, 1]
        right.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        for ax in (left, right):
            _name_noise(ax, result.relative)
        figure.supxlabel(NOISE_LABEL, fontsize=9.0)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper center", ncols=3, handlelength=4.0
        )
    return figure


def _draw(
    ax: Axes,
    result: NoiseByDimension,
    number: int,
    values: FloatArray,
    error: FloatArray | None,
    label: str,
) -> None:
    shade = SHADES[number % len(SHADES)]
    middle = (len(result.d_osc) - 1) / 2
    ax.errorbar(
        _places(result.relative) * ASIDE ** (number - middle),
        values,
        yerr=error,
        color=shade,
        ls=LINES[number % len(LINES)],
        lw=1.2,
        marker=MARKERS[number % len(MARKERS)],
        ms=4.0,
        capsize=2.0,
        label=label,
    )


def _places(relative: FloatArray) -> FloatArray:
    """Return where the noises stand: 0 a third of a decade before the least."""
    least = relative[relative > 0].min()
    return np.where(relative > 0, relative, least / 3.0)


def _name_noise(ax: Axes, relative: FloatArray) -> None:
    ax.set_xscale("log")
    ax.set_xticks(
        _places(relative), [f"{noise:g}".lstrip("0") or "0" for noise in relative]
    )
    ax.minorticks_off()
