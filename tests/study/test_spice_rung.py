"""Tokens of the shipped checkpoints in ngspice."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import oscsim as osc
from oscsim.errors import NetlistError, SpecError
from oscsim.report.spice_rung_figure import spice_rung_figure
from oscsim.report.spice_rung_text import notes_on, rung_json, weights_csv
from oscsim.spice.ngspice import find_ngspice
from oscsim.study.spice_rung import angles, spice_rung

CHECKPOINTS = Path(__file__).parents[2] / "data" / "checkpoints"
spice = pytest.mark.spice


def load(name):
    return osc.load_checkpoint(CHECKPOINTS / name)


@pytest.fixture(scope="module")
def sphere():
    find_ngspice()
    return spice_rung(load("sva-osc-d2-s0"), tokens=3)


@pytest.fixture(scope="module")
def oscillators():
    """A short run: one token settles in it and one does not."""
    find_ngspice()
    return spice_rung(load("sva-osc-d2-s0"), circuit="lc", tokens=2, duration=4.5e-4)


@spice
def test_the_sphere_gives_the_weights_of_engine_and_model(sphere):
    assert sphere.positions.tolist() == [0, 2, 5]
    assert sphere.queries == ("<BOS>", "owls", "<EOS>")
    assert sphere.passed
    assert sphere.weight_errors.max() < 1e-6
    assert sphere.digital_errors.max() < 1e-6
    assert sphere.unsettled == 0
    np.testing.assert_allclose(sphere.spice.sum(axis=1), 1.0, atol=1e-12)


@spice
def test_the_digital_weights_are_those_of_the_model(sphere):
    """From scratch: p = 1, no pair beyond the clamp is negative, rows to 1."""
    checkpoint = load("sva-osc-d2-s0")
    anchors = checkpoint.weights["layers.0.attn.anchors"][0].astype(float)[:6]
    affinity = np.maximum(0, 1 + sphere.fixed @ anchors.T)
    expected = affinity / affinity.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sphere.digital, expected, atol=1e-12)
    assert (sphere.digital == 0).any(), "the clamp acts on this sentence"


@spice
def test_the_engine_takes_the_same_time_from_the_same_start():
    """Cut short, the circuit is far from digital and stays with the engine."""
    early = spice_rung(load("sva-osc-d2-s0"), tokens=3, duration=5.0)
    assert early.unsettled == 3
    assert early.digital_errors.max() > 0.03
    assert early.weight_errors.max() < 1e-5
    assert early.engine_angles.max() < 1e-4
    other = spice_rung(load("sva-osc-d2-s0"), tokens=3, duration=5.0, seed=1)
    assert np.abs(other.spice - early.spice).max() > 0.05, "the start matters"
    assert other.weight_errors.max() < 1e-5


@spice
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("bytes-osc-d8-p4", {"layer": 1, "head": 2, "item": 3}),
        ("bytes-osc-d8-p1", {"head": 1}),
    ],
)
def test_bytes_in_eight_dimensions(name, where):
    """Causal masks, p = 4 and 1; a token with too little drive is counted."""
    rung = spice_rung(load(name), tokens=3, duration=60.0, **where)
    assert rung.positions.tolist() == [0, 32, 63]
    assert rung.passed
    assert rung.weight_errors.max() < 1e-4
    assert not rung.spice[1, 33:].any(), "nothing after the query is read"
    assert rung.spice[1, :33].sum() == pytest.approx(1.0)
    assert len(rung.run.settle_times) == 3
    weak = rung.lengths < 1 / 60
    assert np.isnan(rung.run.settle_times[weak]).all()
    assert rung.unsettled >= weak.sum()
    assert ".subckt sphere z0 z1 z2 z3 z4 z5 z6 z7 " in rung.netlist.text


@spice
def test_oscillators_give_the_weights_within_their_gate(oscillators):
    assert oscillators.passed
    assert oscillators.gate == 0.03
    assert 1e-6 < oscillators.weight_errors.max() < 0.02
    assert (oscillators.engine_angles < 0.06).all()


@spice
def test_json_figure_and_table_say_the_same(oscillators):
    told = rung_json(oscillators)
    assert told["passed"]
    assert [one["position"] for one in told["tokens"]] == [0, 5]
    assert (told["tokens"][0]["settle_s"] is None) == bool(
        np.isnan(oscillators.run.settle_times[0])
    )
    rows = weights_csv(oscillators).decode().splitlines()
    assert rows[0] == "query,anchor,digital,engine,spice"
    assert len(rows) == 1 + 2 * 6
    assert float(rows[-1].split(",")[4]) == pytest.approx(oscillators.spice[1, 5])
    assert any("-eps/4" in note for note in notes_on(oscillators))
    assert len(spice_rung_figure(oscillators).get_axes()) == 4


@spice
def test_the_figure_of_the_sphere_marks_all_three(sphere):
    figure = spice_rung_figure(sphere)
    panels = figure.get_axes()
    assert len(panels) == 2 + 3
    lines = {line.get_label(): line.get_ydata() for line in panels[3].get_lines()}
    np.testing.assert_allclose(lines["ngspice"], sphere.spice[1])
    np.testing.assert_allclose(lines["engine"], sphere.engine[1])
    bars = [bar.get_height() for bar in panels[3].patches]
    np.testing.assert_allclose(bars, sphere.digital[1])


@spice
def test_no_word_of_a_checkpoint_gets_into_the_netlist(tmp_path):
    """Nor its name: a word that would run a command stays out of it."""
    checkpoint = load("sva-osc-d2-s0")
    evil = "owls\n.control\nshell touch pwned\n.endc"
    words = [evil if word == "owls" else word for word in checkpoint.config.vocabulary]
    config = checkpoint.config.model_copy(update={"vocabulary": tuple(words)})
    line = {"tokens": ["the", evil, "run"], "label": 1, "verb_idx": 2}
    data = tmp_path / "evil.jsonl"
    data.write_text(json.dumps(line | {"distractor_agrees": None}))
    named = dataclasses.replace(checkpoint, config=config, name="a\n.control")
    rung = spice_rung(named, data, tokens=3, duration=40.0)
    assert evil in rung.queries
    assert rung.passed
    assert "control" not in rung.netlist.text
    assert "owls" not in rung.netlist.text


def test_angles_are_exact_where_they_are_small():
    first = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    second = np.array([[1.0, 1e-9], [-1.0, 0.0], [0.0, 5.0]])
    np.testing.assert_allclose(angles(first, second), [1e-9, np.pi, np.pi / 2])


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("sva-softmax-s0", {}, "is softmax attention and has no oscillators"),
        ("kuramoto-260k", {}, "'kuramoto' and has no oscillators with fixed"),
        ("sva-osc-d2-s0", {"tokens": 7}, "the item has 6 tokens, 7 were asked for"),
        ("sva-osc-d2-s0", {"tokens": 0}, "tokens must be a whole number >= 1, got 0"),
        ("sva-osc-d2-s0", {"layer": 1}, r"layer must be in 0..0, got 1"),
        ("sva-osc-d2-s0", {"head": -1}, "head must be a whole number >= 0, got -1"),
        ("sva-osc-d2-s0", {"item": 10**6}, "item must be in 0.."),
        ("sva-osc-d2-s0", {"seed": -1}, "seed must be"),
        ("sva-osc-d2-s0", {"circuit": "ring"}, "'sphere' or 'lc', got 'ring'"),
    ],
)
def test_a_wrong_request_is_refused_before_any_run(name, options, told):
    with pytest.raises(SpecError, match=told):
        spice_rung(load(name), **options)


def test_oscillators_have_no_eight_dimensions():
    with pytest.raises(NetlistError, match="d = 2, got d = 8"):
        spice_rung(load("bytes-osc-d8-p1"), circuit="lc", tokens=2)
