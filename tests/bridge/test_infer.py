"""Runs on chips: the digital model when ideal, the same bits always, Ctrl-C."""

import dataclasses
import itertools
import json

import numpy as np
import pytest

from oscsim.bridge.compare import compare
from oscsim.bridge.cost import shape_of
from oscsim.bridge.datasets import read_sva
from oscsim.bridge.engine import Engine
from oscsim.bridge.infer import infer
from oscsim.bridge.passes import in_float64
from oscsim.bridge.setting import Setting
from oscsim.counts import Counts
from oscsim.energy.baselines import digital_oscillator, digital_softmax
from oscsim.errors import DataError, DeviceError, SpecError
from oscsim.models.fixed_query import Pass, forward, settle_digital
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.runs import (
    DATA,
    OSCILLATORS,
    SOFTMAX,
    bundled,
    part,
    random_model,
    sentences,
    short_anchors,
    some,
)

RING = Device.load("ring-65nm")
BUNDLED_LINES = DATA / "datasets" / "sva" / "validation.jsonl"


def on_ring(n=130, *, data=None, **how):
    how = {"device": RING, "chips": 2, "repeats": 2} | how
    return infer(bundled(), some(n) if data is None else data, **how)


# The first test of any substrate


@pytest.mark.parametrize("name", OSCILLATORS)
@pytest.mark.parametrize("device", ["ring-65nm", "sphere-generic", "ideal"])
def test_ideal_is_the_digital_model(name, device):
    found = infer(
        bundled(name),
        some(128, name),
        device=Device.load(device),
        rung="ideal",
        chips=1,
        repeats=1,
    )
    result = compare(found)
    assert result.agreement == 1.0
    assert result.max_abs_error <= 1e-10
    assert result.tally.oscillators > 0


@pytest.mark.parametrize("name", OSCILLATORS)
def test_the_digital_rung_has_the_accuracy_of_the_training_record(name):
    """In float64 as in training's float32, to one of 1,224 hard sentences."""
    recorded = json.loads(
        (DATA / "checkpoints" / name / "training.json").read_text(encoding="utf-8")
    )["history"][-1]
    result = compare(infer(bundled(name), sentences(name), rung="digital"))
    assert result.n_items == 1224
    assert result.digital == pytest.approx(recorded["hard_accuracy"], abs=1.1 / 1224)
    assert result.digital_all == pytest.approx(recorded["accuracy"], abs=1.1 / 4000)


def test_a_model_of_several_layers_heads_and_components_is_exact_when_ideal():
    for fields in ({}, {"causal": True}, {"mask_readout": False}, {"p": 4}):
        model = random_model(5, **fields)
        ids = np.random.default_rng(1).integers(1, 11, (70, 7))
        ids[::3, 4:] = 0
        digital = model.logits(ids)
        kind = Device.load("sphere-generic")
        ideal = model.logits(ids, rung="ideal", device=kind)
        live = (ids != 0)[..., None] | (not model.config.mask_readout)
        np.testing.assert_allclose(ideal * live, digital * live, atol=1e-10)


# The same bits


