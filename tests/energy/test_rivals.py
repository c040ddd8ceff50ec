"""Rivals by hand, on one shape small enough to count on paper."""

from dataclasses import replace

import pytest

from oscsim.energy import rivals as module
from oscsim.energy.baselines import Shape, digital_softmax
from oscsim.energy.components import Library
from oscsim.energy.factoring import factoring
from oscsim.energy.ledger import account
from oscsim.energy.measured import Accuracies
from oscsim.energy.rivals import (
    analog_softmax,
    in_memory_softmax,
    linear_attention,
    on_gpu,
    rivals,
)
from oscsim.errors import ComponentError, SpecError

BUNDLED = Library.load()
# 2 layers, 2 heads of 4, causal lengths 5 and 3: 42 pairs a layer, 8 rows.
SMALL = Shape(2, 2, 8, 12, 3, [5, 3], True, "softplus", 7)
WHOLE = Shape(1, 4, 128, 512, 2, [128], False, "softplus", 10)
LEGAL = factoring("softplus", 1, clamps=False)


def named(shape=WHOLE, node=45, factors=LEGAL, **options):
    return {r.name: r for r in rivals(shape, node, factors, BUNDLED, **options)}


def system_pj(rival):
    return account(rival.counts, rival.prices, BUNDLED, n_draws=2).nominal_j() * 1e12


@pytest.mark.parametrize("node", [45, 7])
def test_all_are_there_and_can_be_priced(node):
    found = named(node=node)
    assert list(found)[:3] == [
        "digital softmax",
        "same oscillator model, digital",
        "same oscillator model, digital, read-out factored",
    ]
    assert len(found) == 9
    assert all(system_pj(rival) > 0 for rival in found.values())
    assert len({rival.counts.tokens for rival in found.values()}) == 1


def test_only_those_that_are_the_same_model_say_so():
    for name, rival in named().items():
        same = name.startswith("same oscillator model")
        assert rival.remark.startswith("same model") == same
        assert rival.accuracy == "accuracy not measured"


def test_every_rival_says_what_was_measured_of_it_and_of_nothing_else():
    modes = ("int8", "int8-table", "int4-table")
    known = Accuracies({m: f"twin {m}" for m in modes}, {"int8": "own"}, "unknown")
    found = {name: r.accuracy for name, r in named(accuracies=known).items()}
    assert list(found.values())[:5] == [
        *("twin int8", "own", "unknown", "twin int8-table", "twin int4-table")
    ]
    assert set(list(found.values())[5:]) == {"unknown"}


def test_left_out_where_it_is_not_legal():
    clamped = factoring("softplus", 1, clamps=True)
    assert "same oscillator model, digital" in named(factors=clamped)
    assert not any("factored" in name for name in named(factors=clamped))
    assert not any("oscillator" in name for name in named(factors=None))


def test_linear_attention_by_hand():
    """Per layer 16 rows of d = 4: 2 x 16 + 4 macs each; states of 40 bytes."""
    counts, layers, rows = linear_attention(SMALL), 2, 16
    assert counts.actions["value", "mac"] == layers * rows * 2 * 16
    assert counts.actions["similarity", "mac"] == layers * rows * 4
    assert counts.total("coupling_elu") == layers * rows * 2 * 4
    assert counts.actions["value", "sram_read_byte"] == layers * 2 * rows * 40
    assert counts.actions["value", "sram_write_byte"] == layers * rows * 40
    assert counts.total("exp") == 0
    once = linear_attention(replace(SMALL, causal=False))
    assert once.actions["value", "sram_write_byte"] == layers * 4 * 40
    often = linear_attention(SMALL, reuse=8)
    assert often.actions["value", "sram_read_byte"] == layers * 2 * rows * 5


def test_linear_attention_grows_linearly():
    long, longer = (linear_attention(replace(SMALL, lengths=[n])) for n in (100, 200))
    for key, number in long.actions.items():
        assert longer.actions[key] == pytest.approx(2 * number)


def test_in_memory_softmax_by_hand():
    """42 pairs a layer converted and written back, 64 output conversions."""
    counts = in_memory_softmax(SMALL)
    assert counts.actions["weights", "cim_mac"] == 2 * 42 * 4
    assert counts.actions["value", "cim_mac"] == 2 * 42 * 4
    assert counts.actions["weights", "state_read"] == 2 * 42
    assert counts.actions["readout", "state_read"] == 2 * 64
    assert counts.total("coupling_write") == 2 * 42
    assert counts.total("exp") == 2 * 42


