"""Waveforms and phases of a circuit, with what was expected of it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.report.canvas import BLUE, INK, LINES, MARKERS, ORANGE, blank, plain
from oscsim.report.numbers import scale_of
from oscsim.spice.check import CircuitCheck
from oscsim.spice.claims import Claim
from oscsim.spice.rawfile import Waveforms
from oscsim.spice.waveforms import lock_in
from oscsim.typing import FloatArray

SHADES = (INK, BLUE, ORANGE, "#7a7a7a")
PERIODS = 4


def circuit_figure(check: CircuitCheck) -> Figure:
    """Draw the signals that the side-car file of a circuit names.

    Where signals are oscillations, their last periods stand on the left and their
    phases by lock-in on the right; where they are phases or components
    themselves, one panel shows them. Markers are expected values. All of the
    first case, except that two oscillations in several cases have the difference
    of their phases in each case on the right.

    Parameters
    ----------
    check : CircuitCheck
        A circuit that ran.

    Returns
    -------
    Figure
    """
    told = check.expectations
    case = told.cases[0].name
    waves = check.runs[case].waveforms
    claims = [
        claim
        for claim in told.claims
        if "trajectory" in claim.kind and claim.case == case
    ]
    kind = "counter-example" if told.counter_example else "ngspice"
    panels = 2 if told.carrier_hz else 1
    with blank(3.6 * panels + 1.2, 3.2) as figure:
        axes = figure.subplots(1, panels, squeeze=False)[0]
        if told.carrier_hz:
            _draw_periods(axes[0], check, waves)
            if len(told.figure) == 2 and len(check.runs) > 1:
                first, second = told.figure
                axes[0].set_title(
                    plain(f"last periods: {first} solid, {second} dashed")
                )
                _draw_differences(axes[1], check)
            else:
                _draw_phases(axes[1], check, waves, claims)
        else:
            _draw_values(axes[0], check, waves, claims)
        handles, labels = axes[-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center")
        figure.suptitle(plain(f"{check.name} ({kind}, {case})"), fontsize=9.5)
    return figure


def _draw_periods(ax: Axes, check: CircuitCheck, waves: Waveforms) -> None:
    """Draw the last periods of the carrier."""
    told = check.expectations
    start = waves.time[-1] - PERIODS / told.carrier_hz
    inside = waves.time >= start
    scale, prefix = scale_of(PERIODS / told.carrier_hz)
    for number, name in enumerate(told.figure):
        ax.plot(
            (waves.time[inside] - start) / scale,
            waves.signal(name)[inside],
            **_style(number),
        )
    ax.set_xlabel(f"time from {_seconds(float(start))} ({prefix}s)")
    ax.set_ylabel("voltage (V)")
    ax.set_title("waveforms, last periods")


def _draw_phases(
    ax: Axes, check: CircuitCheck, waves: Waveforms, claims: list[Claim]
) -> None:
    """Draw phases as the claims define them: from a reference or their mean."""
    told = check.expectations
    locked = [
        lock_in(waves.time, waves.signal(name), told.carrier_hz) for name in told.figure
    ]
    phases = np.array([one.phase for one in locked])
    phases -= 2 * np.pi * np.round(phases[:, -1:] / (2 * np.pi))
    ylabel = "phase at the carrier (rad)"
    if told.relative or any(claim.centred for claim in claims):
        phases = phases - phases.mean(axis=0)
        ylabel = "phase from the mean (rad)"
    scale, prefix = scale_of(float(waves.time[-1]))
    for number, name in enumerate(told.figure):
        ax.plot(locked[0].time / scale, phases[number], label=name, **_style(number))
    shown = {name: (locked[0].time, phases[k]) for k, name in enumerate(told.figure)}
    _mark(ax, claims, shown, scale, 2 * np.pi)
    ax.set_xlabel(f"time ({prefix}s)")
    ax.set_ylabel(ylabel)
    ax.set_title("phases by lock-in")


def _draw_differences(ax: Axes, check: CircuitCheck) -> None:
    """Draw the phase of the second signal from the first, in every case."""
    told = check.expectations
    end = max(float(run.waveforms.time[-1]) for run in check.runs.values())
    scale, prefix = scale_of(end)
    for number, (case, run) in enumerate(check.runs.items()):
        waves = run.waveforms
        first, second = (
            lock_in(waves.time, waves.signal(name), told.carrier_hz)
            for name in told.figure
        )
        apart = second.phase - first.phase
        apart -= 2 * np.pi * np.round(apart[0] / (2 * np.pi))
        ax.plot(first.time / scale, apart, label=plain(case), **_style(number))
    ax.set_ylim(max(ax.get_ylim()[0], -4 * np.pi), min(ax.get_ylim()[1], 4 * np.pi))
    ax.set_xlabel(f"time ({prefix}s)")
    ax.set_ylabel(plain(f"phase of {told.figure[1]} from {told.figure[0]} (rad)"))
    ax.set_title("phase difference by case")


def _draw_values(
    ax: Axes, check: CircuitCheck, waves: Waveforms, claims: list[Claim]
) -> None:
    """Draw signals that are phases or components themselves."""
    told = check.expectations
    values = np.array([waves.signal(name) for name in told.figure])
    unit = "rad" if any("rad" in claim.unit for claim in told.claims) else "1"
    ylabel = "phase (rad)" if unit == "rad" else "component"
    if told.relative:
        values = values - values.mean(axis=0)
        ylabel = "phase from the mean (rad)"
    for number, name in enumerate(told.figure):
        ax.plot(waves.time, values[number], label=name, **_style(number))
    marked = [_centred(claim, told.figure) for claim in claims]
    shown = {name: (waves.time, values[k]) for k, name in enumerate(told.figure)}
    _mark(ax, marked if told.relative else claims, shown, 1.0, 0.0)
    if told.until:
        ax.set_xlim(-0.03 * told.until, told.until)
    ax.set_xlabel("time (s, normalised units)")
    ax.set_ylabel(ylabel)


def _mark(
    ax: Axes,
    claims: list[Claim],
    shown: dict[str, tuple[FloatArray, FloatArray]],
    scale: float,
    turn: float,
) -> None:
    """Put a marker where a trajectory is expected, on the turn of its line."""
    label = "expected"
    for claim in claims:
        if not isinstance(claim.expected, tuple):
            continue
        for name, row in zip(claim.signals, claim.expected, strict=True):
            if name not in shown:
                continue
            number = list(shown).index(name)
            expected = np.array(row)
            if turn:
                there = np.interp(claim.times, *shown[name])
                expected += turn * np.round((there - expected) / turn)
            ax.plot(
                np.array(claim.times) / scale,
                expected,
                ls="none",
                marker=MARKERS[number % len(MARKERS)],
                ms=4.5,
                mfc="none",
                color=SHADES[number % len(SHADES)],
                label=label,
            )
            label = "_"


def _centred(claim: Claim, names: tuple[str, ...]) -> Claim:
    """Return a claim about all signals of a figure minus their mean, else none."""
    if set(claim.signals) != set(names) or not isinstance(claim.expected, tuple):
        return claim.model_copy(update={"expected": ""})
    rows = np.array(claim.expected)
    rows = rows - rows.mean(axis=0)
    return claim.model_copy(update={"expected": tuple(map(tuple, rows.tolist()))})


def _style(number: int) -> dict[str, Any]:
    return {
        "color": SHADES[number % len(SHADES)],
        "ls": LINES[number % len(LINES)],
        "lw": 1.2,
    }


def _seconds(value: float) -> str:
    scale, prefix = scale_of(value)
    return f"{value / scale:.4g} {prefix}s"
