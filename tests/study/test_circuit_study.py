"""The study of circuits with noise, mismatch and in pairs; no ngspice here."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.report.circuit_study_figure import circuit_study_figure
from oscsim.study.circuit_study import (
    LagResult,
    NoiseResult,
    SpreadResult,
    variances,
    von_mises_variance,
)


def test_the_variance_of_the_von_mises_law():
    """pi^2 / 3 for a free phase; 1/k + 1/(2 k^2) + ... for one held firmly."""
    assert von_mises_variance(0.0) == pytest.approx(np.pi**2 / 3, rel=1e-6)
    assert von_mises_variance(400.0) == pytest.approx(1 / 400 + 0.5 / 400**2, rel=1e-5)
    assert von_mises_variance(2.0) > von_mises_variance(3.0)


def test_noise_of_nothing_is_refused():
    with pytest.raises(SpecError, match=r"above 0 rad\^2/s, got 0"):
        variances([0.04, 0.0])


def test_the_figure_shows_circuits_as_markers_and_slips_apart():
    noises = [NoiseResult(d, d, d / 2, 0.49 * d, 0.03) for d in (0.01, 0.04)]
    angles = np.array([1e-3, 2e-3])
    turned = [SpreadResult(k * angles, angles, 1.1 * k * angles, 0.0) for k in (1, 2)]
    rings = [
        LagResult(0.4, ("locked", 24.0), ("locked", 25.0)),
        LagResult(1.2, ("slips", np.nan), ("slips", np.nan)),
    ]
    left, middle, right = circuit_study_figure(noises, (0.01, 0.02), turned, rings).axes
    np.testing.assert_array_equal(left.lines[0].get_ydata(), [0.0049, 0.0196])
    np.testing.assert_allclose(middle.lines[1].get_ydata(), [1.0, 2.0])
    by_label = {line.get_label(): line for line in right.lines}
    assert list(by_label["ngspice"].get_xdata()) == [0.4]
    assert list(by_label["ngspice: slips"].get_xdata()) == [1.2]
    assert list(by_label["engine"].get_ydata()) == [24.0]
