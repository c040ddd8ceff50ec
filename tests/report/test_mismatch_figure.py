"""Losses over the variance, and the angle, by position."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.report.figures import mismatch_figure
from oscsim.study.mismatch_table import MismatchByContext


def result(name="on$e"):
    rng = np.random.default_rng(0)
    return MismatchByContext(
        checkpoint=name,
        strengths=np.array([0.2, 0.5]),
        last=(8, 16, 32),
        digital=np.zeros((5, 3)),
        lost=rng.random((2, 2, 4, 5, 3)),
        turn=np.array([[0.4, 0.5, 0.6], [0.3, 0.7, 0.8]]),
        effective=np.ones((2, 3)),
        aligned=np.ones((2, 3)),
        seed=0,
    )


def test_every_loss_is_over_its_variance_and_every_layer_has_its_angle():
    found = result()
    figure = mismatch_figure([found, result("two")])
    figure.draw_without_rendering()
    above, _, below, _ = figure.axes
    lines = iter(above.containers)
    for k, kind in enumerate(("static", "redrawn")):
        for n, s in enumerate(found.strengths):
            container = next(lines)
            unit = np.exp(s**2) - 1
            points, _, (whiskers,) = container
            np.testing.assert_allclose(points.get_ydata(), found.mean[k, n] / unit)
            ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
            half = 2 * found.error[k, n] / unit
            np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * half)
            assert container.get_label() == f"{kind}, s = {s:g}"
    for layer in range(2):
        np.testing.assert_allclose(below.lines[layer].get_ydata(), found.turn[layer])
    falling = 0.4 * np.sqrt(4.5 / np.array([4.5, 12.5, 24.5]))
    np.testing.assert_allclose(below.lines[2].get_ydata(), falling)
    assert [t.get_text() for t in below.get_xticklabels()] == ["1-8", "9-16", "17-32"]
    assert above.get_title() == r"on\$e"


def test_wrong_requests():
    with pytest.raises(SpecError, match="got 0 results"):
        mismatch_figure([])
    with pytest.raises(SpecError, match=r"two has bins to \(8, 16, 64\)"):
        mismatch_figure([result(), replace(result("two"), last=(8, 16, 64))])
    other = replace(result("two"), strengths=np.array([0.1, 0.5]))
    with pytest.raises(SpecError, match=r"strengths \[0.1, 0.5\]"):
        mismatch_figure([result(), other])
    with pytest.raises(SpecError, match=r"above 0, got \[0.0, 0.5\]"):
        mismatch_figure([replace(result(), strengths=np.array([0.0, 0.5]))])
