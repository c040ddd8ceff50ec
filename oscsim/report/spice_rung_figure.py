"""Tokens of a checkpoint in a circuit: the way of each, and its attention."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.report.numbers import scale_of
from oscsim.spice.head_run import SETTLED
from oscsim.study.spice_rung import SpiceRung, angles

MOST = 6
"""Tokens that are drawn; a table has all."""

TICKS = 12
_POINTS = 1500
_PERIODS = 4
_FLOOR = 1e-8


def spice_rung_figure(rung: SpiceRung) -> Figure:
    """Draw waveforms, the way to h/|h|, and the attention of each token.

    Waveforms are the last periods of the tanks, or the first two components of
    the first token on the sphere. Below, one panel a token: digital, engine and
    ngspice. At most six tokens.

    Parameters
    ----------
    rung : SpiceRung
        What ran.

    Returns
    -------
    Figure
    """
    shown = range(min(MOST, len(rung.positions)))
    columns = 2 if len(shown) == 4 else min(3, len(shown))
    rows = -(-len(shown) // columns)
    with blank(max(7.6, 3.0 * columns), 2.7 + 1.9 * rows) as figure:
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[2.7, 1.9 * rows])
        upper, lower = parts[:, 0]
        left, right = upper.subplots(1, 2, squeeze=False)[0]
        if rung.circuit == "lc":
            _draw_periods(left, rung, shown)
        else:
            _draw_components(left, rung)
        _draw_angles(right, rung, shown)
        handles, labels = right.get_legend_handles_labels()
        upper.legend(handles, labels, loc="outside right center")
        panels = lower.subplots(rows, columns, squeeze=False).ravel()
        for ax, n in zip(panels, shown, strict=False):
            _draw_weights(ax, rung, n)
        for ax in panels[len(shown) :]:
            ax.set_visible(False)
        for ax in panels[::columns]:
            ax.set_ylabel("attention a_ij")
        handles, labels = panels[0].get_legend_handles_labels()
        lower.legend(handles, labels, loc="outside right center")
        kind = "LC oscillators" if rung.circuit == "lc" else "Lohe sphere"
        figure.suptitle(
            plain(
                f"{rung.checkpoint} in ngspice ({kind}), item {rung.item}, layer "
                f"{rung.layer}, head {rung.head}"
            ),
            fontsize=9.5,
        )
    return figure


def _draw_periods(ax: Axes, rung: SpiceRung, shown: range) -> None:
    """Draw the last periods of the tanks."""
    time = rung.run.signal_time
    spacing = float(np.diff(rung.run.time[:2])[0]) * 64
    start = time[-1] - _PERIODS * spacing
    inside = time >= start
    scale, prefix = scale_of(_PERIODS * spacing)
    for n in shown:
        ax.plot(
            (time[inside] - start) / scale, rung.run.signals[n, inside], **_style(n)
        )
    ax.set_xlabel(f"time from {start * 1e3:.3f} ms ({prefix}s)")
    ax.set_ylabel("voltage of the tank (V)")
    ax.set_title("waveforms, last periods")


def _draw_components(ax: Axes, rung: SpiceRung) -> None:
    """Draw the components of the token that settles first, while it does."""
    times = rung.run.settle_times
    n = int(np.nanargmin(times)) if not np.isnan(times).all() else 0
    end = 2 * times[n] if times[n] > 0 else rung.run.time[-1]
    inside = _thinned(rung.run.time <= end)
    for k in range(min(3, rung.fixed.shape[1])):
        ax.plot(
            rung.run.time[inside],
            rung.run.directions[n, inside, k],
            **_style(k, ("-", "--", "-.")[k]),
            label=f"z_{k}",
        )
        ax.axhline(rung.fixed[n, k], color="#999999", lw=0.8, ls=":")
    ax.set_xlabel("time (s at 1 V, 1 S, 1 F)")
    ax.set_ylabel("component (V)")
    ax.set_title(plain(f"token {rung.positions[n]}; dotted: h/|h|"))
    ax.legend(loc="best")


def _draw_angles(ax: Axes, rung: SpiceRung, shown: range) -> None:
    """Draw the angle to h/|h| over time."""
    inside = _thinned(np.ones(len(rung.run.time), bool))
    time = rung.run.time[inside]
    scale, prefix = scale_of(float(time[-1])) if rung.circuit == "lc" else (1.0, "")
    for n in shown:
        states = rung.run.directions[n, inside]
        apart = angles(states, np.broadcast_to(rung.fixed[n], states.shape))
        label = plain(f"{rung.positions[n]} {rung.queries[n]}")
        ax.semilogy(time / scale, apart, label=label, **_style(n))
    ax.axhline(SETTLED, color="#999999", lw=0.8, ls=":")
    ax.set_ylim(_FLOOR, 5)
    unit = f"{prefix}s" if rung.circuit == "lc" else "s at 1 V, 1 S, 1 F"
    ax.set_xlabel(f"time ({unit})")
    ax.set_ylabel("angle to h/|h| (rad)")
    ax.set_title(f"settling; dotted: {SETTLED:g} rad")


def _draw_weights(ax: Axes, rung: SpiceRung, n: int) -> None:
    """Draw the attention of one token, up to the last anchor that it reads."""
    read = np.flatnonzero(rung.digital[n] + rung.engine[n] + rung.spice[n] > 0)
    read = where = np.arange(read[-1] + 1 if len(read) else 1)
    few = len(read) <= TICKS
    width = 0.62 if few else 1.0
    ax.bar(where, rung.digital[n, read], width, color="#d9d9d9", label="digital")
    for values, marker, colour, size, name in (
        (rung.engine, MARKERS[1], BLUE, 5.0, "engine"),
        (rung.spice, MARKERS[5], ORANGE, 3.5, "ngspice"),
    ):
        ax.plot(
            where,
            values[n, read],
            ls="none",
            marker=marker,
            ms=size if few else 0.7 * size,
            mfc="none" if name == "engine" else colour,
            mec=colour,
            mew=0.8,
            label=name,
        )
    settled = "" if not np.isnan(rung.run.settle_times[n]) else " (not settled)"
    ax.set_title(plain(f"query {rung.positions[n]} {rung.queries[n]}{settled}"))
    if few:
        words = [plain(rung.words[j]) for j in read]
        if max(map(len, words)) < 3:
            ax.set_xticks(where, words)
        else:
            ax.set_xticks(where, words, rotation=45, ha="right", rotation_mode="anchor")
    else:
        ax.set_xlabel("anchor j")
    largest = max(values[n].max() for values in (rung.digital, rung.engine, rung.spice))
    ax.set_ylim(0, 1.12 * max(largest, 0.01))
    ax.set_xlim(-0.7, max(len(read), 4) - 0.3)


def _thinned(kept: Any) -> Any:
    """Return indices of at most 1500 of the points that are kept."""
    found = np.flatnonzero(kept)
    return found[:: max(1, len(found) // _POINTS)]


def _style(number: int, line: Any = None) -> dict[str, Any]:
    shades = (INK, BLUE, ORANGE, "#7a7a7a", INK, BLUE)
    return {
        "color": shades[number % len(shades)],
        "ls": LINES[number % len(LINES)] if line is None else line,
        "lw": 1.2,
    }
