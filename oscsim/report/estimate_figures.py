"""Where two totals differ, what their ratio hangs on, and where it crosses 1."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from oscsim.bridge.cost import ATTENTION_PHASES
from oscsim.bridge.estimate import Scenario
from oscsim.bridge.judge import Judgement, Reading
from oscsim.energy.uncertainty import Curve
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, PALE, blank, plain
from oscsim.report.energy_figure import PHASES, by_phase
from oscsim.report.numbers import scale_of

SHOWN = 8
COLOURS = (BLUE, ORANGE)


def waterfall_figure(one: Judgement) -> Figure:
    """Draw the steps from a rival's attention stage to the subject's, by phase.

    Nominal joules per token; what a phase adds is filled, what it saves
    hatched. The last steps are the rest of the system, whose totals are
    written beside the bars of the whole.

    Parameters
    ----------
    one : Judgement
        From `oscsim.bridge.judge.judge`.
    """
    mine, theirs = (by_phase(s.ledger) for s in (one.subject, one.rival))
    steps = [
        (PHASES[phase][0], mine.get(phase, 0.0) - theirs.get(phase, 0.0))
        for phase in (*ATTENTION_PHASES, "memory", "control")
    ]
    steps = [(name, joules) for name, joules in steps if joules]
    biggest = max(abs(joules) for _, joules in steps)
    scale, prefix = scale_of(biggest)
    with blank(7.4, 0.34 * (len(steps) + 2) + 1.5) as figure:
        ax = figure.subplots()
        at = 0.0
        for row, (name, joules) in enumerate(steps):
            _step(ax, row, at, joules, scale)
            at += joules
            del name
        row = len(steps)
        _step(ax, row, 0.0, at, scale, total=True)
        names = [*(name for name, _ in steps), "difference"]
        ax.set_yticks(range(row + 1), names)
        ax.set_ylim(row + 0.6, -0.6)
        ax.axvline(0, color=INK, lw=0.8)
        ax.margins(x=0.18)
        ax.set_title(plain(f"{_said(one.subject)} less {_said(one.rival)}"))
        ax.set_xlabel(
            f"{prefix}J per token, nominal, summed from top to bottom; "
            "phases that do not differ are left out"
        )
    return figure


def tornado_figure(one: Judgement) -> Figure:
    """Draw how the ratio of the attention stages moves with each cause.

    Bars run from the ratio with the cause at its p10 to that at its p90, all
    else nominal; circles mark the p10 end, squares the p90 end; the line is
    the nominal ratio. Ranges are assumptions.

    Parameters
    ----------
    one : Judgement
        From `oscsim.bridge.judge.judge`.
    """
    reading = one.attention
    shown = reading.sensitivities[:SHOWN]
    with blank(7.4, 0.36 * len(shown) + 1.9) as figure:
        ax = figure.subplots()
        for row, cause in enumerate(shown):
            low, high = sorted((cause.at_low, cause.at_high))
            ax.barh(row, high - low, left=low, height=0.5, color=PALE, ec=INK, lw=0.6)
        rows = range(len(shown))
        ends = [[s.at_low for s in shown], [s.at_high for s in shown]]
        for k, (values, label) in enumerate(
            zip(ends, ("cause at its p10", "cause at its p90"), strict=True)
        ):
            marker = MARKERS[k]
            ax.plot(values, rows, marker, color=COLOURS[k], ms=6, label=label)
        ax.axvline(reading.nominal, color=INK, lw=1, ls=LINES[1], label="nominal")
        ax.axvline(1, color=INK, lw=1, ls=LINES[3], label="parity")
        names = [f"{s.cause} ({s.rank_correlation:+.2f})" for s in shown]
        ax.set_yticks(rows, [plain(name) for name in names])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xscale("log")
        _plain_ticks(ax)
        ax.set_title(plain(f"{_said(one.subject)} / {_said(one.rival)}"))
        ax.set_xlabel(
            "ratio of the attention stages (log axis); in brackets the rank "
            "correlation; assumption ranges"
        )
        figure.legend(loc="outside lower center", ncols=4)
    return figure


def crossover_figure(judged: tuple[Judgement, ...]) -> Figure:
    """Draw the ratios against the price of an exponential and of a product.

    Lines are nominal ratios of the attention stages, bands p10..p90 over the
    draws of all else; the vertical line is the component's value and its band
    p10..p90. Below 1 the subject costs less.

    Parameters
    ----------
    judged : tuple of Judgement
        From `oscsim.bridge.judge.judge`.
    """
    with blank(7.4, 3.9) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        titles = ("digital exponential", "digital multiply-accumulate")
        for ax, name, title in zip(axes, ("exponential", "mac"), titles, strict=True):
            for k, one in enumerate(judged):
                curve: Curve = getattr(one.attention, name)
                _curve(ax, curve, k, f"{_said(one.subject)} / {_said(one.rival)}")
            _own_price(ax, judged[0].attention, name)
            ax.axhline(1, color=INK, lw=1, ls=LINES[3])
            ax.set_xscale("log")
            ax.set_yscale("log")
            _plain_ticks(ax, "y")
            ax.set_title(title)
            curve = getattr(judged[0].attention, name)
            ax.set_xlabel(f"{curve.component} (pJ per event, log axis)")
        axes[0].set_ylabel("ratio of the attention stages (log axis)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=1)
    return figure


def _step(
    ax: Axes, row: int, at: float, joules: float, scale: float, *, total: bool = False
) -> None:
    saves = joules < 0
    ax.barh(
        row,
        joules / scale,
        left=at / scale,
        height=0.6,
        color=INK if total else (PALE if saves else ORANGE),
        hatch="" if total or not saves else "///",
        edgecolor=INK,
        linewidth=0.6,
    )
    end = (at + joules) / scale
    ax.annotate(
        f"{joules / scale:+.3g}",
        (end, row),
        xytext=(-4 if saves else 4, 0),
        textcoords="offset points",
        ha="right" if saves else "left",
        va="center",
        fontsize=8,
    )


def _curve(ax: Axes, curve: Curve, number: int, label: str) -> None:
    colour = COLOURS[number % len(COLOURS)]
    ax.fill_between(
        curve.values,
        curve.low,
        curve.high,
        color=colour,
        alpha=0.18,
        lw=0,
        hatch=("", "\\\\\\")[number % 2],
    )
    ax.plot(
        curve.values,
        curve.nominal,
        color=colour,
        ls=LINES[number],
        marker=MARKERS[number],
        ms=4,
        markevery=2,
        label=plain(label),
    )


def _own_price(ax: Axes, reading: Reading, name: str) -> None:
    curve: Curve = getattr(reading, name)
    value = curve.own
    ax.axvline(value.value, color=INK, lw=1, ls=LINES[1], label="value in the library")
    ax.axvspan(value.low, value.high, color=INK, alpha=0.07, lw=0)


def _plain_ticks(ax: Axes, axis: str = "x") -> None:
    ticks = ax.xaxis if axis == "x" else ax.yaxis
    low, high = ax.get_xlim() if axis == "x" else ax.get_ylim()
    formatter = ScalarFormatter()
    formatter.set_scientific(False)
    ticks.set_major_formatter(formatter)
    within = np.log10(high / low) < 1
    ticks.set_minor_formatter(formatter if within else NullFormatter())


def _said(one: Scenario) -> str:
    return one.name