def test_analog_softmax_converts_and_exponentiates_nothing():
    """0.3 uW for 1 us per score: at the worked example's size 153.6 pJ a token."""
    counts = analog_softmax(SMALL)
    assert counts.total("exp") == counts.total("coupling_write") == 0
    assert counts.total("analog_softmax_s") == pytest.approx(2 * 42 * 1e-6)
    rival = named()["analog softmax on in-memory compute"]
    ledger = account(rival.counts, rival.prices, BUNDLED, n_draws=2)
    joules = ledger.joules["normalise", "analog_softmax_s"]
    assert joules == pytest.approx(153.6e-12, rel=1e-9)


def test_a_gpu_is_paid_by_its_multiplications():
    """1.42 pJ at peak, 2.5 times that at 40 % of it, and no overhead beside."""
    whole = digital_softmax(SMALL)
    counts = on_gpu(whole, BUNDLED).counts
    assert set(counts.actions) == {
        (phase, "gpu_mac") for phase, action in whole.actions if action == "mac"
    }
    macs = digital_softmax(WHOLE).total("mac") / WHOLE.rows
    rival = named()["digital softmax on a GPU"]
    assert system_pj(rival) == pytest.approx(macs * 1.42 * 2.5, rel=1e-12)
    assert "40% of its peak" in rival.remark


@pytest.mark.parametrize("node", [45, 7])
def test_cheaper_arithmetic_is_cheaper_in_that_order(node):
    found = named(node=node)
    full, table, four = (
        system_pj(found[name])
        for name in (
            "digital softmax",
            "digital softmax, table exponential",
            "digital softmax, 4 bits, table exponential",
        )
    )
    assert four < table < full
    assert four > 0.3 * full, "4 bits do not make control and additions free"


def test_a_table_changes_the_exponential_and_nothing_else():
    found = named()
    full, table = (
        account(found[name].counts, found[name].prices, BUNDLED, n_draws=2).joules
        for name in ("digital softmax", "digital softmax, table exponential")
    )
    changed = {key for key in full if full[key] != table[key]}
    assert changed == {("weights", "exp"), ("control", "leakage")}
    assert table["weights", "exp"] == pytest.approx(full["weights", "exp"] / 4)


@pytest.mark.parametrize("node", [14, 65])
def test_no_node_is_extrapolated(node, monkeypatch):
    with pytest.raises(ComponentError, match=rf"for {node} nm"):
        named(node=node)
    monkeypatch.setattr(module.Prices, "digital", lambda _: module.Prices({}))
    with pytest.raises(ComponentError, match=rf"rivals for {node} nm.*one of 7, 45"):
        named(node=node)


def test_a_malformed_table_says_where(tmp_path, monkeypatch):
    text = "schema_version = 1\nanalog_softmax_settle_s = 0.0\n[node.45]\n"
    (tmp_path / "rivals.toml").write_text(text)
    monkeypatch.setattr(module, "data_folder", lambda _kind: tmp_path)
    with pytest.raises(ComponentError, match=r"rivals.toml: analog_softmax_settle_s"):
        analog_softmax(SMALL)


@pytest.mark.parametrize(
    ("coupling", "power", "clamps", "scores", "readout"),
    [
        ("softplus", 1, False, False, True),
        ("relu", 1, False, False, True),
        ("linear", 1, False, True, True),
        ("softplus", 1, True, False, False),
        ("softplus", 1, None, False, False),
        ("elu", 2, False, False, False),
        ("linear", 4, False, True, False),
    ],
)
def test_what_factors(coupling, power, clamps, scores, readout):
    found = factoring(coupling, power, clamps=clamps)
    assert (found.scores, found.readout) == (scores, readout)
    assert bool(found.why_scores) != scores
    assert bool(found.why_readout) != readout


def test_why_not():
    assert factoring("softplus", 1, clamps=True) == (
        False,
        False,
        "softplus is not linear, so its scores do not factor",
        "1 + z.r is negative for some pairs, so the clamp acts",
    )
    with pytest.raises(SpecError, match=r"unknown coupling function 'tanh': one of"):
        factoring("tanh", 1, clamps=False)
    with pytest.raises(SpecError, match=r"exponent p must be 1, 2 or 4, got 3"):
        factoring("relu", 3, clamps=False)
