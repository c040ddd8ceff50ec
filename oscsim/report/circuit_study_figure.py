"""Noise, mismatch and pairs of rings in ngspice beside what the engine says."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank
from oscsim.study.circuit_study import LagResult, NoiseResult, SpreadResult

SHADES = (INK, BLUE, ORANGE, "#7a7a7a")


def circuit_study_figure(
    noises: Sequence[NoiseResult],
    sigmas: Sequence[float],
    turned: Sequence[SpreadResult],
    rings: Sequence[LagResult],
) -> Figure:
    """Draw spread against D, angle against mismatch, lag against detuning.

    Lines are the engine's or a law's, markers are circuits in ngspice. Bars are two
    standard errors.

    Parameters
    ----------
    noises : sequence of NoiseResult
        Left panel.
    sigmas : sequence of float
        Mismatch of every entry of ``turned``.
    turned : sequence of SpreadResult
        Middle panel.
    rings : sequence of LagResult
        Right panel; a pair that slips stands as a cross at the upper end.

    Returns
    -------
    Figure
    """
    with blank(10.2, 3.3) as figure:
        left, middle, right = figure.subplots(1, 3)
        _noise(left, noises)
        _mismatch(middle, sigmas, turned)
        _rings(right, rings)
    return figure


def _noise(ax: Axes, noises: Sequence[NoiseResult]) -> None:
    x = np.array([one.diffusion for one in noises])
    law = np.array([one.expected for one in noises])
    ax.plot(x, law, color=INK, ls=LINES[0], lw=1.2, label="von Mises law")
    ax.errorbar(
        x,
        [one.variance for one in noises],
        [2 * one.error * one.expected for one in noises],
        color=ORANGE,
        ls="none",
        marker=MARKERS[0],
        ms=5,
        mfc="none",
        capsize=3,
        label="ngspice",
    )
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(x, [f"{value:g}" for value in x])
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.minorticks_off()
    ax.set_xlabel("D of the noise (rad²/s)")
    ax.set_ylabel("variance of pulled phases (rad²)")
    ax.set_title("white noise, pull 2 rad/s")
    ax.legend(loc="upper left")


def _mismatch(
    ax: Axes, sigmas: Sequence[float], turned: Sequence[SpreadResult]
) -> None:
    percent = 100 * np.array(sigmas)
    for query in range(len(turned[0].circuit)):
        shade = SHADES[query % len(SHADES)]
        ax.plot(
            percent,
            [1e3 * one.law[query] for one in turned],
            ls=LINES[query % len(LINES)],
            lw=1.2,
            label=f"query {query}",
            color=shade,
        )
        ax.plot(
            percent,
            [1e3 * one.circuit[query] for one in turned],
            ls="none",
            marker=MARKERS[query % len(MARKERS)],
            ms=5,
            mfc="none",
            color=shade,
        )
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(percent, [f"{value:g}" for value in percent])
    ax.minorticks_off()
    ax.set_ylim(top=6 * ax.get_ylim()[1])
    ax.set_xlabel("mismatch of every conductance (%)")
    ax.set_ylabel("rms angle from nominal (mrad)")
    ax.set_title("attention; lines: first order in mismatch")
    ax.legend(loc="upper left", ncols=2)


def _rings(ax: Axes, rings: Sequence[LagResult]) -> None:
    held = [one for one in rings if one.circuit[0] == "locked"]
    both = [one for one in rings if one.engine[0] == "locked"]
    ax.plot(
        [one.share for one in both],
        [one.engine[1] for one in both],
        color=INK,
        ls=LINES[0],
        lw=1.2,
        label="engine",
    )
    ax.plot(
        [one.share for one in held],
        [one.circuit[1] for one in held],
        color=ORANGE,
        ls="none",
        marker=MARKERS[0],
        ms=5,
        mfc="none",
        label="ngspice",
    )
    slips = [one.share for one in rings if one.circuit[0] == "slips"]
    if slips:
        top = [90.0] * len(slips)
        ax.plot(
            slips, top, color=BLUE, ls="none", marker="x", ms=6, label="ngspice: slips"
        )
    ax.axvline(1.0, color="#9a9a9a", ls=LINES[3], lw=1.0, label="engine's lock edge")
    ax.set_ylim(0, 95)
    ax.set_xlabel("difference of frequencies / lock range")
    ax.set_ylabel("lag of the slower ring (degrees)")
    ax.set_title("two rings, phase response of one")
    ax.legend(loc="upper left")
