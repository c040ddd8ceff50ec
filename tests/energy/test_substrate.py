"""Closed-form counts of a substrate equal what a run on it tallies."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.array import attention_of
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.cost import price, shape_of
from oscsim.bridge.datasets import read_sva
from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
from oscsim.bridge.infer import infer
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.mapping import map_attention
from oscsim.energy.prices import Prices
from oscsim.energy.substrate import substrate
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.work import have_unit_norm, time_on

DATA = Path(__file__).parents[2] / "data"
SHAPE = Shape(2, 2, 8, 12, 2, [5, 3], True, "softplus", 7)
RING = Device.load("ring-65nm")


def assert_same_counts(run):
    shape = shape_of(run, run.existing_lengths)
    expected = substrate(shape, run.setting.acting_device)
    assert run.counts.tokens == expected.tokens
    assert set(run.counts.actions) == set(expected.actions)
    for key, number in run.counts.actions.items():
        assert number == pytest.approx(expected.actions[key], rel=1e-12), key


def test_sentences_on_rings_cost_what_the_run_costs(tmp_path):
    model = load_checkpoint(DATA / "checkpoints" / "sva-osc-d2-s0")
    lines = (DATA / "datasets" / "sva" / "validation.jsonl").read_text("utf-8")
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(lines.splitlines()[:5]), encoding="utf-8")
    data = read_sva(file, model.fixed_query)
    run = infer(model, data, device=RING, chips=1, repeats=1)
    assert_same_counts(run)
    measured = price(run).substrate
    described = estimate_checkpoint(model, RING, data=file)
    ledger = described.subjects[0].ledger
    assert ledger.nominal_j() == pytest.approx(measured.nominal_j(), rel=1e-12)
    assert ledger.range_j() == pytest.approx(measured.range_j(), rel=1e-9)
    assert described.latency_s == price(run).latency_s


def test_bytes_on_spheres():
    model = load_checkpoint(DATA / "checkpoints" / "bytes-osc-d8-p4")
    run = infer(
        model, device="sphere-generic", chips=1, repeats=1, windows=1, context=6
    )
    assert_same_counts(run)


def test_one_oscillator_for_all_queries_keeps_anchors_running():
    """An anchor runs for each query that sees it: n (n + 1) / 2 instead of n."""
    one = substrate(SHAPE, RING.changed(query_slots=1))
    every = substrate(SHAPE, RING)
    time = RING.settle_time + RING.read_time
    assert every.total("anchor_s") == pytest.approx(2 * 2 * 8 * time)
    assert one.total("anchor_s") == pytest.approx(2 * 2 * (15 + 6) * time)
    changed = {k for k, n in one.actions.items() if n != every.actions[k]}
    assert changed == {("settle", "anchor_s")}
    steps = replace(SHAPE, lengths=[1, 2, 3, 4, 5, 1, 2, 3], is_decoding=True)
    decoded = substrate(steps, RING).total("anchor_s")
    assert decoded == pytest.approx(one.total("anchor_s"), rel=1e-12)
    full = replace(SHAPE, causal=False)
    whole = substrate(full, RING.changed(query_slots=1)).total("anchor_s")
    assert whole == pytest.approx(2 * 2 * (25 + 9) * time), "all see all anchors"


def naive_time_on(device, couplings):
    """Pass after pass, oscillator after oscillator."""
    slots = 1 if device.query_slots == 1 else device.oscillators or len(couplings)
    oscillators = couplers = anchors_on = 0.0
    waiting = list(couplings)
    while waiting:
        here, waiting = waiting[:slots], waiting[slots:]
        time = device.settle_time + device.read_time
        if device.runs_while_loading:
            for n in here:
                bits = math.ceil(n * device.weight_bits / device.bus_bits)
                time += device.write_time + bits / device.bus_hz
        for n in here:
            oscillators += time
            couplers += n * time
        anchors_on += max(here) * time
    return oscillators, couplers, anchors_on


@pytest.mark.parametrize("runs_while_loading", [False, True])
@pytest.mark.parametrize("slots", [1, 3, 4, 400])
def test_time_on_is_that_of_passes_one_after_the_other(slots, runs_while_loading):
    device = Device.load("ring-28nm").changed(
        oscillators=slots, bus_bits=16, runs_while_loading=runs_while_loading
    )
    for couplings in ([1, 2, 3, 4, 5, 6, 7, 8, 9], [7] * 7, [5]):
        found = time_on(device, np.array(couplings))
        assert found == pytest.approx(naive_time_on(device, couplings), rel=1e-12)
    assert time_on(device, np.array([], int)) == (0, 0, 0)
    steps = [naive_time_on(device, [n]) for n in (3, 9, 4)]
    summed = [sum(times) for times in zip(*steps, strict=True)]
    assert time_on(device, np.array([3, 9, 4]), is_decoding=True) == pytest.approx(
        summed
    )


def test_counts_follow_the_passes_that_are_printed():
    """Half the oscillators, twice the passes, each with the anchors that it sees."""
    shape = replace(SHAPE, lengths=[64], n_layers=2)
    device = Device.load("ring-28nm").changed(tiles=1)
    on = {}
    for slots in (64, 32, 8, 1):
        few = device.changed(oscillators=slots)
        counts = substrate(shape, few)
        mapping = map_attention(few, attention_of(shape, 64))
        per_pass = counts.total("anchor_s") / mapping.passes
        time = few.settle_time + few.read_time
        mean = (64 + slots) / 2
        assert per_pass == pytest.approx(mean * time), "slots, 2 slots, .. 64 anchors"
        on[slots] = counts
    changed = {k for k, n in on[8].actions.items() if n != on[64].actions[k]}
    assert changed == {("settle", "anchor_s")}
    tiled = substrate(shape, Device.load("ring-28nm").changed(oscillators=1))
    differ = {k for k, n in on[1].actions.items() if n != tiled.actions.get(k)}
    assert {action for _, action in differ} == {"anchor_write"}, "tiles: writes alone"


def test_one_oscillator_is_one_oscillator_however_it_is_said():
    slots = substrate(SHAPE, RING.changed(query_slots=1))
    array = substrate(SHAPE, RING.changed(oscillators=1))
    assert slots.actions == array.actions


def test_a_run_on_few_oscillators_tallies_the_same_passes(tmp_path):
    model = load_checkpoint(DATA / "checkpoints" / "sva-osc-d2-s0")
    lines = (DATA / "datasets" / "sva" / "validation.jsonl").read_text("utf-8")
    file = tmp_path / "few.jsonl"
    file.write_text("\n".join(lines.splitlines()[:3]), encoding="utf-8")
    data = read_sva(file, model.fixed_query)
    few = Device.load("ring-28nm").changed(oscillators=3, runs_while_loading=True)
    run = infer(model, data, device=few, chips=1, repeats=1)
    assert_same_counts(run)
    assert run.counts.total("mul") > 0
    every = substrate(shape_of(run, run.existing_lengths), Device.load("ring-28nm"))
    assert run.counts.total("anchor_s") > 1.5 * every.total("anchor_s")


def test_a_norm_costs_a_product_and_a_byte_and_a_phase_its_sine_and_cosine():
    plain, unit = (substrate(SHAPE, RING, unit_anchors=u) for u in (False, True))
    missing = {k: n for k, n in plain.actions.items() if n != unit.actions[k]}
    pairs = SHAPE.n_layers * SHAPE.pairs
    assert missing == {("load", "mul"): pairs, ("load", "sram_read_byte"): pairs}
    often = substrate(SHAPE, RING, reuse=16.0)
    assert often.actions["load", "sram_read_byte"] == pairs / 16
    assert plain.actions["similarity", "sincos"] == 2 * 2 * 8
    spheres = substrate(SHAPE, Device.load("sphere-generic"))
    assert spheres.total("sincos") == 0
    assert have_unit_norm(np.array([1.0, 1 + 5e-7]))
    assert not have_unit_norm(np.array([1.0, 0.99]))


def test_a_run_with_unit_anchors_loads_couplings_as_they_are():
    model = load_checkpoint(DATA / "checkpoints" / "bytes-osc-d8-p4")
    short = {
        k: w / np.linalg.norm(w, axis=-1, keepdims=True) if "anchors" in k else w
        for k, w in model.weights.items()
    }
    run = infer(
        replace(model, weights=short),
        device="sphere-generic",
        chips=1,
        repeats=1,
        windows=1,
        context=4,
    )
    shape = shape_of(run, run.existing_lengths)
    expected = substrate(shape, run.setting.acting_device, unit_anchors=True)
    assert run.counts.total("coupling_write") == expected.total("coupling_write")
    assert ("load", "mul") not in run.counts.actions


def test_decoding_keeps_all_anchors_on_for_one_query():
    """All steps of a sequence do what a prefill does, but for the anchors."""
    whole = replace(SHAPE, lengths=[6])
    steps = replace(SHAPE, lengths=[1, 2, 3, 4, 5, 6], is_decoding=True)
    prefill, decoded = (substrate(shape, RING) for shape in (whole, steps))
    assert (prefill.tokens, decoded.tokens) == (6, 6)
    for key, number in prefill.actions.items():
        factor = 3.5 if key == ("settle", "anchor_s") else 1
        assert decoded.actions[key] == pytest.approx(factor * number), key
    last = replace(SHAPE, lengths=[6], is_decoding=True)
    mapping = map_attention(RING, attention_of(SHAPE, 6), is_decoding=True)
    counts = substrate(last, RING)
    assert counts.total("coupling_write") == mapping.pairs
    time = RING.settle_time + RING.read_time
    assert counts.total("anchor_s") == pytest.approx(2 * 2 * 6 * time)
    with pytest.raises(SpecError, match=r"only a causal model is decoded"):
        replace(last, causal=False)


def test_doubling_the_settling_time_moves_the_core_alone():
    read = RING.read_time
    longer = RING.changed(settle_time=2 * RING.settle_time + read)
    prices, library = Prices.of_device(RING), Library.load()
    once, twice = (
        account(substrate(SHAPE, device), prices, library, n_draws=2)
        for device in (RING, longer)
    )
    core = {("settle", a) for a in ("oscillator_s", "anchor_s", "coupler_s")}
    shares = {("control", name) for name in ("leakage", "clock", "calibration")}
    for key, joules in once.joules.items():
        if key in core:
            assert twice.joules[key] == pytest.approx(2 * joules, rel=1e-12)
        elif key not in shares:
            assert twice.joules[key] == joules
    assert twice.nominal_j("core") == pytest.approx(2 * once.nominal_j("core"))


def test_doubling_the_tiles_moves_the_anchors_alone():
    """Four heads on two tiles: each item writes its anchors again, 4 (5 + 3) words."""
    few, enough = (substrate(SHAPE, RING.changed(tiles=n)) for n in (2, 4))
    assert few.total("anchor_write") == 4 * (5 + 3)
    assert {k: n for k, n in few.actions.items() if k[1] != "anchor_write"} == dict(
        enough.actions
    )
    prices, library = Prices.of_device(RING), Library.load()
    dear, cheap = (account(c, prices, library, n_draws=2) for c in (few, enough))
    shares = {("control", name) for name in ("leakage", "clock", "calibration")}
    moved = {k for k, j in dear.joules.items() if j != cheap.joules.get(k)}
    assert moved == {("load", "anchor_write")} | shares
    per_word = dear.joules["load", "anchor_write"] / (32 / 8)
    per_coupling = dear.joules["load", "coupling_write"] * 8 / SHAPE.pairs / 2
    assert per_word == pytest.approx(per_coupling, rel=1e-12)
    with pytest.raises(DeviceError, match="a context of 5 tokens does not fit"):
        substrate(SHAPE, RING.changed(tiles=2, couplers_per_oscillator=4))


def test_a_price_of_anchors_of_its_own():
    own = RING.energy.prices | {"anchor_write": ["dtc.timely_8b_65nm"]}
    energy = RING.energy.model_copy(update={"prices": own})
    kind = RING.changed(tiles=2, energy=energy.model_dump())
    found = account(substrate(SHAPE, kind), Prices.of_device(kind), Library.load())
    assert found.joules["load", "anchor_write"] == pytest.approx(4 * 0.0375e-12)


def test_a_run_pays_for_the_anchors_that_its_tiles_are_given():
    model = load_checkpoint(DATA / "checkpoints" / "bytes-osc-d2-p4")
    asked = {"chips": 2, "repeats": 2, "windows": 1, "context": 6}
    few, enough = (
        price(infer(model, device=RING.changed(tiles=n), **asked)).substrate
        for n in (4, 8)
    )
    joules = few.joules["load", "anchor_write"]
    assert joules == pytest.approx(2 * 4 * 6 / 6 * 0.2e-12)
    assert ("load", "anchor_write") not in enough.joules


def test_doubling_d_osc_moves_what_has_components():
    sphere = Device.load("sphere-generic")
    small, large = (substrate(replace(SHAPE, d_osc=d), sphere) for d in (8, 16))
    doubled = {
        ("settle", "component_s"),
        ("settle", "coupler_s"),
        ("settle", "anchor_s"),
        ("readout", "state_read"),
        ("similarity", "mac"),
        ("similarity", "sram_read_byte"),
    }
    for key, number in small.actions.items():
        factor = 2 if key in doubled else 1
        assert large.actions[key] == pytest.approx(factor * number, rel=1e-12), key


def test_doubling_the_positions_of_one_long_item():
    """What is done per pair grows fourfold, all else twofold; T = 256 and 512."""
    shapes = [replace(SHAPE, causal=False, lengths=[n]) for n in (256, 512)]
    short, long = (substrate(shape, RING) for shape in shapes)
    per_pair = {
        ("weights", "mac"),
        ("weights", "sram_read_byte"),
        ("weights", "coupling_softplus"),
        ("load", "coupling_write"),
        ("load", "mul"),
        ("load", "sram_read_byte"),
        ("settle", "coupler_s"),
        ("similarity", "mac"),
        ("similarity", "sram_read_byte"),
        ("similarity", "add"),
        ("similarity", "compare"),
        ("normalise", "add"),
        ("value", "mac"),
        ("value", "sram_read_byte"),
    }
    for key, number in short.actions.items():
        factor = 4 if key in per_pair else 2
        assert long.actions[key] == pytest.approx(factor * number, rel=1e-12), key


def test_the_factored_read_out_costs_no_pairs():
    direct, factored = (substrate(SHAPE, RING, factored=f) for f in (False, True))
    assert factored.actions["similarity", "mac"] == 2 * 2 * 8 * 2
    assert direct.actions["similarity", "mac"] == 2 * SHAPE.pairs * 2
    assert factored.total("coupler_s") == direct.total("coupler_s")


def test_what_cannot_be_counted():
    with pytest.raises(SpecError, match=r"settling on ideal takes no finite time"):
        substrate(SHAPE, Device.load("ideal"))
    with pytest.raises(SpecError, match=r"for p = 1 only, got 2"):
        substrate(replace(SHAPE, power=2), RING, factored=True)
    with pytest.raises(DeviceError, match=r"d_osc"):
        substrate(replace(SHAPE, d_osc=8), RING)
