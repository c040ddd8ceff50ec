"""Histograms of a run hold every oscillator and say their units."""

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import StepPatch

from oscsim.errors import SpecError
from oscsim.report.figures import angle_figure, drive_figure, settling_figure
from oscsim.substrate.device import Device
from oscsim.substrate.tally import LOG10_EDGES, SettleTally, histogram_quantile


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def said(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def shares(text):
    """The percentages that a legend says of either side of the axis."""
    return [
        float(line.split(": ")[1].rstrip(" %"))
        for line in text
        if line.startswith(("left of", "right of"))
    ]


@pytest.mark.parametrize(
    ("draw", "histogram"),
    [
        (drive_figure, "field_histogram"),
        (settling_figure, "time_histogram"),
        (lambda comparison, _device: angle_figure(comparison), "error_histogram"),
    ],
)
def test_histograms_hold_every_oscillator(report, draw, histogram):
    figure = draw(report.comparison, report.run.setting.acting_device)
    ax = figure.axes[0]
    filled = next(p for p in ax.patches if isinstance(p, StepPatch))
    bars, edges, _ = filled.get_data()
    counts = getattr(report.comparison.tally, histogram)
    outside = 100 * (counts[0] + counts[-1]) / counts.sum()
    assert bars.sum() + outside == pytest.approx(100)
    left, right = ax.get_xlim()
    seen = bars[(edges[:-1] >= left * 0.999) & (edges[1:] <= right * 1.001)].sum()
    assert seen + sum(shares(said(figure))) == pytest.approx(100, abs=0.02)
    assert "%" in ax.get_ylabel()


def test_drive_has_both_units_and_the_limit_of_the_device(report):
    device = report.run.setting.acting_device
    figure = drive_figure(report.comparison, device)
    ax = figure.axes[0]
    assert ax.get_xlabel() == "drive |h| / coupling_max"
    (top,) = ax.child_axes
    assert top.get_xlabel() == "drive |h| (rad/s)"
    figure.draw_without_rendering()
    np.testing.assert_allclose(
        top.get_xlim(), device.coupling_max * np.array(ax.get_xlim())
    )
    expected = 0.1 * 2 * math.pi * 230e6 / 7.2e7
    (limit,) = [line for line in ax.lines if "limit" in line.get_label()]
    assert limit.get_xdata()[0] == pytest.approx(expected)
    assert ax.get_xlim()[0] < expected < ax.get_xlim()[1]


def test_median_of_the_drives_is_where_the_bars_are(report):
    """Against the tally's own quantile; a shifted axis would be off by a factor."""
    tally = report.comparison.tally
    ax = drive_figure(report.comparison, report.run.setting.acting_device).axes[0]
    bars, edges, _ = next(p for p in ax.patches if isinstance(p, StepPatch)).get_data()
    below = np.cumsum(bars) + 100 * tally.field_histogram[0] / tally.oscillators
    bin_of_median = int(np.searchsorted(below, 50))
    counts = np.cumsum(tally.field_histogram)
    fine = int(np.searchsorted(counts, counts[-1] / 2))
    middle = 10 ** (-6 + 0.05 * (fine - 0.5))
    assert edges[bin_of_median] <= middle <= edges[bin_of_median + 1]


def test_settling_marks_the_time_and_says_the_unsettled_share(report):
    comparison = report.comparison
    figure = settling_figure(comparison, report.run.setting.acting_device)
    ax = figure.axes[0]
    assert ax.get_xlabel() == "time to 0.01 rad of the drive (s)"
    (mark,) = [line for line in ax.lines if "settling time" in line.get_label()]
    assert mark.get_xdata()[0] == 1e-6
    share = 100 * comparison.tally.unsettled / comparison.tally.oscillators
    assert f"drive too weak for 0.01 rad in that time: {share:.2f} %" in said(figure)
    bars, edges, _ = next(p for p in ax.patches if isinstance(p, StepPatch)).get_data()
    never = 100 * comparison.tally.time_histogram[-1] / comparison.tally.oscillators
    late = bars[edges[:-1] >= 0.95e-6].sum() + never
    assert late == pytest.approx(share, abs=bars.max())


def test_model_units_are_named_and_have_no_second_axis(report):
    device = Device.load("ideal").changed(settle_time=5.0)
    drives = drive_figure(report.comparison, device).axes[0]
    assert drives.get_xlabel() == "drive |h| (model units)"
    assert not drives.child_axes
    times = settling_figure(report.comparison, device)
    assert "(model units)" in times.axes[0].get_xlabel()
    assert "settling time, 5 model units" in said(times)


def test_angles_mark_0_01_rad_median_and_p90(report):
    figure = angle_figure(report.comparison)
    ax = figure.axes[0]
    assert ax.get_xlabel() == "angle between state and drive when read (rad)"
    marks = {label: line.get_xdata()[0] for label, line in lines(ax).items()}
    errors = report.comparison.tally.error_histogram
    median, p90 = (histogram_quantile(errors, q) for q in (0.5, 0.9))
    assert marks["0.01 rad"] == 0.01
    assert marks[f"median, {median:.2g} rad"] == median
    assert marks[f"p90, {p90:.2g} rad"] == p90
    low, high = ax.get_xlim()
    assert low < 0.01 < median < p90 < high


def test_angles_of_exact_states_have_no_line_at_zero(report):
    tally = SettleTally(oscillators=5)
    tally.error_histogram[0] = 5
    figure = angle_figure(replace(report.comparison, tally=tally))
    assert "median, 0 rad" in said(figure)
    assert "left of the axis: 100.00 %" in said(figure)
    assert figure.axes[0].get_xlim()[0] >= 10 ** LOG10_EDGES[0]


@pytest.mark.parametrize(
    "draw",
    [drive_figure, settling_figure, lambda comparison, _: angle_figure(comparison)],
)
def test_nothing_settled_is_refused(report, draw):
    empty = replace(report.comparison, tally=SettleTally())
    with pytest.raises(SpecError, match=r"tally of 0: use a rung above digital"):
        draw(empty, report.run.setting.acting_device)