def test_any_number_of_threads_gives_the_same_bits():
    one, two = (on_ring(n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.logits, two.logits)
    np.testing.assert_array_equal(one.digital, two.digital)
    assert one.counts == two.counts
    for mine, theirs in zip(one.tallies, two.tallies, strict=True):
        assert (mine.unsettled, mine.clipped, mine.zeroed) == (
            theirs.unsettled,
            theirs.clipped,
            theirs.zeroed,
        )
        np.testing.assert_array_equal(mine.time_histogram, theirs.time_histogram)


@pytest.mark.parametrize("n", [1, 63, 64, 100])
def test_the_first_sentences_have_the_same_bits_with_or_without_the_others(n):
    """Guaranteed for the same place in the data and the same padded length."""
    everything = on_ring(130)
    first = on_ring(data=part(some(130), slice(0, n)))
    np.testing.assert_array_equal(first.logits, everything.logits[..., :n])
    np.testing.assert_array_equal(first.digital, everything.digital[:n])


def test_another_sentence_elsewhere_does_not_change_a_sentence():
    data = some(130)
    ids = data.ids.copy()
    ids[5:100, 2] = ids[0, 2]
    other = on_ring(data=dataclasses.replace(data, ids=ids))
    kept = [*range(5), *range(100, 130)]
    np.testing.assert_array_equal(other.logits[..., kept], on_ring().logits[..., kept])
    assert np.abs(other.logits - on_ring().logits).max() > 0.1


def test_the_padded_length_changes_rounding_only():
    """Sentences of 6 ids padded to 6 or to 9: the same draws, not the same bits."""
    data = some(400)
    short = part(data, data.lengths == 6)
    cut = dataclasses.replace(short, ids=short.ids[:, :6])
    np.testing.assert_allclose(
        on_ring(data=cut).logits, on_ring(data=short).logits, atol=1e-9
    )


def test_draws_belong_to_the_place_in_the_data():
    """One sentence 70 times: as many draws with noise, one result without."""
    data = some(70)
    twice = part(data, np.zeros(70, int))
    continuous = RING.changed(adc_bits=None)
    found = on_ring(data=twice, device=continuous, chips=1, repeats=1).logits
    assert len(np.unique(found)) == 70
    static = RING.changed(settle_time=np.inf, diffusion=0.0, readout_noise=0.0)
    same = on_ring(data=twice, device=static, chips=1, repeats=1).logits
    np.testing.assert_allclose(same - same[..., :1], 0.0, atol=1e-9)


def test_chips_and_repeats_are_addressed_not_counted():
    many = on_ring(chips=3, repeats=2)
    few = on_ring(chips=2, repeats=1)
    np.testing.assert_array_equal(few.logits, many.logits[:2, :1])
    flat = many.logits.reshape(6, -1)
    for one in range(6):
        for other in range(one):
            assert np.abs(flat[one] - flat[other]).max() > 1e-3


def test_a_chip_is_static_and_a_repeat_dynamic():
    noiseless = RING.changed(settle_time=float("inf"), diffusion=0.0, readout_noise=0.0)
    static = on_ring(device=noiseless).logits
    np.testing.assert_array_equal(static[:, 0], static[:, 1])
    assert np.abs(static[0] - static[1]).max() > 0.1
    noisy = on_ring(device=noiseless.changed(readout_noise=0.02)).logits
    assert np.abs(noisy[:, 0] - noisy[:, 1]).max() > 1e-3


def test_seeds_differ_and_the_same_seed_does_not():
    one = on_ring(seed=1, chips=1)
    np.testing.assert_array_equal(one.logits, on_ring(seed=1, chips=1).logits)
    for seed in (0, 2, 2**32 - 1):
        assert np.abs(on_ring(seed=seed, chips=1).logits - one.logits).max() > 1e-2
    np.testing.assert_array_equal(one.digital, on_ring(seed=2, chips=1).digital)


# Requests that are wrong


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"chips": 0}, r"chips must be a whole number in 1..2\^32 - 1, got 0"),
        ({"chips": -1}, "chips must be a whole number in"),
        ({"chips": 2**32}, "chips must be a whole number in"),
        ({"chips": 2.0}, "chips must be a whole number in .* got 2.0"),
        ({"chips": True}, "chips must be a whole number in .* got True"),
        ({"repeats": "2"}, "repeats must be a whole number in .* got '2'"),
        ({"repeats": 0}, "repeats must be a whole number in"),
        ({"seed": -1}, r"seed must be in 0..2\^32 - 1, got -1"),
        ({"seed": 2**32}, "seed must be in"),
        ({"rung": "spice"}, "unknown rung 'spice': one of digital, ideal"),
        ({"n_threads": 0}, "threads must be at least 1, got 0"),
        ({"n_threads": -2}, "threads must be at least 1"),
        (
            {"perturbation": Perturbation("state", 0.1)},
            "use device ideal, got device ring-65nm at rung device",
        ),
        (
            {"perturbation": Perturbation("state", 0.1), "rung": "finite"},
            "at rung finite",
        ),
        (
            {
                "perturbation": Perturbation("state", 0.1),
                "rung": "digital",
                "device": Device.load("ideal"),
            },
            "at rung digital",
        ),
    ],
)
def test_a_wrong_request_is_refused_before_any_work(how, expected, monkeypatch):
    def never(*_args, **_kwargs):
        raise AssertionError("work has started")

    monkeypatch.setattr("oscsim.bridge.engine.run_blocks", never)
    with pytest.raises(SpecError, match=expected):
        on_ring(**how)


