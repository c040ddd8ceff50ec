"""The figure of accuracy holds every chip, interval and chance."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from oscsim.bridge.compare import compare
from oscsim.report.figures import accuracy_figure
from oscsim.report.run_figures import accuracy_per_repeat


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def test_accuracy_has_every_chip_and_repeat(report):
    ax = accuracy_figure(report.run, report.comparison).axes[0]
    found = lines(ax)
    chips = found["chip, mean of its repeats"].get_ydata()
    np.testing.assert_allclose(chips, 100 * report.comparison.per_chip)
    repeats = found["repeat"].get_ydata().reshape(3, 2)
    np.testing.assert_allclose(repeats.mean(axis=1), chips)
    assert set(found["digital"].get_ydata()) == {100 * report.comparison.digital}
    assert ax.get_ylabel() == "accuracy on hard sentences (%)"


def test_accuracy_of_a_repeat_by_hand(report):
    run = report.run
    hard = np.flatnonzero(run.data.hard)
    right = [(run.logits[1, 0, i] > 0) == bool(run.data.labels[i]) for i in hard]
    assert accuracy_per_repeat(run)[1, 0] == pytest.approx(np.mean(right))


def test_accuracy_of_all_sentences_stands_beside(report):
    run, c = report.run, report.comparison
    ax = accuracy_figure(run, c).axes[1]
    right = (run.logits > 0) == (run.data.labels == 1)
    found = lines(ax)
    chips = found["chip, mean of its repeats"].get_ydata()
    np.testing.assert_allclose(chips, 100 * right.mean(axis=(1, 2)))
    assert set(found["digital"].get_ydata()) == {100 * c.digital_all}
    assert ax.get_ylabel() == "accuracy on all sentences (%)"
    (band,) = [p for p in ax.patches if isinstance(p, Rectangle)]
    edges = band.get_y(), band.get_y() + band.get_height()
    assert edges == pytest.approx(tuple(100 * end for end in c.ci95_all))


def test_data_without_hard_sentences_has_one_panel(report):
    run = report.run
    plain = replace(run, data=replace(run.data, hard=np.zeros(192, dtype=bool)))
    (ax,) = accuracy_figure(plain, compare(plain)).axes
    assert ax.get_ylabel() == "accuracy (%)"


@pytest.mark.parametrize("panel", [0, 1])
def test_the_chance_of_the_sentences_stands_about_the_digital_line(report, panel):
    c = report.comparison
    p, n = [(c.digital, c.n_items), (c.digital_all, 192)][panel]
    ax = accuracy_figure(report.run, c).axes[panel]
    dotted = sorted(y.get_ydata()[0] for y in ax.lines if y.get_linestyle() == ":")
    half = 100 * (p * (1 - p) / n) ** 0.5
    assert dotted == pytest.approx([100 * p - half, 100 * p + half])


def test_an_axis_of_accuracy_spans_two_points_and_holds_everything(report):
    comparison = replace(report.comparison, digital=1.0, ci95=None)
    run = replace(report.run, logits=np.where(report.run.data.labels == 1, 9.0, -9.0))
    run = replace(run, logits=np.broadcast_to(run.logits, (3, 2, 192)))
    low, high = accuracy_figure(run, comparison).axes[0].get_ylim()
    assert high - low == pytest.approx(2)
    assert low < 100 < high
    for ax in accuracy_figure(report.run, report.comparison).axes:
        low, high = ax.get_ylim()
        assert high - low >= 2 - 1e-9
        for line in ax.lines:
            assert (line.get_ydata() > low).all()
            assert (line.get_ydata() < high).all()


def test_accuracy_band_is_the_interval(report):
    spread = replace(report.comparison, ci95=(0.91, 0.97))
    ax = accuracy_figure(report.run, spread).axes[0]
    (band,) = [p for p in ax.patches if isinstance(p, Rectangle)]
    edges = band.get_y(), band.get_y() + band.get_height()
    assert edges == pytest.approx((91.0, 97.0))


def test_one_chip_has_no_band(report):
    run = replace(report.run, logits=report.run.logits[:1])
    ax = accuracy_figure(run, compare(run)).axes[0]
    assert not ax.patches
    assert "no interval" in ax.get_xlabel()
