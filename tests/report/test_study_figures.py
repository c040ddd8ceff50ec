"""Curves of the studies hold the results and say their units."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.report.figures import convergence_figure, robustness_figure
from oscsim.report.study_figures import said_of_scores
from oscsim.study.convergence import Convergence, convergence, share_within
from oscsim.study.robustness import Robustness, Row


def result(name="model", kinds=("coupling", "state")):
    rng = np.random.default_rng(len(name))
    return Robustness(
        checkpoint=name,
        metric="hard_accuracy",
        n_items=100,
        digital=0.97,
        kinds=kinds,
        strengths=np.array([0.1, 0.5]),
        perturbed=rng.random((len(kinds), 2, 3)),
        times=np.array([1.0, 5.0, 30.0]),
        settled=rng.random((3, 3)),
        unsettled=np.zeros(3),
        seed=0,
    )


def test_one_panel_a_kind_with_every_mean():
    one, two = result("one"), result("second")
    figure = robustness_figure([one, two])
    axes = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in axes] == [
        "coupling perturbed",
        "state perturbed",
        "random start, read after T",
    ]
    for k, ax in enumerate(axes[:2]):
        for line, found in zip(ax.containers, (one, two), strict=True):
            x, y = line[0].get_data()
            np.testing.assert_allclose(
                np.array(x, float), found.strengths, rtol=0.025, atol=0
            )
            np.testing.assert_allclose(y, 100 * found.perturbed[k].mean(axis=1))
    x, y = axes[2].containers[1][0].get_data()
    np.testing.assert_allclose(np.array(x, float), two.times, rtol=0.025)
    np.testing.assert_allclose(y, 100 * two.settled.mean(axis=1))
    assert axes[0].get_ylabel() == "accuracy on hard sentences (%)"
    assert axes[2].get_xlabel() == "settling time T (model time units)"
    assert axes[0].get_xlabel() == "strength s (dimensionless)"


def test_models_stand_aside_of_each_other_and_of_nothing_alone():
    figure = robustness_figure([result("one"), result("second")])
    one, two = (c[0].get_xdata() for c in figure.axes[0].containers)
    np.testing.assert_allclose((two / one).astype(float), 1.04)
    alone = robustness_figure([result()]).axes[0].containers[0][0].get_xdata()
    np.testing.assert_array_equal(alone, [0.1, 0.5])


def test_every_panel_has_the_digital_level_of_every_model():
    results = [result("one"), replace(result("second"), digital=0.9)]
    figure = robustness_figure(results)
    for ax in figure.axes[:3]:
        level = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
        curves = [container[0] for container in ax.containers]
        found = {line.get_color(): line.get_ydata()[0] for line in level}
        assert found == {curves[0].get_color(): 97.0, curves[1].get_color(): 90.0}
    (said,) = figure.legends
    labels = [text.get_text() for text in said.get_texts()]
    assert labels.count("digital, in the colour of its model") == 1


def test_whiskers_reach_the_smallest_and_largest_redraw():
    found = result()
    ax = robustness_figure([found]).axes[1]
    _, _, (whiskers,) = ax.containers[0]
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
    expected = [found.perturbed[1].min(axis=1), found.perturbed[1].max(axis=1)]
    np.testing.assert_allclose(ends, 100 * np.array(expected).T)


def test_reference_rows_are_beside():
    reference = [Row("elsewhere", "state", s, 0.9, 0.9, 0.9) for s in (0.1, 0.5)]
    figure = robustness_figure([result("mo$del")], reference)
    figure.draw_without_rendering()
    assert [len(ax.containers) for ax in figure.axes[:3]] == [1, 2, 1]
    np.testing.assert_allclose(figure.axes[1].containers[1][0].get_ydata(), [90, 90])


def test_bits_per_byte_are_drawn_as_they_are_and_each_panel_on_its_own_scale():
    found = replace(result(), metric="bits_per_byte", digital=2.3)
    figure = robustness_figure([found])
    axes = [ax for ax in figure.axes if ax.get_visible()]
    for k, ax in enumerate(axes[:2]):
        mean = found.perturbed[k].mean(axis=1)
        np.testing.assert_allclose(ax.containers[0][0].get_ydata(), mean)
        assert [line.get_ydata()[0] for line in ax.lines if line.get_lw() == 0.7] == [
            2.3
        ]
        _, _, (whiskers,) = ax.containers[0]
        ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
        np.testing.assert_allclose(ends[:, 0], found.perturbed[k].min(axis=1))
    assert [ax.get_ylabel() for ax in axes] == ["bits per byte"] * 3
    assert not axes[0].get_shared_y_axes().joined(axes[0], axes[1])
    assert figure.get_supxlabel() == "every panel has a vertical scale of its own"
    shared = robustness_figure([result()])
    assert shared.axes[0].get_shared_y_axes().joined(*shared.axes[:2])
    assert shared.get_supxlabel() == ""


def test_figures_of_nothing_or_of_mixed_studies_are_refused():
    with pytest.raises(SpecError, match="got 0 results"):
        robustness_figure([])
    with pytest.raises(SpecError, match="give results of one study"):
        robustness_figure([result(), result("x", kinds=("state", "coupling"))])
    with pytest.raises(SpecError, match="got 0 curves"):
        convergence_figure([])
    near = convergence(2, h_norm=1.0, times=[1.0], sample=10)
    with pytest.raises(SpecError, match=r"share one angle, got \[0.01, 0.02\]"):
        convergence_figure([near, replace(near, within_rad=0.02)])


def test_convergence_has_sample_and_closed_form_of_every_drive():
    curves = [
        convergence(d, h_norm=h, times=[2 / h, 6 / h], sample=500)
        for h in (2.0, 0.5)
        for d in (2, 8)
    ]
    axes = np.array(convergence_figure(curves).axes).reshape(2, 2)
    for column, h in enumerate((2.0, 0.5)):
        above, below = axes[:, column]
        assert above.get_title() == f"drive |h| = {h:g} rad/s"
        for k, curve in enumerate(curves[2 * column : 2 * column + 2]):
            line, points = above.lines[2 * k : 2 * k + 2]
            np.testing.assert_allclose(points.get_xdata(), [2, 6])
            np.testing.assert_allclose(points.get_ydata(), 100 * curve.measured)
            x, y = line.get_data()
            np.testing.assert_allclose(y, 100 * share_within(curve.d_osc, x, 0.01))
            np.testing.assert_array_equal(below.lines[k].get_ydata(), curve.z_scores())
        assert "|h| T" in below.get_xlabel()
    assert axes[0, 0].get_ylabel() == "within 0.01 rad (%)"


def test_chance_is_said_beside_the_z_scores():
    """Shifts of 0, 1, 3 and -3 standard errors, and one that has no z."""
    exact = np.full(5, 0.5)
    exact[4] = 0.0
    error = 0.5 / 100
    measured = exact + error * np.array([0, 1, 3, -3, 0])
    curve = Convergence(2, 1.0, np.arange(1.0, 6.0), 0.01, measured, exact, 10_000, 0)
    assert said_of_scores([curve]) == "2 of 4 z-scores beyond 2, 0.2 by chance"
    many = said_of_scores([curve] * 11)
    assert many == "22 of 44 z-scores beyond 2, 2.0 by chance"
    figure = convergence_figure([curve])
    assert figure.get_supxlabel() == said_of_scores([curve])