def test_a_softmax_model_runs_digitally_only():
    twin = bundled(SOFTMAX)
    for rung in ("ideal", "device"):
        with pytest.raises(
            SpecError, match="has no oscillators: only the rung digital"
        ):
            infer(twin, some(10, SOFTMAX), rung=rung)
    found = infer(twin, some(100, SOFTMAX), rung="digital", chips=5, repeats=3)
    assert found.logits.shape == (1, 1, 100)
    np.testing.assert_array_equal(found.logits[0, 0], found.digital)
    assert compare(found).substrate > 0.8
    with pytest.raises(SpecError, match="has no oscillators"):
        infer(
            twin,
            some(10, SOFTMAX),
            device=Device.load("ideal"),
            perturbation=Perturbation("state", 0.1),
        )


def test_a_ring_refuses_a_model_of_more_components():
    model = random_model(8, task="sva")
    with pytest.raises(DeviceError, match=r"d_osc = 8: use sphere-generic"):
        infer(model, some(10), device=RING)


def test_a_model_with_several_outputs_is_sent_to_raw_outputs():
    with pytest.raises(SpecError, match=r"has 3 outputs.*use Checkpoint.logits"):
        infer(random_model(2, n_outputs=3), some(10), device=RING)


def test_without_data_the_bundled_set_is_used_or_its_absence_told():
    found = infer(bundled(), rung="digital")
    assert len(found.data) == 4000
    assert found.setting.device.name == "ring-65nm"
    with pytest.raises(
        DataError, match=r"give the data \(--data\), or say that it is a subject-verb"
    ):
        infer(random_model(2), rung="digital")


def test_an_engine_that_is_not_running_says_so():
    data = some(10)
    with pytest.raises(RuntimeError, match="running"):
        Engine(bundled(), data.ids, data.positions).run(Pass)


# Names and paths


def test_a_device_may_be_a_name_or_a_path_and_data_a_path(tmp_path):
    lines = BUNDLED_LINES.read_text(encoding="utf-8").splitlines()[:20]
    (tmp_path / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "mine.toml").write_text(
        (DATA / "devices" / "ring-65nm.toml").read_text(encoding="utf-8")
    )
    known = on_ring(data=read_sva(tmp_path / "data.jsonl", bundled().config))
    for data in (tmp_path / "data.jsonl", str(tmp_path / "data.jsonl")):
        for device in (
            "ring-65nm",
            tmp_path / "mine.toml",
            str(tmp_path / "mine.toml"),
        ):
            found = infer(bundled(), data, device=device, chips=2, repeats=2)
            np.testing.assert_array_equal(found.logits, known.logits)
            assert found.data.sha256 == known.data.sha256
    assert found.setting.device.name == "mine"


def test_a_name_or_path_that_is_none_is_refused():
    with pytest.raises(DeviceError, match="no device 'ring-5nm'"):
        infer(bundled(), some(5), device="ring-5nm")
    with pytest.raises(DataError, match=r"there is no data file missing\.jsonl"):
        infer(bundled(), "missing.jsonl")


