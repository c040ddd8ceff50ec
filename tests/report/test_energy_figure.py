"""Bars of the energy figure add up to the ledger's totals."""

import numpy as np
import pytest
from matplotlib.container import BarContainer, ErrorbarContainer

from oscsim.report.energy_figure import by_group, by_phase, energy_figure

NANO = 1e-9


def bars(ax):
    """Widths of the stacked bars, shape (rows, parts)."""
    stacks = [c for c in ax.containers if isinstance(c, BarContainer)]
    return np.array([[bar.get_width() for bar in stack] for stack in stacks]).T


def test_phases_sum_to_the_nominal_total_of_every_ledger(report):
    cost = report.cost
    ax = energy_figure(cost).axes[0]
    ledgers = [cost.substrate, *cost.rivals.values()]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["substrate", *cost.rivals]
    np.testing.assert_allclose(
        bars(ax).sum(axis=1), [ledger.nominal_j() / NANO for ledger in ledgers]
    )
    assert "nJ per token" in ax.get_xlabel()


def test_whiskers_are_the_assumption_range(report):
    cost = report.cost
    ax = energy_figure(cost).axes[0]
    (container,) = [c for c in ax.containers if isinstance(c, ErrorbarContainer)]
    marker, _, (whiskers,) = container
    ranges = [x.range_j() for x in (cost.substrate, *cost.rivals.values())]
    np.testing.assert_allclose(marker.get_xdata(), [r.p50 / NANO for r in ranges])
    ends = [segment[:, 0] for segment in whiskers.get_segments()]
    np.testing.assert_allclose(ends, [(r.p10 / NANO, r.p90 / NANO) for r in ranges])
    assert "assumption range" in container.get_label()


def test_groups_sum_to_the_three_totals(report):
    ledger = report.cost.substrate
    parts = by_group(ledger)

    def sums(*groups):
        return sum(joules for (group, _), joules in parts.items() if group in groups)

    assert sums("core") == pytest.approx(ledger.nominal_j("core"))
    assert sums("core", "converters") == pytest.approx(ledger.nominal_j("converters"))
    assert sum(parts.values()) == pytest.approx(ledger.nominal_j())
    assert sum(by_phase(ledger).values()) == pytest.approx(ledger.nominal_j())


def test_component_bars_carry_their_joules(report):
    ax = energy_figure(report.cost).axes[1]
    drawn = {
        round(bar.get_y() + bar.get_height() / 2): bar.get_width()
        for container in ax.containers
        for bar in container
    }
    names = [label.get_text() for label in ax.get_yticklabels()]
    found = {names[row]: joules for row, joules in drawn.items()}
    expected = report.cost.substrate.by_component
    assert found == pytest.approx({name: expected[name] for name in found})
    assert sum(found.values()) == pytest.approx(report.cost.substrate.nominal_j())
    assert "J per token" in ax.get_xlabel()
