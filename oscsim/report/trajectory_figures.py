"""Paths of oscillators: phases, order and locking."""

import math
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oscsim.arrays import real_array, real_number, whole_number
from oscsim.errors import SpecError
from oscsim.physics.geometry import angle_between, wrap
from oscsim.physics.locking import effective_frequencies, locked_clusters
from oscsim.physics.observables import unit_vectors
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank
from oscsim.report.numbers import scale_of
from oscsim.solve.trajectory import Trajectory
from oscsim.typing import FloatArray, IntArray

CELLS = 1200
"""Most oscillators and times that a raster shows; of more it shows every k-th."""

BLOCK = 1_000_000
"""Numbers of which unit vectors are made at a time."""

PATHS = 12
"""Most paths drawn one by one."""

CYCLIC = "twilight"
"""Its ends meet; in grey it shows the size of an angle, 0 dark and pi light."""


def phase_raster_figure(
    run: Trajectory,
    *,
    trajectory: int = 0,
    relative: bool = True,
    sort_by: FloatArray | None = None,
) -> Figure:
    """Draw the phase of every oscillator against time, one row each.

    Parameters
    ----------
    run : Trajectory
        Result of a simulation.
    trajectory : int
        Which of its trajectories.
    relative : bool
        Phases less that of the order parameter, angle of the mean of
        exp(i theta), at each time: drifting oscillators hardly move it, but it
        means nothing where the order parameter is near 0. Otherwise phases as
        they are, modulo one turn. On the sphere the angle to the mean direction;
        otherwise the first component.
    sort_by : FloatArray, shape (n,), optional
        Rows by rising value, for example natural frequencies.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no such trajectory or ``sort_by`` is not a number for each
        oscillator.
    """
    y = one_trajectory(run, trajectory)
    n = y.shape[1]
    order = np.arange(n)
    if sort_by is not None:
        order = np.argsort(_one_each("sort_by", sort_by, n), kind="stable")
    rows, times = math.ceil(n / CELLS), math.ceil(run.t.size / CELLS)
    values, label, colours, (low, high) = _raster_values(
        run.geometry, y[::times], order[::rows], relative
    )
    scale, prefix = scale_of(float(run.t[-1]))
    with blank(5.6, 3.4) as figure:
        ax = figure.subplots()
        image = ax.pcolormesh(
            _edges(run.t[::times] / scale),
            np.arange(values.shape[1] + 1) * rows - 0.5,
            values.T,
            cmap=colours,
            vmin=low,
            vmax=high,
            rasterized=True,
        )
        bar = figure.colorbar(image, ax=ax, label=label)
        if high == math.pi:
            ends = {-math.pi: "-π", 0.0: "0", math.pi: "π"}
            bar.set_ticks([end for end in ends if end >= low])
            bar.set_ticklabels([name for end, name in ends.items() if end >= low])
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        if run.t.size == 1:
            ax.set_xticks(run.t / scale)
        ax.set_xlabel(f"time ({prefix}s)")
        every = "" if rows == 1 else f", one in {rows}"
        ax.set_ylabel(
            f"oscillator{every}" if sort_by is None else f"oscillator, sorted{every}"
        )
    return figure


def _raster_values(
    geometry: str, y: FloatArray, rows: IntArray, relative: bool
) -> tuple[FloatArray, str, str, tuple[float, float]]:
    """Return the values of some rows, of which the mean is that of all."""
    shown = np.asarray(y[:, rows], dtype=np.float64)
    if not relative:
        if geometry == "torus":
            return wrap(shown), "phase (rad)", CYCLIC, (-math.pi, math.pi)
        return shown[..., 0], "first component", "cividis", (-1.0, 1.0)
    mean = np.array([unit_vectors(one, geometry).mean(axis=0) for one in y])
    if geometry == "torus":
        common = np.arctan2(mean[:, 1], mean[:, 0])
        label = "phase from the order parameter's (rad)"
        return wrap(shown - common[:, None]), label, CYCLIC, (-math.pi, math.pi)
    length = np.linalg.norm(mean, axis=-1, keepdims=True)
    angle = angle_between(shown, (mean / np.maximum(length, 1e-300))[:, None])
    return angle, "angle to the mean (rad)", "cividis", (0.0, math.pi)


