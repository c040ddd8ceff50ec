"""Order and attention by layer, where both follow from the model by hand."""

import math

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.models.kuramoto_attention import PhasePass, forward
from oscsim.report.figures import phase_layers_figure
from oscsim.report.plot import plot
from oscsim.study.phase_layers import phase_layers
from oscsim.substrate.device import Device
from tests.models.kuramoto_models import T, V, model, tokens


def silent(**changes):
    """A model whose layers do nothing and whose attention is uniform."""
    config, weights = model(gates=False, ffn="off", d_ff=None, **changes)
    for name in weights:
        if name.endswith(("log_tau", "omega")) and "attn" in name:
            weights[name] = weights[name] * 0 - (60.0 if "tau" in name else 0.0)
        if name.endswith(("Wv.weight", "bv")):
            weights[name] = weights[name] * 0
    return config, weights


def test_equal_phases_are_in_perfect_order_under_uniform_attention():
    config, weights = silent()
    weights["embed.weight"] = np.full_like(weights["embed.weight"], 0.3)
    table = phase_layers(weights, config, tokens(3))
    uniform = np.mean(np.log(np.arange(1, T + 1)))
    assert len(table.rows) == config.n_layers
    for row in table.rows:
        assert row.r_local == pytest.approx(1, abs=1e-12)
        assert row.r_global == pytest.approx(1, abs=1e-12)
        assert row.entropy == pytest.approx(uniform, abs=1e-12)
        assert row.entropy_share == pytest.approx(1, abs=1e-12)
        assert (row.omega, row.outside) == (0, 0)
        assert math.isnan(row.gap)


def test_opposite_phases_cancel():
    """Tokens 0 and pi in turn: |G| after t of them is (t odd) / t."""
    config, weights = silent()
    weights["embed.weight"] = np.pi * (np.arange(V) % 2)[:, None] * np.ones(6)
    ids = np.tile([2, 3], T // 2)[None]
    table = phase_layers(weights, config, ids)
    t = np.arange(1, T + 1)
    assert table.rows[0].r_local == pytest.approx(np.mean(t % 2 / t), abs=1e-12)
    assert table.rows[0].r_global == pytest.approx(0, abs=1e-12)


def test_against_the_arrays_of_one_pass_and_blind_to_how_it_is_cut():
    config, weights = model(phase_convention="unwrapped")
    ids = tokens(70)
    table = phase_layers(weights, config, ids)
    run = PhasePass(attention=[], phases=[], order=[])
    forward(weights, config, ids, run=run)
    for row in table.rows:
        theta, a = run.phases[row.layer], run.attention[row.layer]
        assert row.r_local == pytest.approx(run.order[row.layer].mean())
        window = np.abs(np.exp(1j * theta).mean(1)).mean()
        assert row.r_global == pytest.approx(window)
        inside = a[a > 0]
        entropy = -(inside * np.log(inside)).sum() / (70 * T)
        assert row.entropy == pytest.approx(entropy)
        assert row.outside == pytest.approx(np.mean(np.abs(theta) > np.pi))
        omega = weights[f"layers.{row.layer}.attn.omega"]
        assert row.omega == pytest.approx(np.abs(omega).mean())
    assert (table.on, table.n_windows, table.context) == ("digital", 70, T)


def test_on_a_chip_the_gap_between_flow_and_map_is_reported_and_drawn():
    config, weights = model()
    ideal = Device.load("ideal")
    tables = [
        phase_layers(weights, config, tokens(), device=device, update=how)
        for device, how in ((None, "map"), (ideal, "map"), (ideal, "flow"))
    ]
    digital, mapped, flowed = tables
    for one, other in zip(digital.rows, mapped.rows, strict=True):
        assert other.r_global == pytest.approx(one.r_global, abs=1e-12)
        assert other.gap < 1e-12
    assert all(row.gap > 0.01 for row in flowed.rows)
    assert flowed.on == "ideal, flow"
    figure = phase_layers_figure(tables)
    assert len(figure.axes) == 5
    assert len(figure.axes[0].lines) == 3
    assert len(figure.axes[4].lines) == 2
    shown = figure.axes[4].lines[1].get_ydata()
    np.testing.assert_array_equal(shown, [row.gap for row in flowed.rows])
    assert len(plot(digital).axes) == 4
    assert len(plot(tables, "layers").axes) == 5


def test_rates_that_are_switched_off_are_0():
    config, weights = model(omega="zero")
    assert phase_layers(weights, config, tokens()).rows[0].omega == 0


def test_nothing_is_refused():
    config, weights = model()
    with pytest.raises(SpecError, match=r"one window of two tokens, got shape \(0, 6"):
        phase_layers(weights, config, tokens(0))
    with pytest.raises(SpecError, match="got 0 tables"):
        phase_layers_figure([])
