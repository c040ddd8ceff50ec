"""A measured phase response and its coupling function: figure, table, plain data."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from oscsim.report.canvas import BLUE, INK, LINES, ORANGE, blank, plain
from oscsim.report.numbers import quantity, scale_of
from oscsim.spice.phase_model import PhaseModel, sampled
from oscsim.spice.phase_response import PhaseResponse
from oscsim.typing import FloatArray

SHARES = (0.4, 0.8, 0.95)


def phase_response_figure(
    name: str, response: PhaseResponse, model: PhaseModel
) -> Figure:
    """Draw the voltage, the phase response and the coupling function of a node.

    Parameters
    ----------
    name : str
        Of the netlist.
    response : PhaseResponse
        What was measured.
    model : PhaseModel
        What follows for two through a resistor.

    Returns
    -------
    Figure
    """
    turn = np.linspace(0, 2 * np.pi, len(response.response), endpoint=False)
    with blank(9.0, 2.9) as figure:
        left, middle, right = figure.subplots(1, 3)
        _line(left, turn, response.waveform, INK, LINES[0])
        left.set_ylabel("voltage (V)")
        left.set_title("waveform")
        scale, prefix = scale_of(float(np.abs(response.response).max()))
        _line(middle, turn, response.response / scale, INK, LINES[0])
        phases = (np.arange(len(response.kicks)) + 0.5) / max(len(response.kicks), 1)
        middle.plot(
            2 * np.pi * phases, response.kicks / scale, "o", ms=3.0, mfc="w", color=INK
        )
        middle.set_ylabel(f"shift per charge ({prefix}rad/C)")
        middle.set_title("phase response")
        d, whole = sampled(model)
        scale, prefix = scale_of(float(np.abs(whole).max()))
        exact = response.coupling(model.resistance)
        _line(
            right,
            turn,
            exact / scale,
            INK,
            LINES[0],
            "mean over a period of response and waveform",
        )
        label = f"{len(model.harmonics)} harmonic" + "s" * (len(model.harmonics) > 1)
        _line(right, d, whole / scale, ORANGE, LINES[1], label)
        odd = model.harmonics[:, 0] @ np.sin(
            np.outer(range(1, len(model.harmonics) + 1), d)
        )
        _line(right, d, odd / scale, BLUE, LINES[3], "odd part, which locks a pair")
        right.set_ylabel(f"G ({prefix}rad/s)")
        right.set_title(plain(f"coupling through {quantity(model.resistance, 'ohm')}"))
        for ax, label in (
            (left, "phase from a rising crossing (rad)"),
            (middle, "phase of the kick (rad)"),
            (right, "phase of the other, ahead (rad)"),
        ):
            ax.set_xlabel(label)
            ax.set_xticks(np.pi * np.arange(3), ["0", "π", "2π"])
            ax.axhline(0.0, color="#9a9a9a", lw=0.6, zorder=0)
        handles, labels = right.get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside lower right",
            ncols=3,
            title="coupling function, right panel; points in the middle: kicks",
        )
        figure.suptitle(plain(f"{name} (ngspice, charge kicks)"), fontsize=9.5)
    return figure


def print_phase_model(console: Console, name: str, model: PhaseModel) -> None:
    """Print the harmonics of a coupling function and what a pair does with them.

    Parameters
    ----------
    console : Console
        Where to print.
    name : str
        Of the netlist.
    model : PhaseModel
        The coupling function.
    """
    console.print(
        f"{name}: phase response by charge kicks, two of them through "
        f"{quantity(model.resistance, 'ohm')}",
        style="bold",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("k", "a_k of sin(k d)", "b_k of cos(k d)"):
        table.add_column(heading)
    for k, (a, b) in enumerate(model.harmonics, 1):
        table.add_row(str(k), f"{a:.5g} rad/s", f"{b:.5g} rad/s")
    console.print(table)
    turn = 2 * np.pi * model.frequency_hz
    moved, held = 100 * model.shift / turn, 100 * model.lock_range() / turn
    console.print(
        f"free-running {quantity(model.frequency_hz, 'Hz')}; the coupling moves it by "
        f"{moved:.3g} %; lock range {held:.4g} % of the frequency",
        highlight=False,
    )
    for share, verdict, lag in _pairs(model):
        console.print(
            f"at {share:g} of the lock range the engine's pair {_told(verdict, lag)}",
            highlight=False,
        )


def summary_of_model(name: str, model: PhaseModel) -> dict[str, Any]:
    """Return a coupling function as plain data.

    Parameters
    ----------
    name : str
        Of the netlist.
    model : PhaseModel
        The coupling function.
    """
    return {
        "circuit": name,
        "frequency_hz": model.frequency_hz,
        "resistance_ohm": model.resistance,
        "shift_rad_s": model.shift,
        "harmonics_rad_s": model.harmonics.tolist(),
        "lock_range_rad_s": model.lock_range(),
        "pairs": [
            {"share": share, "verdict": verdict, "lag_rad": lag}
            for share, verdict, lag in _pairs(model)
        ],
    }


def _pairs(model: PhaseModel) -> list[tuple[float, str, float]]:
    return [(share, *model.pair(share * model.lock_range())) for share in SHARES]


def _told(verdict: str, lag: float) -> str:
    if verdict != "locked":
        return verdict
    return f"locks, the slower {lag:.4f} rad ({np.degrees(lag):.1f} degrees) behind"


def _line(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    color: str,
    style: Any,
    label: str | None = None,
) -> None:
    ax.plot(x, y, color=color, ls=style, lw=1.3, label=label)
