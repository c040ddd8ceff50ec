"""What a simulation leaves: numbers, files and a table."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from oscsim.errors import SpecError
from oscsim.files import write_whole
from oscsim.network.potential import potential
from oscsim.network.spec import Network
from oscsim.physics.locking import effective_frequencies, locked_clusters
from oscsim.report.canvas import png
from oscsim.report.numbers import quantity
from oscsim.report.sphere_figure import sphere_figure
from oscsim.report.trajectory_figures import (
    BLOCK,
    CELLS,
    cluster_tolerance,
    locking_figure,
    order_over_time,
    order_parameter_figure,
    phase_raster_figure,
)
from oscsim.solve.trajectory import Trajectory


def summarise(network: Network, run: Trajectory) -> dict[str, Any]:
    """Return the numbers of a simulation as plain data.

    Parameters
    ----------
    network : Network
        What was simulated.
    run : Trajectory
        The result.

    Returns
    -------
    dict
        Order parameters and frequencies (rad/s) over the second half of the
        saved times, observed frequencies over all; None where a number is not
        defined.
    """
    half = float(run.t[-1]) / 2
    times, r = order_over_time(run)
    late = r[:, times >= half]
    return _about(run) | {
        "n_oscillators": network.n_osc,
        "d": int(network.field.shape[1]),
        "order_parameter": {
            "end": _spread(r[:, -1]),
            "late": _spread(late.mean(axis=1)),
            "meaningful": network.n_osc > 1,
        },
        "locking": _locking(run, half),
        "potential_end": _potential(network, run),
    }


def _about(run: Trajectory) -> dict[str, Any]:
    """Return what is known of a run without looking at its states."""
    return {
        "version": run.version,
        "geometry": run.geometry,
        "t1_s": float(run.t[-1]),
        "dt_s": _defined(run.dt),
        "method": run.method,
        "seed": run.seed,
        "n_trajectories": len(run.y),
        "n_saved": int(run.t.size),
        "complete": run.is_complete,
        "failed": int(np.count_nonzero(run.status >= 0)),
    }


def _spread(values: Any) -> dict[str, float | None]:
    return {
        "mean": _defined(np.mean(values)),
        "low": _defined(np.min(values)),
        "high": _defined(np.max(values)),
    }


def _locking(run: Trajectory, half: float) -> dict[str, Any] | None:
    """Return the largest cluster and the frequencies of the first trajectory.

    Frequencies that were observed are those of the whole run.
    """
    if run.frequency.size:
        half = 0.0
    has_phase = run.geometry == "torus" or run.y.shape[-1] == 2
    if not has_phase or np.count_nonzero(run.t >= half) < 2:
        return None
    rates = effective_frequencies(replace(run, y=run.y[:1]), half)[0]
    if not np.isfinite(rates).all():
        return None
    tolerance = cluster_tolerance(run, half)
    return {
        "largest_cluster": int(np.bincount(locked_clusters(rates, tolerance))[0]),
        "tolerance_rad_s": tolerance,
        "frequency_low_rad_s": float(rates.min()),
        "frequency_high_rad_s": float(rates.max()),
    }


def _potential(network: Network, run: Trajectory) -> dict[str, float | None] | None:
    try:
        return _spread(potential(network, run.y[:, -1]))
    except SpecError:
        return None


def _defined(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def figures_of(network: Network, run: Trajectory) -> dict[str, Figure]:
    """Return the figures that a simulation has, by name."""
    is_turning = network.omega.ndim == 1 and np.ptp(network.omega) > 0
    omega = network.omega if is_turning else None
    if run.t_observed.size > 1 or run.frequency.size:
        found = {"order": order_parameter_figure(run)} if run.t_observed.size else {}
        if run.frequency.size and omega is not None and _locking(run, 0.0) is not None:
            found["locking"] = locking_figure(run, omega, after=0.0)
        return found
    if run.t.size < 2:
        return {}
    half = float(run.t[-1]) / 2
    has_direction = bool(network.shil.any() or network.field.any())
    raster = phase_raster_figure(run, sort_by=omega, relative=not has_direction)
    found = {"raster": raster, "order": order_parameter_figure(run)}
    if run.geometry == "sphere":
        few = [0] if network.diffusion.any() else None
        found["sphere"] = sphere_figure(run, oscillators=few)
    elif omega is not None and _locking(run, half) is not None:
        found["locking"] = locking_figure(run, omega, after=half)
    return found


def write_trajectory(folder: Path, run: Trajectory, source: bytes) -> list[Path]:
    """Write the states of a simulation and what was simulated, every file whole.

    Parameters
    ----------
    folder : Path
        Made if needed.
    run : Trajectory
        The result.
    source : bytes
        The network file, kept beside it.

    Returns
    -------
    list of Path
        ``trajectory.npz`` (t, y, status, t_observed, r_observed, frequency, and
        ``about``: method, step, seed and version as JSON) and ``net.toml``.

    Raises
    ------
    SpecError
        If the folder cannot be written.
    """

    def archive(stream: BinaryIO) -> None:
        np.savez(
            stream,
            t=run.t,
            y=run.y,
            status=run.status,
            t_observed=run.t_observed,
            r_observed=run.r_observed,
            frequency=run.frequency,
            about=np.array(json.dumps(_about(run))),
        )

    write_whole(folder / "trajectory.npz", archive)
    write_whole(folder / "net.toml", source)
    return [folder / "trajectory.npz", folder / "net.toml"]


def write_report(
    folder: Path, network: Network, run: Trajectory, summary: dict[str, Any]
) -> list[Path]:
    """Write the summary and the figures of a simulation, every file whole.

    Parameters
    ----------
    folder : Path
        Made if needed.
    network : Network
        What was simulated.
    run : Trajectory
        The result.
    summary : dict
        Of :func:`summarise`.

    Returns
    -------
    list of Path
        ``summary.json`` and the figures.

    Raises
    ------
    SpecError
        If the folder cannot be written.
    """
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    files = {"summary.json": text.encode()}
    for name, figure in figures_of(network, run).items():
        files[f"{name}.png"] = png(figure)
    for name, content in files.items():
        write_whole(folder / name, content)
    return [folder / name for name in files]


def bytes_of_report(
    network: Network,
    *,
    t1: float,
    dt: float = math.inf,
    save_every: int = 1,
    n_trajectories: int = 1,
    observe: Any = None,
    **_: Any,
) -> float:
    """Return what the states of a run and its report take together, roughly.

    Parameters
    ----------
    network : Network
        What will be simulated.
    t1, dt : float
        End and step (s); without a step only the ends are saved.
    save_every : int
        Steps between saved states.
    n_trajectories : int
        Runs.
    observe : object
        Where something is observed only the ends are saved.
    **_ : dict
        Other arguments of `simulate`, which do not count.

    Returns
    -------
    float
        Bytes.
    """
    times = 2.0 + t1 / dt / save_every
    saved = times if observe is None else 2.0
    state = float(math.prod(network.state_shape))
    # states; the order of every one, twice and drawn; a state or two; one raster
    return (
        8.0 * n_trajectories * saved * state
        + 40.0 * n_trajectories * times
        + 64.0 * (state + BLOCK)
        + 100.0 * min(network.n_osc, CELLS) * min(saved, CELLS)
    )


def print_simulation(console: Console, name: str, summary: dict[str, Any]) -> None:
    """Print the summary of a simulation as a table."""
    found = summary
    state = f"S^{found['d'] - 1}" if found["geometry"] == "sphere" else "phases"
    table = Table(
        title=f"{name}: {_counted(found['n_oscillators'], 'oscillator', 's')} "
        f"({state}), {_counted(found['n_trajectories'], 'trajector', 'ies', 'y')} to "
        f"{quantity(found['t1_s'], 's')}, {found['method']}, seed {found['seed']}"
    )
    for heading in ("", "mean", "lowest", "highest"):
        table.add_column(heading, justify="right" if heading else "left")
    order = found["order_parameter"]
    flag = "" if order["meaningful"] else " (one oscillator: 1 by definition)"
    table.add_row(f"order parameter r at the end{flag}", *_cells(order["end"], ""))
    table.add_row("r, mean of the second half", *_cells(order["late"], ""))
    if found["potential_end"] is not None:
        cells = _cells(found["potential_end"], "rad/s")
        table.add_row("potential at the end", *cells)
    locking = found["locking"]
    if locking is not None:
        low, high = locking["frequency_low_rad_s"], locking["frequency_high_rad_s"]
        ends = quantity(low, "rad/s"), quantity(high, "rad/s")
        table.add_row("effective frequencies, first trajectory", "", *ends)
        size = f"{locking['largest_cluster']} of {found['n_oscillators']}"
        table.add_row("oscillators in the largest locked cluster", size, "", "")
    table.add_row("trajectories that failed", str(found["failed"]), "", "")
    console.print(table)


def _counted(number: int, stem: str, many: str, one: str = "") -> str:
    return f"{number} {stem}{one if number == 1 else many}"


def _cells(spread: dict[str, float | None], unit: str) -> list[str]:
    def cell(value: float | None) -> str:
        if value is None:
            return "-"
        return quantity(value, unit) if unit else f"{value:.4f}"

    return [cell(spread[name]) for name in ("mean", "low", "high")]