# Ctrl-C


@pytest.mark.parametrize("when", [1, 2])
def test_ctrl_c_keeps_the_chips_that_were_done(when):
    calls = []

    def stop(done, asked):
        calls.append((done, asked))
        if done == when:
            raise KeyboardInterrupt

    kept = on_ring(chips=4, progress=stop)
    assert kept.interrupted
    assert (len(kept.logits), kept.chips_asked) == (when, 4)
    assert len(kept.tallies) == when
    assert calls == [(n, 4) for n in range(when + 1)]
    np.testing.assert_array_equal(kept.logits, on_ring(chips=when).logits)


def test_ctrl_c_in_the_middle_of_a_chip_drops_that_chip(monkeypatch):
    original = Engine.on_chip

    def on_chip(engine, setting, layers, number, *more):
        if number == 2:
            raise KeyboardInterrupt
        return original(engine, setting, layers, number, *more)

    monkeypatch.setattr(Engine, "on_chip", on_chip)
    assert len(on_ring(chips=4).logits) == 2


def test_ctrl_c_before_the_first_chip_is_passed_on():
    def stop(_done, _asked):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_ring(progress=stop)


def test_progress_counts_chips_to_the_end():
    calls = []
    found = on_ring(70, chips=2, progress=lambda *call: calls.append(call))
    assert calls == [(0, 2), (1, 2), (2, 2)]
    assert not found.interrupted


# What is counted


def test_counts_are_those_of_one_pass_times_chips_and_repeats():
    one = on_ring(100, chips=1, repeats=1)
    many = on_ring(100, chips=3, repeats=2)
    assert many.counts.tokens == 6 * one.counts.tokens == 6 * some(100).lengths.sum()
    assert set(many.counts.actions) == set(one.counts.actions)
    for key, number in one.counts.actions.items():
        assert many.counts.actions[key] == pytest.approx(6 * number)


def test_the_digital_pass_counts_what_the_closed_form_says():
    found = on_ring(100, chips=1, repeats=1, rung="digital")
    shape = shape_of(found, found.data.lengths)
    assert found.counts == found.digital_counts == digital_oscillator(shape)
    twin = infer(bundled(SOFTMAX), some(100, SOFTMAX), rung="digital")
    assert twin.counts == digital_softmax(shape_of(twin, twin.data.lengths))


