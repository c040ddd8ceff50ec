"""The spice rung as a table, as plain data and as CSV."""

import csv
import io
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from oscsim.report.numbers import quantity
from oscsim.spice.head_run import SETTLED
from oscsim.study.spice_rung import SpiceRung

KINDS = {"sphere": "Lohe sphere behind resistors", "lc": "LC oscillators on tones"}


def print_spice_rung(console: Console, rung: SpiceRung) -> None:
    """Print a line per token: drive, angle, weights, settling time and energy.

    Parameters
    ----------
    console : Console
        Where to print.
    rung : SpiceRung
        What ran.
    """
    console.print(f"{rung.checkpoint} in ngspice: {KINDS[rung.circuit]}", style="bold")
    console.print(
        f"item {rung.item}, layer {rung.layer}, head {rung.head}: "
        f"{len(rung.positions)} queries of {len(rung.words)} tokens, "
        f"{_time(rung, float(rung.run.time[-1]))} in {rung.run.seconds:.1f} s",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    for heading in (
        "token",
        "|h| of\nfull scale",
        "angle to\nh/|h| (rad)",
        "to the engine\n(rad)",
        "weights off:\nfrom engine",
        "from digital",
        "settled\nafter",
        "energy",
    ):
        table.add_column(heading, justify="left" if heading == "token" else "right")
    for n, position in enumerate(rung.positions):
        settled = float(rung.run.settle_times[n])
        table.add_row(
            f"{position} {_word(rung, n)}",
            f"{rung.lengths[n]:.3g}",
            f"{rung.digital_angles[n]:.2g}",
            f"{rung.engine_angles[n]:.2g}",
            f"{rung.weight_errors[n]:.2g}",
            f"{rung.digital_errors[n]:.2g}",
            "not settled" if np.isnan(settled) else _time(rung, settled),
            _energy(rung, float(rung.run.energies[n])),
        )
    console.print(table)
    verdict = "pass" if rung.passed else "FAIL"
    console.print(
        f"weights within {rung.weight_errors.max():.2g} of the engine's, "
        f"{rung.gate:g} allowed: {verdict}; {rung.unsettled} of "
        f"{len(rung.positions)} tokens not settled to {SETTLED:g} rad",
        highlight=False,
    )
    for note in notes_on(rung):
        console.print(note, highlight=False)


def notes_on(rung: SpiceRung) -> list[str]:
    """Return what a reader of the table must know.

    Parameters
    ----------
    rung : SpiceRung
        What ran.
    """
    if rung.circuit == "lc":
        notes = [
            "angles after the constant offset -eps/4 of a tank, the same for all",
            "energy: from the tones and the negative conductances, ideal elements",
        ]
    else:
        notes = ["times and energies in units of 1 V, 1 S and 1 F"]
    notes.append(
        "full scale: the largest sum of |weights| times |anchors| of the "
        f"{len(rung.positions)} queries here, so |h| depends on which are picked"
    )
    if rung.unsettled:
        notes.append(
            "a token that did not settle has too little drive for the time: its "
            "weights are compared with the engine's at the same time"
        )
    return notes


def rung_json(rung: SpiceRung) -> dict[str, Any]:
    """Return a rung as plain data; a settling time that is missing is None.

    Parameters
    ----------
    rung : SpiceRung
        What ran.
    """
    return {
        "checkpoint": rung.checkpoint,
        "circuit": rung.circuit,
        "item": rung.item,
        "layer": rung.layer,
        "head": rung.head,
        "passed": rung.passed,
        "largest_weight_error": float(rung.weight_errors.max()),
        "allowed": rung.gate,
        "unsettled": rung.unsettled,
        "end_s": float(rung.run.time[-1]),
        "ngspice_s": rung.run.seconds,
        "notes": notes_on(rung),
        "tokens": [_token(rung, n) for n in range(len(rung.positions))],
    }


def weights_csv(rung: SpiceRung) -> bytes:
    """Return the attention weights as CSV, a row per query and anchor.

    Parameters
    ----------
    rung : SpiceRung
        What ran.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["query", "anchor", "digital", "engine", "spice"])
    for n, position in enumerate(rung.positions):
        for j, row in enumerate(
            zip(rung.digital[n], rung.engine[n], rung.spice[n], strict=True)
        ):
            rows.writerow([position, j, *(f"{value:.9g}" for value in row)])
    return out.getvalue().encode()


def _token(rung: SpiceRung, n: int) -> dict[str, Any]:
    settled = float(rung.run.settle_times[n])
    return {
        "position": int(rung.positions[n]),
        "word": _word(rung, n),
        "drive": float(rung.lengths[n]),
        "angle_to_digital_rad": float(rung.digital_angles[n]),
        "angle_to_engine_rad": float(rung.engine_angles[n]),
        "weight_error_engine": float(rung.weight_errors[n]),
        "weight_error_digital": float(rung.digital_errors[n]),
        "settle_s": None if np.isnan(settled) else settled,
        "energy_j": float(rung.run.energies[n]),
        "digital": rung.digital[n].tolist(),
        "engine": rung.engine[n].tolist(),
        "spice": rung.spice[n].tolist(),
    }


def _word(rung: SpiceRung, n: int) -> str:
    """Return the word at a query, on one line."""
    return " ".join(rung.queries[n].split()) or "' '"


def _time(rung: SpiceRung, seconds: float) -> str:
    return quantity(seconds, "s") if rung.circuit == "lc" else f"{seconds:.4g}"


def _energy(rung: SpiceRung, joule: float) -> str:
    return quantity(joule, "J") if rung.circuit == "lc" else f"{joule:.3g}"
