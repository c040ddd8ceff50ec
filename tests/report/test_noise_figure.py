"""Bits per byte against the noise: lines, whiskers and the place of zero."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.report.figures import noise_figure
from oscsim.study.noise import NoiseByDimension

RELATIVE = np.array([0.0, 0.01, 0.1])


def result():
    rng = np.random.default_rng(0)
    return NoiseByDimension(
        checkpoints=("on$e", "two"),
        d_osc=(2, 8),
        relative=RELATIVE,
        medians=np.ones(2),
        layer_medians=np.ones((2, 2)),
        digital=rng.random((2, 5)),
        bits=2 + rng.random((2, 3, 2, 5)),
        seed=0,
    )


def test_left_the_means_and_right_the_paired_differences():
    found = result()
    figure = noise_figure(found, 1)
    figure.draw_without_rendering()
    left, right = figure.axes
    difference, spread = found.differences(1)
    for number in range(2):
        x, y = left.containers[number][0].get_data()
        np.testing.assert_allclose(y, found.mean[number])
        np.testing.assert_allclose(x, [0.01 / 3, 0.01, 0.1], rtol=0.025)
        points, _, (whiskers,) = right.containers[number]
        np.testing.assert_allclose(points.get_ydata(), difference[number])
        ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
        half = 2 * spread[number]
        np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * half, atol=1e-12)
    assert right.get_ylabel() == "bits per byte minus those of d_osc 8"
    assert [t.get_text() for t in left.get_xticklabels()] == ["0", ".01", ".1"]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [r"d_osc 2 (on\$e)", "d_osc 8 (two)"]


def test_wrong_requests():
    quiet = NoiseByDimension(
        ("one",),
        (2,),
        np.zeros(1),
        np.ones(1),
        np.ones((1, 1)),
        np.ones((1, 3)),
        np.ones((1, 1, 1, 3)),
        0,
    )
    with pytest.raises(SpecError, match=r"no noise is above 0, got \[0.0\]"):
        noise_figure(quiet)
    with pytest.raises(SpecError, match=r"model must be in 0\.\.1: 2"):
        noise_figure(result(), 2)