def order_parameter_figure(run: Trajectory, *, expected: float | None = None) -> Figure:
    """Draw the order parameter of every trajectory, and their mean.

    Parameters
    ----------
    run : Trajectory
        Result of a simulation.
    expected : float, optional
        A level to compare with, for example r of the theory.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If ``expected`` is not a finite number.
    """
    n = run.y.shape[2]
    times, r = order_over_time(run)
    scale, prefix = scale_of(float(times[-1]))
    time = times / scale
    with blank(5.2, 3.2) as figure:
        ax = figure.subplots()
        several = len(r) > 1
        mark = "o" if time.size == 1 else ""
        if several:
            shown = r[:PATHS]
            name = "trajectories" if len(r) <= PATHS else f"first {PATHS} trajectories"
            for k, path in enumerate(shown):
                ax.plot(
                    time,
                    path,
                    marker=mark,
                    color=PALE,
                    lw=0.8,
                    label=name if k == 0 else None,
                )
        ax.plot(
            time,
            r.mean(axis=0),
            marker=mark,
            color=BLUE,
            lw=1.6,
            label=f"mean of {len(r)}" if several else "order parameter",
        )
        if expected is not None:
            level = real_number("expected", expected)
            ax.axhline(level, color=ORANGE, ls="--", label="expected")
        if n > 1:
            level = 1 / math.sqrt(n)
            ax.axhline(
                level, color=INK, ls=":", lw=1.0, label="random states, 1/√N (rms)"
            )
        ax.set_ylim(0, 1.03)
        if time.size == 1:
            ax.set_xticks(time)
        else:
            ax.set_xlim(time[0], time[-1])
        ax.set_xlabel(f"time ({prefix}s)")
        one = "" if n > 1 else " (one oscillator: always 1)"
        ax.set_ylabel(f"order parameter r{one}")
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def locking_figure(
    run: Trajectory,
    omega: FloatArray,
    *,
    trajectory: int = 0,
    after: float = 0.0,
    tolerance: float | None = None,
) -> Figure:
    """Draw effective against natural frequencies: locked ones form a plateau.

    Parameters
    ----------
    run : Trajectory
        Result of a simulation with phases.
    omega : FloatArray, shape (n,)
        Natural frequencies (rad/s).
    trajectory : int
        Which of its trajectories.
    after : float
        Leave out the transient before this time (s).
    tolerance : float, optional
        Width in frequency of a locked cluster (rad/s); 1 rad over
        the time used if absent.

    Returns
    -------
    Figure

    Raises
    ------
    SpecError
        If there is no such trajectory, shapes do not fit, or a frequency is
        not defined.
    """
    y = one_trajectory(run, trajectory)
    natural = _one_each("omega", omega, y.shape[1])
    found = effective_frequencies(replace(run, y=y[None]), after)[0]
    if tolerance is None:
        tolerance = cluster_tolerance(run, after)
    cluster = locked_clusters(found, tolerance)
    locked = (cluster == 0) & (np.count_nonzero(cluster == 0) > 1)
    scale, prefix = scale_of(float(np.quantile(np.abs(natural), 0.95)))
    x, y = natural / scale, found / scale
    with blank(4.6, 3.6) as figure:
        ax = figure.subplots()
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, ends, color=INK, ls=":", lw=1.0, label="uncoupled")
        ax.plot(x[~locked], y[~locked], "x", color=ORANGE, ms=4, label="others")
        if locked.any():
            ax.plot(
                x[locked],
                y[locked],
                "o",
                color=BLUE,
                ms=3.5,
                label=f"largest cluster, {np.count_nonzero(locked)} of {x.size}",
            )
        outside = _limit_axes(ax, x, y)
        if outside:
            ax.plot([], [], " ", label=f"outside the axes: {outside}")
        ax.set_xlabel(f"natural frequency ({prefix}rad/s)")
        ax.set_ylabel(f"effective frequency ({prefix}rad/s)")
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def _limit_axes(ax: Axes, x: FloatArray, y: FloatArray) -> int:
    """Cut off long tails of natural frequencies; return how many lie outside."""
    low, high = np.quantile(x, [0.05, 0.95])
    if np.ptp(x) < 3 * (high - low) or high == low:
        return 0
    margin = 0.3 * (high - low)
    inside = (x >= low - margin) & (x <= high + margin)
    ax.set_xlim(low - margin, high + margin)
    bottom, top = y[inside].min(), y[inside].max()
    ax.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
    return int(np.count_nonzero(~inside))


def order_over_time(run: Trajectory) -> tuple[FloatArray, FloatArray]:
    """Return times (s) and r (n_trajectories, n_times), as observed or as saved."""
    if run.t_observed.size:
        return run.t_observed, run.r_observed
    r = np.empty(run.y.shape[:2])
    step = max(1, BLOCK // math.prod(run.y.shape[2:]))
    for trajectory, y in zip(r, run.y, strict=True):
        for first in range(0, len(y), step):
            states = unit_vectors(y[first : first + step], run.geometry)
            length = np.linalg.norm(states.mean(axis=1), axis=-1)
            trajectory[first : first + step] = np.minimum(length, 1.0)
    return run.t, r


def cluster_tolerance(run: Trajectory, after: float = 0.0) -> float:
    """Return 1 rad over the saved time from ``after`` on (rad/s).

    A turn where frequencies were observed: they include the transient, in which
    locked phases may move by up to a turn against each other.
    """
    kept = run.t[run.t >= after]
    angle = 2 * np.pi if run.frequency.size else 1.0
    return float(angle / (kept[-1] - kept[0]))


def one_trajectory(run: Trajectory, trajectory: int) -> FloatArray:
    """Return the states of one trajectory, checked to exist."""
    return np.asarray(run.y[whole_number("trajectory", trajectory, 0, len(run.y) - 1)])


def _one_each(name: str, value: FloatArray, n: int) -> FloatArray:
    found = real_array(name, value)
    if found.shape != (n,):
        raise SpecError(f"{name} must have shape ({n},), got {found.shape}")
    return found


def _edges(t: FloatArray) -> FloatArray:
    """Return the borders of the cells around times."""
    if t.size == 1:
        return np.array([t[0] - 0.5, t[0] + 0.5])
    middle = 0.5 * (t[1:] + t[:-1])
    return np.concatenate([[t[0]], middle, [t[-1]]])
