"""Figures of simulations hold the states, say their units and name bad requests."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.locking import locked_clusters
from oscsim.physics.observables import order_parameter
from oscsim.report import trajectory_figures
from oscsim.report.figures import (
    locking_figure,
    order_parameter_figure,
    phase_raster_figure,
    sphere_figure,
)
from oscsim.solve.frequencies import natural_frequencies
from oscsim.solve.simulate import simulate
from oscsim.solve.trajectory import Trajectory
from tests.helpers import random_units


def trajectory(y, geometry="torus", t1=10.0):
    y = np.asarray(y)
    return Trajectory(
        t=np.linspace(0.0, t1, y.shape[1]),
        y=y,
        geometry=geometry,
        seed=0,
        dt=0.1,
        method="rk4",
        version="0",
        status=np.full(len(y), -1),
    )


def turning(omega, n_trajectories=2, n_saved=41, t1=10.0):
    t = np.linspace(0.0, t1, n_saved)
    y = np.multiply.outer(t, np.asarray(omega))
    return trajectory(np.stack([y + k for k in range(n_trajectories)]), t1=t1)


def on_sphere(n=5, d=3, n_saved=6):
    z = [random_units(k, n, d) for k in range(n_saved)]
    return trajectory(np.stack(z)[None], "sphere")


def drawn(figure):
    """The first axes, after a whole drawing without complaints."""
    figure.draw_without_rendering()
    return figure.axes[0]


# Phase raster


def test_the_raster_shows_every_phase_relative_to_the_mean():
    run = turning([5.5, 5.4, 5.3])
    ax = drawn(phase_raster_figure(run, trajectory=1))
    shown = np.exp(1j * ax.collections[0].get_array())
    mean = np.exp(1j * run.y[1]).mean(axis=1)
    expected = (np.exp(1j * run.y[1]) * (mean.conj() / abs(mean))[:, None]).T
    np.testing.assert_allclose(shown, expected, atol=1e-12)
    np.testing.assert_allclose(np.angle(shown.mean(axis=0)), 0.0, atol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "oscillator")
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "phase from the order parameter's (rad)"
    assert [label.get_text() for label in bar.get_yticklabels()] == ["-π", "0", "π"]


def test_drifting_oscillators_do_not_turn_the_locked_ones():
    """55 of 60 locked ones stand still, however far the others have run."""
    omega = natural_frequencies("lorentzian", 60, width=0.1, seed=15)
    network = Network.kuramoto("all-to-all", omega=omega, coupling=1.0)
    result = simulate(network, t1=120, dt=0.05, save_every=4, seed=1)
    locked = np.bincount(locked_clusters(result, 1 / 60, after=60.0)[0])[0]
    assert locked == 55
    shown = drawn(phase_raster_figure(result)).collections[0].get_array()
    is_late = result.t > 60
    still = np.ptp(shown[np.abs(omega) < 0.5][:, is_late], axis=1)
    assert still.max() < 0.4
    y = result.y[0, is_late]
    field = np.unwrap(np.angle(np.exp(1j * y).mean(axis=1)))
    assert np.ptp(y.mean(axis=1) - field) > 10, "the plain mean follows the others"


def test_a_raster_of_some_rows_has_the_mean_of_all(monkeypatch):
    run = turning(np.linspace(1.0, 1.2, 25))
    every = drawn(phase_raster_figure(run)).collections[0].get_array()
    monkeypatch.setattr(trajectory_figures, "CELLS", 10)
    some = drawn(phase_raster_figure(run)).collections[0].get_array()
    np.testing.assert_array_equal(some, every[::3, ::5])


def test_the_raster_sorts_and_shows_phases_as_they_are():
    run = turning([2.0, 1.0, 3.0])
    ax = drawn(phase_raster_figure(run, relative=False, sort_by=[2.0, 1.0, 3.0]))
    shown = ax.collections[0].get_array()
    wrapped = np.angle(np.exp(1j * run.y[0])).T
    np.testing.assert_allclose(np.exp(1j * shown), np.exp(1j * wrapped[[1, 0, 2]]))
    assert ax.get_ylabel() == "oscillator, sorted"


def test_the_raster_of_the_sphere_shows_angles_or_components():
    run = on_sphere()
    ax = drawn(phase_raster_figure(run))
    mean = run.y[0].mean(axis=1)
    mean /= np.linalg.norm(mean, axis=-1, keepdims=True)
    angles = np.arccos(np.einsum("tic,tc->it", run.y[0], mean))
    np.testing.assert_allclose(ax.collections[0].get_array(), angles, atol=1e-7)
    ax = drawn(phase_raster_figure(run, relative=False))
    np.testing.assert_array_equal(ax.collections[0].get_array(), run.y[0, ..., 0].T)


def test_a_large_raster_shows_every_kth(monkeypatch):
    monkeypatch.setattr(trajectory_figures, "CELLS", 10)
    ax = drawn(phase_raster_figure(turning(np.zeros(25))))
    assert ax.collections[0].get_array().shape == (9, 9)
    assert ax.get_ylabel() == "oscillator, one in 3"
    assert ax.get_ylim()[1] == pytest.approx(26.5)


def test_times_and_frequencies_carry_prefixes():
    run = turning([2e6, -1e6], t1=4e-6)
    assert drawn(phase_raster_figure(run)).get_xlabel() == "time (µs)"
    assert drawn(order_parameter_figure(run)).get_xlabel() == "time (µs)"
    ax = drawn(locking_figure(run, [2e6, -1e6]))
    assert ax.get_xlabel() == "natural frequency (Mrad/s)"
    assert ax.get_ylabel() == "effective frequency (Mrad/s)"


# Order parameter


def test_order_of_every_trajectory_and_their_mean():
    run = turning([0.5, -0.5, 0.3], n_trajectories=3)
    ax = drawn(order_parameter_figure(run, expected=0.7))
    r = order_parameter(run)
    for line, values in zip(ax.lines, [*r, r.mean(axis=0)], strict=False):
        np.testing.assert_allclose(line.get_ydata(), values, atol=1e-15)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == [
        "trajectories",
        "mean of 3",
        "expected",
        "random states, 1/√N (rms)",
    ]
    assert ax.lines[4].get_ydata()[0] == 0.7
    assert ax.lines[5].get_ydata()[0] == pytest.approx(3**-0.5)


def test_an_observed_order_is_drawn_at_its_times():
    t, r = np.linspace(0.0, 10.0, 5), np.linspace(0.1, 0.9, 5)[None]
    run = replace(turning([1.0, 2.0], 1), t_observed=t, r_observed=r)
    line = drawn(order_parameter_figure(run)).lines[0]
    np.testing.assert_array_equal(line.get_xydata(), np.stack([t, r[0]], axis=-1))


def test_many_trajectories_are_not_all_drawn():
    ax = drawn(order_parameter_figure(turning([1.0, 2.0], n_trajectories=40)))
    labels = ax.get_legend_handles_labels()[1]
    assert labels[:2] == ["first 12 trajectories", "mean of 40"]


def test_one_oscillator_is_said_to_be_one():
    ax = drawn(order_parameter_figure(turning([1.0], n_trajectories=1)))
    assert ax.get_ylabel() == "order parameter r (one oscillator: always 1)"
    assert ax.get_legend_handles_labels()[1] == ["order parameter"]


def test_one_saved_time_is_one_point():
    run = turning([1.0, 2.0], n_trajectories=2, n_saved=1)
    ax = drawn(order_parameter_figure(run))
    assert [line.get_marker() for line in ax.lines[:3]] == ["o", "o", "o"]
    assert ax.get_xticks().tolist() == [0.0]
    ax = drawn(phase_raster_figure(run))
    assert ax.collections[0].get_array().shape == (2, 1)
    assert ax.get_xticks().tolist() == [0.0]
    drawn(sphere_figure(run))
    with pytest.raises(SpecError, match=r"1 saved times from 0\.0 s on, needed 2"):
        locking_figure(run, [1.0, 2.0])


# Locking


def test_locking_marks_the_plateau():
    omega = np.array([-1.0, -0.2, 0.0, 0.2, 1.0])
    run = turning([-0.9, 0.0, 0.0, 0.0, 0.9])
    ax = drawn(locking_figure(run, omega))
    assert ax.get_legend_handles_labels()[1] == [
        "uncoupled",
        "others",
        "largest cluster, 3 of 5",
    ]
    np.testing.assert_array_equal(ax.lines[2].get_xdata(), omega[1:4])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [-0.9, 0.9])


def test_long_tails_are_cut_off_and_counted():
    omega = np.array([-500.0, *np.linspace(-1, 1, 41), 500.0])
    ax = drawn(locking_figure(turning(omega, n_saved=3), omega))
    assert ax.get_xlim() == pytest.approx((-1.58, 1.58), abs=0.2)
    assert "outside the axes: 2" in ax.get_legend_handles_labels()[1]
    assert ax.get_xlabel() == "natural frequency (rad/s)"


def test_a_failed_trajectory_is_drawn_as_far_as_it_went():
    run = turning([1.0, 2.0])
    run.y[0, 20:] = np.nan
    shown = drawn(phase_raster_figure(run)).collections[0].get_array()
    assert np.isfinite(shown[:, :20]).all()
    assert not np.isfinite(shown[:, 20:].filled(np.nan)).any()


def test_without_a_plateau_nothing_is_locked():
    ax = drawn(locking_figure(turning([1.0, 2.0]), [1.0, 2.0], tolerance=0.5))
    assert ax.get_legend_handles_labels()[1] == ["uncoupled", "others"]
    ax = drawn(locking_figure(turning([1.0, 2.0]), [1.0, 2.0], tolerance=1.1))
    assert "largest cluster, 2 of 2" in ax.get_legend_handles_labels()[1]


# Sphere


@pytest.mark.parametrize(("d", "part"), [(3, ""), (5, ", 3 of 5 components")])
def test_paths_on_the_sphere(d, part):
    run = on_sphere(n=20, d=d)
    ax = drawn(sphere_figure(run))
    assert ax.name == "3d"
    assert ax.get_title().startswith(f"12 of 20 oscillators{part}\n")
    ax = drawn(sphere_figure(run, oscillators=[3]))
    x, y, z = ax.lines[-3].get_data_3d()
    np.testing.assert_array_equal(np.array([x, y, z]).T, run.y[0, :, 3, :3])


def test_phases_wind_outwards_on_the_circle():
    run = turning([0.5])
    ax = drawn(sphere_figure(run))
    x, y = ax.lines[-3].get_data()
    np.testing.assert_allclose(np.hypot(x, y), np.linspace(0.4, 1.0, 41))
    np.testing.assert_allclose(np.unwrap(np.arctan2(y, x)), run.y[0, :, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: phase_raster_figure(run, trajectory=2), r"in 0\.\.1, got 2"),
        (lambda run: phase_raster_figure(run, trajectory=-1), r"in 0\.\.1, got -1"),
        (lambda run: phase_raster_figure(run, sort_by=[1.0]), r"shape \(2,\), got"),
        (lambda run: locking_figure(run, [1.0]), r"omega must have shape \(2,\)"),
        (lambda run: locking_figure(run, [1, 2], trajectory=2), r"in 0\.\.1, got 2"),
        (
            lambda run: locking_figure(run, [1, 2], after=11),
            r"0 saved times from 11",
        ),
        (
            lambda run: sphere_figure(run, oscillators=[2]),
            r"each of oscillators must .* in 0\.\.1, got 2",
        ),
        (lambda run: sphere_figure(run, oscillators=[]), r"in 0\.\.1, got \[\]"),
        (lambda run: sphere_figure(run, oscillators=[0.5]), r"got 0\.5"),
        (lambda run: sphere_figure(run, oscillators=1), r"a list of numbers .* got 1"),
        (lambda run: sphere_figure(run, trajectory=0.5), r"in 0\.\.1, got 0\.5"),
        (lambda run: phase_raster_figure(run, trajectory=True), "got True"),
        (lambda run: phase_raster_figure(run, sort_by=[1j, 0]), "sort_by must hold"),
        (
            lambda run: phase_raster_figure(run, sort_by=[[1], [1, 2]]),
            "rows of sort_by",
        ),
        (lambda run: locking_figure(run, [np.nan, 1]), "omega must be finite, got nan"),
        (lambda run: locking_figure(run, [1, 2], after="x"), "after must hold real"),
        (lambda run: locking_figure(run, [1, 2], tolerance=-1), "tolerance must be"),
        (lambda run: order_parameter_figure(run, expected="r"), "expected must hold"),
        (lambda run: order_parameter_figure(run, expected=np.inf), "expected must be"),
        (lambda run: sphere_figure(run, trajectory=5), r"in 0\.\.1, got 5"),
    ],
)
def test_bad_requests_are_refused(call, message):
    with pytest.raises(SpecError, match=message):
        call(turning([1.0, 2.0]))