@pytest.mark.parametrize("mask_readout", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_padding_is_counted_where_it_exists(mask_readout, causal):
    """The published models read padding out: then it costs as much as a token."""
    from oscsim.energy.baselines import Shape

    model = random_model(2, mask_readout=mask_readout, causal=causal)
    ids = np.random.default_rng(1).integers(1, 11, (9, 7))
    ids[:4, 5:] = 0
    run = Pass()
    forward(model.weights, model.config, ids, run=run)
    lengths = [5] * 4 + [7] * 5 if mask_readout else [7] * 9
    assert run.counts == digital_oscillator(
        Shape(
            n_layers=2,
            n_heads=2,
            d_model=8,
            d_ff=12,
            d_osc=2,
            lengths=lengths,
            causal=causal,
            coupling="softplus",
            n_outputs=1,
        )
    )


def test_fillers_of_the_last_block_cost_nothing():
    parts = (on_ring(64, chips=1), on_ring(65, chips=1))
    gap = parts[1].counts.tokens - parts[0].counts.tokens
    assert gap == 2 * some(65).lengths[64]
    oscillators = [run.tallies[0].oscillators for run in parts]
    assert oscillators[1] - oscillators[0] == gap


def test_the_ideal_and_digital_rungs_share_all_but_the_oscillators():
    ideal = on_ring(64, chips=1, repeats=1, rung="ideal")
    done = Counts(ideal.digital_counts.actions.copy(), ideal.digital_counts.tokens)
    for key in [key for key in done.actions if key[0] in ("load", "settle")]:
        del done.actions[key]
    of_chips = (
        *(("load", "coupling_write"), ("readout", "state_read")),
        *(("load", "mul"), ("load", "sram_read_byte"), ("similarity", "sincos")),
    )
    for key in of_chips:
        assert ideal.counts.actions[key] > 0
        done.actions[key] = ideal.counts.actions[key]
    assert done == ideal.counts


@pytest.mark.parametrize(
    "fields", [{}, {"causal": True}, {"mask_readout": False}, {"p": 2}], ids=str
)
def test_clamped_pairs_are_those_a_loop_finds(fields):
    """Over layers, heads, queries and anchors that exist; 1 + z.r < 0."""
    model = random_model(2, task="sva", vocab_size=169, max_len=9, **fields)
    longer = {
        name: (3 if name.endswith("anchors") else 1) * values
        for name, values in model.weights.items()
    }
    model = dataclasses.replace(model, weights=longer)
    data = some(70)
    found = infer(model, data, rung="digital").digital_clamped
    seen = []

    def watched(drive, counts):
        state = settle_digital(drive, counts)
        seen.append((drive.anchors, state))
        return state

    forward(in_float64(model.weights), model.config, data.ids, run=Pass(watched))
    expected = total = 0
    for anchors, states in seen:
        for item, length in enumerate(data.lengths):
            n = length if model.config.mask_readout else data.ids.shape[1]
            for head, i, j in itertools.product(range(2), range(n), range(n)):
                if j <= i or not model.config.causal:
                    total += 1
                    reading = 1 + states[item, head, i] @ anchors[head, j]
                    expected += reading < 0
    assert len(seen) == 2
    assert found == expected
    assert 0.05 * total < expected < 0.5 * total


def test_short_anchors_are_never_clamped_and_the_softmax_twin_has_none():
    short = infer(short_anchors(), some(100), device=RING, chips=1, repeats=1)
    assert short.digital_clamped == 0
    twin = infer(bundled(SOFTMAX), some(100, SOFTMAX), rung="digital")
    assert twin.digital_clamped == 0
    assert on_ring(100, n_threads=1).digital_clamped > 0


def test_clamped_pairs_do_not_depend_on_chips_threads_or_the_rung():
    counts = {
        on_ring(100, chips=chips, repeats=1, rung=rung, n_threads=n).digital_clamped
        for chips, rung, n in ((1, "device", 1), (2, "finite", 2), (1, "digital", 2))
    }
    parts = (part(some(100), slice(0, 64)), part(some(100), slice(64, 100)))
    apart = [on_ring(data=p, rung="digital").digital_clamped for p in parts]
    assert counts == {sum(apart)}


# Published perturbations


def test_a_perturbation_is_redrawn_for_every_chip_number_and_repeat():
    kind = Perturbation("coupling", 0.5)
    found = on_ring(device=Device.load("ideal"), perturbation=kind).logits
    flat = found.reshape(4, -1)
    for one in range(4):
        for other in range(one):
            assert np.abs(flat[one] - flat[other]).max() > 1e-3
    none = on_ring(device=Device.load("ideal"), perturbation=Perturbation("state", 0.0))
    assert np.abs(none.logits - none.digital).max() < 1e-10


def test_a_perturbation_at_the_ideal_rung_of_a_device_is_the_same_draw():
    kind = Perturbation("frequency", 0.5)
    here = on_ring(rung="ideal", perturbation=kind)
    there = on_ring(device=Device.load("ideal"), perturbation=kind)
    np.testing.assert_array_equal(here.logits, there.logits)


def test_a_setting_says_which_device_acts():
    assert Setting(RING, "digital").acting_device.imperfections == ()
    assert Setting(RING, "noisy").acting_device.imperfections == (
        "settle_time",
        "diffusion",
    )
    assert Setting(RING).acting_device is RING
