"""Where two totals differ, what their ratio hangs on, and where it crosses 1."""

import math
import textwrap
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from oscsim.bridge.cost import attention_by_phase, attention_j
from oscsim.bridge.judge import Judgement, Reading
from oscsim.energy.uncertainty import Curve
from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, PALE, blank, plain
from oscsim.report.energy_figure import PHASES
from oscsim.report.numbers import scale_of

SHOWN = 8
COLOURS = (BLUE, ORANGE)


def waterfall_figure(one: Judgement) -> Figure:
    """Draw the steps from a rival's attention stage to the subject's, by phase.

    Nominal joules per token. The first and the last bar are the two stages, the
    others what a phase adds (filled) or saves (hatched).

    Parameters
    ----------
    one : Judgement
        From `oscsim.bridge.judge.judge`.
    """
    mine, theirs = (attention_by_phase(s.ledger) for s in (one.subject, one.rival))
    named = {phase: label for phase, (label, *_) in PHASES.items()} | {
        "memory": "cache"
    }
    steps = [
        (label, mine.get(phase, 0.0) - theirs.get(phase, 0.0))
        for phase, label in named.items()
    ]
    steps = [(name, joules) for name, joules in steps if joules]
    start, end = (attention_j(s.ledger) for s in (one.rival, one.subject))
    scale, prefix = scale_of(max(start, end))
    names = [one.rival.name, *(name for name, _ in steps), one.subject.name]
    with blank(7.4, 0.34 * len(names) + 1.2) as figure:
        ax = figure.subplots()
        _bar(ax, 0, 0.0, start / scale, "total")
        at = highest = start
        for row, (_, joules) in enumerate(steps, start=1):
            _bar(ax, row, at / scale, joules / scale, "adds" if joules > 0 else "saves")
            at += joules
            highest = max(highest, at)
        _bar(ax, len(names) - 1, 0.0, end / scale, "total")
        ax.set_yticks(range(len(names)), [plain(wrapped(name)) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0, 1.15 * highest / scale)
        ax.set_title("attention stage, from the rival to the subject")
        ax.set_xlabel(
            f"{prefix}J per token, nominal; filled: added, hatched: saved; phases "
            "alike in both left out"
        )
    return figure


def wrapped(name: str) -> str:
    """Return a name in lines short enough for an axis."""
    return "\n".join(textwrap.wrap(name, 28))


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
        # room for half a marker: markers at the ends are cut otherwise
        shown_x = [*ends[0], *ends[1], reading.nominal, 1.0]
        room = (max(shown_x) / min(shown_x)) ** 0.04
        ax.set_xlim(min(shown_x) / room, max(shown_x) * room)
        _narrow_ticks(ax.xaxis)
        ax.set_title(plain(_ratio(one)))
        ax.set_xlabel(
            "ratio of the attention stages (log axis); brackets: rank correlation"
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
                _curve(ax, curve, k, _ratio(one))
            _own_price(ax, judged[0].attention, name)
            ax.axhline(1, color=INK, lw=1, ls=LINES[3], label="parity, ratio 1")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(title)
            curve = getattr(judged[0].attention, name)
            ax.set_xlabel(f"{curve.component} (pJ per event, log axis)")
        bottom, top = axes[0].get_ylim()
        for ax in axes:
            (_plain_ticks if top / bottom > 10 else _narrow_ticks)(ax.yaxis)
        _tick_parity(axes)
        axes[0].set_ylabel("ratio of the attention stages (log axis)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=1)
    return figure


def _bar(ax: Axes, row: int, at: float, width: float, kind: str) -> None:
    fill = {"total": BLUE, "adds": ORANGE, "saves": PALE}[kind]
    ax.barh(
        row,
        width,
        left=at,
        height=0.6,
        color=fill,
        hatch="///" if kind == "saves" else "",
        edgecolor=INK,
        linewidth=0.6,
    )
    ax.annotate(
        f"{width:.3g}" if kind == "total" else f"{width:+.3g}",
        (max(at, at + width), row),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )


def _ratio(one: Judgement) -> str:
    return f"{one.subject.name} / {one.rival.name}"


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


def _plain_ticks(axis: Axis) -> None:
    """Label 1, 2 and 5 of every decade of a logarithmic axis as they are."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _tick_parity(axes: Iterable[Axes]) -> None:
    """Label the ratio 1 on an axis whose other ticks miss it."""
    for ax in axes:
        bottom, top = ax.get_ylim()
        ticks = [float(tick) for tick in ax.get_yticks() if bottom <= tick <= top]
        # labels of ticks nearer than a twentieth of the axis would overlap
        near = 0.05 * math.log(top / bottom)
        kept = [tick for tick in ticks if abs(math.log(tick)) > near]
        ax.yaxis.set_major_locator(FixedLocator(sorted([1.0, *kept])))


def _narrow_ticks(axis: Axis) -> None:
    """Label a logarithmic axis that spans less than a decade."""
    axis.set_major_locator(MaxNLocator(7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axis.set_minor_locator(NullLocator())
