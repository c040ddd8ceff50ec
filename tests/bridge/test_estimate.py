"""An estimate from sizes is what a run would be priced at, and sums to its parts."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge import judge as judging
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.estimate import estimate
from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
from oscsim.bridge.judge import attention_case, estimate_json, judge
from oscsim.energy.described import parse_shape
from oscsim.energy.factoring import factoring
from oscsim.energy.ledger import account
from oscsim.energy.measured import accuracies_of
from oscsim.errors import ComponentError, DeviceError, SpecError
from oscsim.substrate.device import Device

CHECKPOINTS = Path(__file__).parents[2] / "data" / "checkpoints"
LINE = "T=64,H=2,d_model=16,d_osc=2,layers=1,coupling=softplus"
RING = Device.load("ring-65nm")
LEGAL = factoring("softplus", 1, clamps=False)


def sized(line=LINE, device=RING, factors=LEGAL, **options):
    shape, _ = parse_shape(line)
    return estimate(shape, device, factors, title="t", n_draws=256, **options)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(judging, "POINTS", 3)


def test_who_is_compared():
    found = sized()
    assert [one.name for one in found.subjects] == [
        "substrate",
        "substrate, read-out factored",
    ]
    assert len(found.rivals) == 9
    assert {one.reuse for one in found.others} == {16.0}
    assert {one.reuse for one in sized(reuse=4.0).others} == {1.0}
    names = [(a.name, b.name) for a, b in found.pairs]
    assert names == [
        ("substrate", "digital softmax"),
        (
            "substrate, read-out factored",
            "same oscillator model, digital, read-out factored",
        ),
    ]


def test_the_same_model_is_compared_at_the_cheaper_read_out_of_each():
    """With short contexts and wide oscillators prefix sums cost more than pairs."""
    sphere = Device.load("sphere-generic")
    dear = sized("T=4,H=2,d_model=64,d_osc=32,layers=1,coupling=relu", sphere)
    assert [(a.name, b.name) for a, b in dear.pairs][1] == (
        "substrate",
        "same oscillator model, digital",
    )
    for one in (dear, sized()):
        mine, theirs = one.pairs[1]
        same = [r for r in one.rivals if r.remark == mine.remark]
        assert len(same) == 2
        for scenarios, chosen in ((one.subjects, mine), (same, theirs)):
            least = min(s.ledger.nominal_j() for s in scenarios)
            assert chosen.ledger.nominal_j() == least


def test_factoring_is_left_out_on_both_sides_or_on_none():
    found = sized(factors=factoring("softplus", 1, clamps=True))
    assert not any("factored" in one.name for one in found.scenarios)
    note, nodes, passes, norms, constant = found.notes
    assert "oscillators at 65 nm beside digital logic at 45 nm" in nodes
    assert "anchors that any of them sees are on" in passes
    assert "loaded as w |r|" in norms
    same = next(one for one in found.rivals if one.name.startswith("same"))
    read = same.ledger.joules["load", "sram_read_byte"]
    assert f"at reuse 1 the same model done digitally spends {1e9 * read:.3g} nJ" in (
        constant
    )
    assert any("unit vectors" in note for note in sized(unit_anchors=True).notes)
    assert "read-out not factored" in note
    assert "clamp acts" in note
    assert found.pairs[1][1].name == "same oscillator model, digital"


def test_every_ledger_sums_to_its_parts():
    for one in sized().scenarios:
        total = one.ledger.nominal_j()
        for parts in (one.ledger.joules, one.ledger.by_component):
            assert math.fsum(parts.values()) == pytest.approx(total, rel=1e-12)


def test_a_ratio_is_taken_at_the_same_reuse():
    found = sized()
    once, often = (
        next(s for s in found.scenarios if (s.name, s.reuse) == ("digital softmax", r))
        for r in (1.0, 16.0)
    )
    for scenario, subject in ((once, found.subjects[0]), (often, found.others[0])):
        ratio, _ = found.judged(scenario)
        assert ratio == subject.ledger.ratio(scenario.ledger)
    assert found.judged(once)[0] != found.judged(often)[0]


def test_another_node_changes_the_digital_part_alone():
    at_45, at_7 = (sized(node_nm=node).subjects[0].ledger for node in (45, 7))
    assert at_45.nominal_j("converters") == at_7.nominal_j("converters")
    assert at_7.nominal_j() < 0.5 * at_45.nominal_j()


def test_reuse_cannot_make_attention_dearer():
    once, often = (sized(reuse=r).subjects[0].ledger.nominal_j() for r in (1.0, 16.0))
    assert often < once


@pytest.mark.usefixtures("quick")
def test_a_judgement_adds_up():
    found = sized()
    judged = judge(found, n_draws=32)
    for one in judged:
        system, attention = one.system, one.attention
        mine, theirs = one.subject.ledger, one.rival.ledger
        assert system.nominal == mine.nominal_j() / theirs.nominal_j()
        assert 0 <= system.won <= 1
        for reading in (system, attention):
            assert reading.extremes.best <= reading.nominal <= reading.extremes.worst
            middle = reading.exponential.nominal
            assert min(middle) <= reading.nominal <= max(middle)
        assert abs(attention.nominal - 1) > abs(system.nominal - 1)
    text = json.dumps(estimate_json(found, judged), allow_nan=False)
    data = json.loads(text)
    assert len(data["scenarios"]) == len(found.scenarios)
    for one in data["scenarios"]:
        parts = one["by_phase_and_action_j"]
        total = math.fsum(j for phase in parts.values() for j in phase.values())
        nominal = one["j_per_token"]["system"]["nominal"]
        assert total == pytest.approx(nominal, rel=1e-12)
        assert math.fsum(one["by_component_j"].values()) == pytest.approx(nominal)


def test_the_attention_stage_has_no_projections_and_no_overheads():
    subject = sized().subjects[0]
    ledger = account(*attention_case(subject.case), sized().library, 4)
    phases = {phase for phase, _ in ledger.joules}
    assert not phases & {"projection", "ffn", "control"}
    assert ("memory", "sram_write_byte") in ledger.joules
    whole = {k: j for k, j in subject.ledger.joules.items() if k in ledger.joules}
    assert ledger.joules == whole
    said = estimate_json(sized())["scenarios"][0]["attention_nominal_j"]
    assert said == pytest.approx(math.fsum(whole.values()), rel=1e-12)


@pytest.mark.parametrize(
    "name",
    ["sva-softmax-s0", "digits-osc-d8", "bytes-osc-d2-p4", "bytes-osc-d2-p1"],
)
def test_shipped_checkpoints_are_priced_without_running_a_chip(name, monkeypatch):
    monkeypatch.setattr("oscsim.bridge.engine.Engine.on_chips", None)
    model = load_checkpoint(CHECKPOINTS / name)
    device = Device.load("sphere-generic" if model.d_osc == 8 else "ring-65nm")
    found = estimate_checkpoint(model, device)
    assert found.title == name
    assert found.subjects[0].ledger.nominal_j() > 0
    said = " ".join(found.notes)
    if "softmax" in name:
        assert found.device is None
        assert "no oscillators" in said
        assert found.pairs[0][0].name == "digital softmax"
        assert not any("oscillator" in one.name for one in found.scenarios)
    elif name.endswith("p4"):
        assert "does not factor for p = 4" in said
    else:
        assert "the clamp of the read-out acts on" in said


@pytest.mark.parametrize(
    ("name", "reuse", "total", "system", "attention", "digital"),
    [
        ("sva-osc-d2-s0", 1.0, 140e-9, 1.006, 1.26, 1.18),
        ("bytes-osc-d8-p4", 16.0, 292e-9, 1.036, 1.62, 1.08),
    ],
)
def test_medians_of_the_data_page(name, reuse, total, system, attention, digital):
    """Rows of data/energy/README.md, to the digits that are printed there."""
    model = load_checkpoint(CHECKPOINTS / name)
    device = Device.load("ring-65nm" if model.d_osc == 2 else "sphere-generic")
    found = estimate_checkpoint(model, device, reuse=reuse)
    mine, softmax, same = (found.subjects[0], *found.rivals[:2])
    assert mine.ledger.range_j().p50 == pytest.approx(total, rel=4e-3)
    ratio, won = found.judged(softmax)
    assert ratio.p50 == pytest.approx(system, abs=6e-4)
    assert won == 0
    stages = [
        account(*attention_case(one.case), found.library)
        for one in (mine, softmax, same)
    ]
    assert stages[0].ratio(stages[1]).p50 == pytest.approx(attention, abs=6e-3)
    assert stages[0].ratio(stages[2]).p50 == pytest.approx(digital, abs=6e-3)


def test_medians_of_kuramoto_attention_on_the_data_page():
    """The row at R = 16, and the totals of the row at R = 1 that stand beside it."""
    model = load_checkpoint(CHECKPOINTS / "kuramoto-260k-flow")
    found = estimate_checkpoint(model, RING, reuse=16.0)
    mine, same = found.subjects[0], found.pairs[1][1]
    totals = [one.ledger.range_j().p50 for one in (mine, *found.others)]
    assert totals == pytest.approx([736e-9, 4.50e-6, 4.13e-6], rel=4e-3)
    for rival, system, attention in (
        (found.rivals[0], 1.204, 1.84),
        (same, 1.023, 1.02),
    ):
        assert found.judged(rival)[0].p50 == pytest.approx(system, abs=6e-4)
        stages = [
            account(*attention_case(one.case), found.library) for one in (mine, rival)
        ]
        assert stages[0].ratio(stages[1]).p50 == pytest.approx(attention, abs=6e-3)
    assert found.judged(found.rivals[0])[1] == 0
    assert found.judged(found.others[1])[0].p50 == pytest.approx(1.078, abs=6e-4)
    core = mine.ledger.range_j("converters").p50
    assert core == pytest.approx(49.3e-9, rel=4e-3)
    rows = [
        (round(one.system.p50, 3), round(one.attention.p50, 2))
        for step in found.steps
        for one in step.against
    ]
    assert rows == [(1.180, 3.01), (1.074, 1.79), (1.275, 3.00), (1.145, 1.89)]


def test_a_model_beyond_the_memories_that_price_it_is_said_to_cost_more():
    line = "T={t},H=4,d_model={d},d_osc=2,layers=2,coupling=softplus"
    small, large = (
        sized(line.format(t=t, d=d)).notes for t, d in ((16, 16), (2048, 2048))
    )
    said = [note for note in large if "the true price is higher" in note]
    assert [note.split(":")[0] for note in said] == [
        "weights",
        "keys, values and anchors of a sequence",
    ]
    assert not any("the true price is higher" in note for note in small)


def test_the_clamp_is_looked_for_only_where_an_anchor_is_long(monkeypatch):
    model = load_checkpoint(CHECKPOINTS / "digits-osc-d2")
    short = {k: w / 2 if k.endswith("anchors") else w for k, w in model.weights.items()}
    monkeypatch.setattr("oscsim.bridge.engine.Engine.digital", None)
    found = estimate_checkpoint(replace(model, weights=short), RING)
    assert any("factored" in one.name for one in found.subjects)


def test_a_rotary_transformer_is_priced_beside_cheaper_arithmetic():
    model = load_checkpoint(CHECKPOINTS / "transformer-260k")
    found = estimate_checkpoint(model, None)
    assert [one.name for one in found.scenarios] == [
        "digital softmax",
        "digital softmax, table exponential",
        "digital softmax, 4 bits, table exponential",
        "linear attention",
        "softmax on in-memory compute",
        "analog softmax on in-memory compute",
        "digital softmax on a GPU",
        "digital softmax",
    ]
    full, table, four = (one.ledger.nominal_j() for one in found.scenarios[:3])
    assert four < table < full
    assert found.pairs[0][1].name == "softmax on in-memory compute"
    again = estimate_checkpoint(model, None, reuse=16.0)
    assert again.subjects[0].case.counts == found.others[0].case.counts
    assert again.others[0].case.counts == found.subjects[0].case.counts
    assert again.subjects[0].ledger.nominal_j() < 0.2 * full
    with pytest.raises(SpecError, match=r"reuse must be >= 1 .*got 0.5"):
        estimate_checkpoint(model, None, reuse=0.5)


def test_a_bundled_checkpoint_shows_what_was_measured_at_the_precision_priced():
    model = load_checkpoint(CHECKPOINTS / "bytes-osc-d2-p4")
    known = accuracies_of(model.sha256)
    found = {s.name: s.accuracy for s in estimate_checkpoint(model, RING).scenarios}
    assert found["digital softmax"] == known.twin["int8"]
    assert found["same oscillator model, digital"] == known.own["int8"]
    assert "(3 trainings, " in found["digital softmax"]
    assert "not at equal accuracy" not in found["digital softmax"]
    four = found["digital softmax, 4 bits, table exponential"]
    assert four == known.twin["int4-table"]
    assert four.endswith("not at equal accuracy (loses more than 0.02)")
    assert found["linear attention"] == "accuracy not measured"
    assert found["substrate"] == "accuracy on chips: see oscsim infer"
    other = replace(model, sha256="of another training")
    again = estimate_checkpoint(other, RING).rivals
    assert {one.accuracy for one in again} == {"accuracy not measured"}
    unknown = {one.accuracy for one in sized().scenarios}
    assert unknown == {"no weights, accuracy unknown"}


def test_decoding_has_its_own_joules():
    """One query at a time: anchors run for it alone, all else is as in a prefill."""
    found = sized()
    mean, full = found.steps
    assert (mean.context, full.context) == (32.5, 64)
    assert [one.rival.name for one in mean.against] == [
        "digital softmax",
        "same oscillator model, digital, read-out factored",
    ]
    prefill = next(s for s in found.subjects if s.name == mean.subject.name)
    before, after = prefill.ledger.joules, mean.subject.ledger.joules
    assert after["settle", "anchor_s"] == pytest.approx(
        32.5 * before["settle", "anchor_s"]
    )
    for key, joules in before.items():
        if key != ("settle", "anchor_s") and key[0] != "control":
            assert after[key] == pytest.approx(joules, rel=1e-12), key
    assert full.subject.ledger.nominal_j() > mean.subject.ledger.nominal_j()
    softmax = mean.against[0]
    assert softmax.rival.ledger.nominal_j() == pytest.approx(
        found.rivals[0].ledger.nominal_j(), rel=1e-12
    )
    ratio = found.judged(found.rivals[0], found.subjects.index(prefill))[0]
    assert softmax.system.p50 > ratio.p50
    assert 0 <= softmax.system_won <= 1
    assert softmax.attention.p50 > softmax.system.p50
    again = sized(reuse=4.0).steps[0].subject
    assert again.ledger.joules == after, "reuse 1, whatever else is asked"
    assert sized(f"{LINE},causal=false").steps == ()


def test_decoding_is_in_the_json():
    found = sized()
    steps = estimate_json(found)["decoding"]
    assert [one["context"] for one in steps] == [32.5, 64]
    for one, step in zip(steps, found.steps, strict=True):
        assert one["j_per_token"]["nominal"] == step.subject.ledger.nominal_j()
        assert one["rivals"][0]["attention"]["p50"] == step.against[0].attention.p50


def test_what_does_not_fit_is_found_before_anything_is_priced(monkeypatch):
    monkeypatch.setattr("oscsim.bridge.scenario.account", None)
    monkeypatch.setattr("oscsim.bridge.engine.Engine.digital", None)
    with pytest.raises(DeviceError, match=r"a context of 64 tokens does not fit"):
        sized(device=RING.changed(couplers_per_oscillator=8))
    model = load_checkpoint(CHECKPOINTS / "bytes-osc-d2-p1")
    with pytest.raises(DeviceError, match=r"a context of 64 tokens does not fit"):
        estimate_checkpoint(model, RING.changed(couplers_per_oscillator=8))


def test_anchors_on_the_unit_sphere_need_no_product():
    model = load_checkpoint(CHECKPOINTS / "digits-osc-d2")
    found = {}
    for scale in (1.0, 0.5):
        weights = {
            k: scale * w / np.linalg.norm(w, axis=-1, keepdims=True)
            if k.endswith("anchors")
            else w
            for k, w in model.weights.items()
        }
        one = estimate_checkpoint(replace(model, weights=weights), RING)
        found[scale] = one.subjects[0].ledger.joules
    assert ("load", "mul") in found[0.5]
    assert ("load", "mul") not in found[1.0]


def test_what_is_refused():
    with pytest.raises(ComponentError, match=r"for 28 nm.*one of 7, 45"):
        sized(node_nm=28)
    with pytest.raises(SpecError, match=r"reuse must be >= 1 .*got 0.5"):
        sized(reuse=0.5)
    with pytest.raises(SpecError, match=r"takes no finite time"):
        sized(device=Device.load("ring-65nm").changed(settle_time=math.inf))
    with pytest.raises(ComponentError, match=r"has no energy section"):
        sized(device=Device.load("ideal"))
    with pytest.raises(DeviceError, match=r"d_osc"):
        sized(LINE.replace("d_osc=2", "d_osc=8"))
    with pytest.raises(SpecError, match=r"both, or neither"):
        sized(factors=None)
    unplaced = RING.model_copy(update={"energy": None})
    with pytest.raises(ComponentError, match=r"cannot be priced"):
        sized(device=unplaced)
