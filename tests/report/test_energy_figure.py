"""Bars of the energy figure add up to the ledger's totals."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.container import BarContainer, ErrorbarContainer

from oscsim.bridge.cost import attention_by_phase, attention_j, price
from oscsim.counts import PHASES as COUNTED
from oscsim.report.energy_figure import PHASES, by_group, by_phase, energy_figure
from oscsim.substrate.device import Device

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
    assert "p10..p90" in container.get_label()
    assert "assumption range" in ax.get_xlabel()
    assert ax.get_xlim()[1] > max(r.p90 for r in ranges) / NANO


def test_groups_sum_to_the_three_totals(report):
    ledger = report.cost.substrate
    parts = by_group(ledger)

    def sums(*groups):
        return sum(joules for (group, _), joules in parts.items() if group in groups)

    assert sums("core") == pytest.approx(ledger.nominal_j("core"))
    assert sums("core", "converters") == pytest.approx(ledger.nominal_j("converters"))
    assert sum(parts.values()) == pytest.approx(ledger.nominal_j())
    assert sum(by_phase(ledger).values()) == pytest.approx(ledger.nominal_j())


def test_component_points_carry_their_joules(report):
    ax = energy_figure(report.cost).axes[2]
    names = [label.get_text() for label in ax.get_yticklabels()]
    found = {
        names[int(row)]: joules
        for line in ax.lines
        for joules, row in zip(*line.get_data(), strict=True)
    }
    expected = report.cost.substrate.by_component
    assert found == pytest.approx({name: expected[name] for name in found})
    assert sum(found.values()) == pytest.approx(report.cost.substrate.nominal_j())
    assert not ax.patches
    assert ax.get_xscale() == "log"
    assert "J per token, nominal" in ax.get_xlabel()


def test_the_attention_stage_has_a_panel_of_its_own(report):
    cost = report.cost
    ax = energy_figure(cost).axes[1]
    ledgers = [cost.substrate, *cost.rivals.values()]
    expected = [attention_j(ledger) / NANO for ledger in ledgers]
    np.testing.assert_allclose(bars(ax).sum(axis=1), expected)
    settle = next(c for c in ax.containers if c.get_label() == "settle")
    share = settle[0].get_width() / ax.get_xlim()[1]
    assert share > 0.05, "settling must be visible"
    assert "read-out" in [c.get_label() for c in ax.containers]


def test_a_phase_has_its_own_look_in_every_report(report):
    assert set(PHASES) == set(COUNTED)
    stage = set(attention_by_phase(report.cost.substrate))
    assert {"memory", "settle"} <= stage < set(PHASES)
    assert len({(fill, hatch) for _, fill, hatch in PHASES.values()}) == len(PHASES)
    assert PHASES["control"][0] == "leakage, clock, calibration"

    def looks(cost, panel):
        found = {}
        for stack in energy_figure(cost).axes[panel].containers:
            if isinstance(stack, BarContainer):
                bar = stack[0]
                found[stack.get_label()] = bar.get_facecolor(), bar.get_hatch()
        return found

    run, device = report.run, Device.load("lc-board")
    other = price(replace(run, setting=replace(run.setting, device=device)))
    here, there = looks(report.cost, 0), looks(other, 0)
    assert "other phases" not in here
    assert {"settle", "read-out"} <= set(here)
    assert all(here[name] == look for name, look in there.items() if name in here)
    assert looks(report.cost, 1).items() <= here.items()


def test_a_converter_of_the_survey_brings_its_floor(report):
    """The floor acts in draws even where the nominal price is above it."""
    run, device = report.run, Device.load("lc-board")
    other = price(replace(run, setting=replace(run.setting, device=device)))
    floor = "adc.envelope_floor"
    assert floor in [part.id for part in other.components]
    assert floor not in [part.id for part in report.cost.components]
