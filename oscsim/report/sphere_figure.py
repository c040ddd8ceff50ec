"""Paths of unit vectors on the circle and on the sphere."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from oscsim.arrays import shown, whole_number
from oscsim.errors import SpecError
from oscsim.physics.observables import unit_vectors
from oscsim.report.canvas import BLUE, INK, LINES, ORANGE, PALE, blank
from oscsim.report.trajectory_figures import PATHS, one_trajectory
from oscsim.solve.trajectory import Trajectory


def sphere_figure(
    run: Trajectory, *, trajectory: int = 0, oscillators: Sequence[int] | None = None
) -> Figure:
    """Draw paths of unit vectors: on the circle, or on a sphere in perspective.

    Parameters
    ----------
    run : Trajectory
        Result of a simulation; phases are drawn on the circle.
    trajectory : int
        Which of its trajectories.
    oscillators : sequence of int, optional
        Which paths; at most 12, evenly spread, if absent.

    Returns
    -------
    Figure
        Open marker: start; filled marker: end. In the plane the radius grows
        with time; of more than three components the first three.

    Raises
    ------
    SpecError
        If there is no such trajectory or oscillator.
    """
    y = one_trajectory(run, trajectory)
    n = y.shape[1]
    if oscillators is None:
        chosen = np.unique(np.linspace(0, n - 1, min(PATHS, n)).astype(int))
    else:
        any_of: Any = oscillators
        given = list(any_of) if isinstance(any_of, Iterable) else []
        if not given:
            raise SpecError(
                f"oscillators must be a list of numbers in 0..{n - 1}, got "
                f"{shown(oscillators)}"
            )
        chosen = np.array(
            [whole_number("each of oscillators", k, 0, n - 1) for k in given]
        )
    z = unit_vectors(y[:, chosen], run.geometry)
    d = z.shape[-1]
    axes = min(d, 3)
    part = "" if d <= 3 else f", 3 of {d} components"
    if axes == 2:
        z = z * np.linspace(0.4, 1.0, len(z))[:, None, None]
        part = ", time outwards"
    with blank(4.4, 4.4) as figure:
        ax: Any = figure.add_subplot(projection="3d" if axes == 3 else None)
        _draw_ball(ax, axes)
        for number in range(chosen.size):
            path = z[:, number, :axes]
            line = LINES[number % len(LINES)]
            shade = (BLUE, ORANGE, INK)[number % 3]
            ax.plot(*path.T, color=shade, ls=line, lw=1.1)
            ax.plot(*path[:1].T, "o", color=shade, mfc="white", ms=5)
            ax.plot(*path[-1:].T, "o", color=shade, ms=5)
        _name_components(ax, axes)
        ax.set_title(
            f"{chosen.size} of {n} oscillators{part}\nopen: start, filled: end"
        )
    return figure


def _name_components(ax: Any, n_axes: int) -> None:
    lines = [ax.xaxis, ax.yaxis, ax.zaxis] if n_axes == 3 else [ax.xaxis, ax.yaxis]
    for number, axis in enumerate(lines):
        axis.set_ticks([-1, 0, 1])
        axis.set_label_text(f"$z_{number + 1}$")
        if n_axes == 3:
            axis.pane.fill = False
    ax.set_aspect("equal")
    if n_axes == 3:
        ax.grid(visible=False)
        ax.set_box_aspect((1, 1, 1), zoom=0.85)


def _draw_ball(ax: Any, n_axes: int) -> None:
    turn = np.linspace(0.0, 2 * math.pi, 181)
    c, s = np.cos(turn), np.sin(turn)
    if n_axes == 2:
        for radius in (0.4, 1.0):
            ax.plot(radius * c, radius * s, color=PALE, lw=1.0)
        return
    for latitude in np.radians([-60, -30, 0, 30, 60]):
        a, b = math.cos(latitude), math.sin(latitude)
        ax.plot(a * c, a * s, np.full_like(c, b), color=PALE, lw=0.7)
    for longitude in np.radians([0, 45, 90, 135]):
        a, b = math.cos(longitude), math.sin(longitude)
        ax.plot(a * c, b * c, s, color=PALE, lw=0.7)
