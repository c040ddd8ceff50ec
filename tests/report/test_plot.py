"""One call draws every result, and says what it can draw."""

import numpy as np
import pytest

import oscsim as osc
from oscsim.bridge.cost import price
from oscsim.errors import SpecError
from oscsim.report.figures import Agreement, agreement_figure
from oscsim.study.convergence import convergence
from tests.report.test_study_figures import result
from tests.report.test_trajectory_figures import turning


@pytest.mark.parametrize(
    ("kind", "options", "label"),
    [
        (None, {}, "oscillator"),
        ("raster", {"relative": False}, "oscillator"),
        ("order", {}, "order parameter r"),
        ("locking", {"omega": [1.0, 2.0]}, "effective frequency (rad/s)"),
        ("sphere", {}, "$z_2$"),
    ],
)
def test_a_trajectory_has_four_figures(kind, options, label):
    figure = osc.plot(turning([1.0, 2.0]), kind, **options)
    assert figure.axes[0].get_ylabel() == label


def test_runs_and_their_cost(run, report):
    assert "accuracy" in osc.plot(run).axes[0].get_ylabel()
    assert "per 1/10 decade" in osc.plot(run, "drive").axes[0].get_ylabel()
    assert "per 1/10 decade" in osc.plot(run, "settling").axes[0].get_ylabel()
    assert osc.plot(price(run)).axes
    assert osc.plot(report.maps).axes


def test_studies_alone_or_as_a_list():
    curve = convergence(2, h_norm=1.0, times=[1.0], sample=10)
    for one in (curve, [curve], (curve, curve)):
        assert osc.plot(one).axes[0].get_ylabel() == "within 0.01 rad (%)"
    assert len(osc.plot([result(), result("b")]).axes) == len(osc.plot(result()).axes)


@pytest.mark.parametrize(
    ("thing", "kind", "message"),
    [
        (np.zeros(3), None, "no figure of a ndarray: give one of Trajectory, Run"),
        ("text", None, "no figure of a str"),
        ([], None, "no figure of a list"),
        (turning([1.0]), "pie", "figures raster, order, locking, sphere, got 'pie'"),
        ([turning([1.0])], None, "no figure of a Trajectory"),
    ],
)
def test_what_cannot_be_drawn_is_refused(thing, kind, message):
    with pytest.raises(SpecError, match=message):
        osc.plot(thing, kind)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("locking", {}, "figure 'locking' needs omega"),
        ("locking", {"omega": [np.nan, 1]}, "omega must be finite, got nan at index 0"),
        ("raster", {"color": "red"}, "'raster' takes trajectory, .* got 'color'"),
        ("order", {"trajectory": 0}, "'order' takes expected, got 'trajectory'"),
        (["raster"], {}, r"raster, order, locking, sphere, got \['raster'\]"),
    ],
)
def test_options_are_those_of_the_figure(kind, options, message):
    with pytest.raises(SpecError, match=message):
        osc.plot(turning([1.0, 2.0]), kind, **options)


def test_options_of_other_results(run):
    with pytest.raises(SpecError, match="figure 'drive' takes no options, got 'omega'"):
        osc.plot(run, "drive", omega=1)
    with pytest.raises(SpecError, match="figure 'agreement' needs x_label"):
        osc.plot(Agreement("a", [], [], [], []))


def test_agreement_draws_points_on_a_curve():
    x = np.array([1.0, 2.0])
    one = Agreement("case", x, x**2, np.linspace(0, 3, 7), np.zeros(7), 0.1 * x)
    figure = osc.plot([one, one], x_label="x (s)", y_label="y (1)")
    figure.draw_without_rendering()
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (s)", "y (1)")
    points, _, (whiskers,) = ax.containers[1]
    np.testing.assert_array_equal(points.get_ydata(), x**2)
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 0.4 * x)
    bare = Agreement("bare", x, x, x, x)
    assert len(osc.plot(bare, x_label="", y_label="").axes[0].containers) == 1
    with pytest.raises(SpecError, match="got 0 curves"):
        agreement_figure([], x_label="", y_label="")
