"""Language models on chips: bits per token, beside digital, same windows."""

import dataclasses

import numpy as np
import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import DIRECT, FACTORED, price
from oscsim.bridge.engine import Engine
from oscsim.bridge.infer import infer
from oscsim.bridge.language import LanguageRun, bits_of
from oscsim.bridge.manifest import Manifest, rerun
from oscsim.bridge.passes import in_float64
from oscsim.bridge.summary import summary
from oscsim.bridge.text_data import read_bytes
from oscsim.errors import DataError, EvaluationError, SpecError
from oscsim.models import fixed_query, kuramoto_attention, transformer
from oscsim.substrate.perturb import Perturbation
from tests.bridge.language import CONFIGS, CONTEXT, language_model, prose, written
from tests.bridge.runs import DATA, some

FORWARD = {
    "oscillator": fixed_query.forward,
    "softmax": fixed_query.forward,
    "kuramoto": kuramoto_attention.forward,
    "transformer": transformer.forward,
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return read_bytes(
        prose(tmp_path_factory.mktemp("text") / "prose", 400), CONTEXT, 20
    )


@pytest.fixture(scope="module")
def noisy(text):
    return infer(language_model(), text, chips=3, repeats=2, seed=5)


def on_chips(text, model=None, **how):
    how = {"chips": 2, "repeats": 1} | how
    return infer(language_model() if model is None else model, text, **how)


@pytest.mark.parametrize("kind", CONFIGS)
def test_digital_bits_are_those_of_the_model(text, kind):
    model = language_model(kind)
    found = infer(model, text, rung="digital", chips=5)
    logits = FORWARD[kind](in_float64(model.weights), model.config, text.ids)
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    expected = -np.log2(np.take_along_axis(p, text.targets[..., None], -1)[..., 0])
    np.testing.assert_allclose(found.digital, expected, rtol=1e-12)
    np.testing.assert_array_equal(found.bits[0, 0], found.digital)
    assert found.bits.shape == (1, 1, 20, CONTEXT)
    c = compare(found)
    assert (c.agreement, c.max_abs_error, c.difference, c.ci95) == (1, 0, 0, None)


@pytest.mark.parametrize("changes", [{}, {"p": 4}, {"d_osc": 2}])
def test_the_ideal_substrate_is_the_digital_model(text, changes):
    found = on_chips(text, language_model(**changes), rung="ideal")
    assert found.max_error.max() < 1e-10
    np.testing.assert_allclose(found.bits[1, 0], found.digital, atol=1e-10)


@pytest.mark.parametrize("kind", ["softmax", "transformer"])
def test_models_without_oscillators_run_digitally_only(text, kind):
    with pytest.raises(SpecError, match="only the rung digital can run it"):
        on_chips(text, language_model(kind), rung="ideal")


def test_what_is_kept_of_a_chip_is_what_its_logits_say(text, noisy):
    model = language_model()
    logits = model.logits(text.ids, rung="device", seed=5)
    digital = model.logits(text.ids)
    np.testing.assert_allclose(
        bits_of(logits, text.targets), noisy.bits[0, 0], atol=1e-9
    )
    np.testing.assert_array_equal(logits.argmax(-1), noisy.top[0, 0])
    largest = np.abs(logits - digital).max(axis=(1, 2))
    np.testing.assert_allclose(largest, noisy.max_error[0, 0], atol=1e-9)


def test_bits_do_not_depend_on_threads_or_on_other_windows(text, noisy):
    one = infer(language_model(), text, chips=3, repeats=2, seed=5, n_threads=1)
    np.testing.assert_array_equal(one.bits, noisy.bits)
    first = dataclasses.replace(text, ids=text.ids[:9], targets=text.targets[:9])
    part = infer(language_model(), first, chips=1, repeats=2, seed=5)
    np.testing.assert_array_equal(part.bits[0], noisy.bits[0, :, :9])


def test_chips_and_repeats_differ_and_a_seed_repeats(text, noisy):
    assert np.abs(noisy.bits[0] - noisy.bits[1]).max() > 1e-4
    assert np.abs(noisy.bits[:, 0] - noisy.bits[:, 1]).max() > 1e-6
    other = infer(language_model(), text, chips=1, repeats=1, seed=6)
    assert np.abs(other.bits[0, 0] - noisy.bits[0, 0]).max() > 1e-4


def test_a_comparison_is_arithmetic_on_the_bits(noisy):
    c = compare(noisy)
    per_window = noisy.bits.mean(axis=(0, 1, 3)) - noisy.digital.mean(axis=1)
    assert c.substrate == pytest.approx(noisy.bits.mean())
    assert c.digital == pytest.approx(noisy.digital.mean())
    assert c.difference == pytest.approx(per_window.mean())
    assert c.difference_error == pytest.approx(per_window.std(ddof=1) / np.sqrt(20))
    assert c.difference_error < c.digital_error  # paired
    assert c.perplexity == pytest.approx(2**c.substrate)
    assert c.digital_perplexity == pytest.approx(2**c.digital)
    assert c.agreement == pytest.approx((noisy.top == noisy.digital_top).mean())
    low, high = c.ci95
    assert low < c.substrate < high
    half = 4.302653 * c.per_chip.std(ddof=1) / np.sqrt(3)
    assert high - low == pytest.approx(2 * half, rel=1e-6)
    assert (c.chips, c.n_windows, c.n_items) == (3, 20, 20 * CONTEXT)


def test_a_single_window_has_no_standard_error(text):
    one = dataclasses.replace(text, ids=text.ids[:1], targets=text.targets[:1])
    found = summary(run := on_chips(one, chips=1), compare(run), price(run))
    assert found["difference_standard_error"] is None
    assert found["ci95"] is None


def test_counts_are_those_of_one_pass_times_chips_and_repeats(noisy):
    tokens = 20 * CONTEXT
    assert noisy.digital_counts.tokens == tokens
    assert noisy.counts.tokens == 6 * tokens
    pairs = 20 * CONTEXT * (CONTEXT + 1) // 2
    assert noisy.counts.total("coupling_write") == 6 * 2 * 2 * pairs
    assert sum(t.oscillators for t in noisy.tallies) == 6 * 2 * 2 * tokens


def test_energy_is_per_token_with_rivals(noisy):
    cost = price(noisy)
    assert cost.substrate.per_token_j("system") > cost.substrate.per_token_j("core") > 0
    assert DIRECT in cost.rivals
    found = summary(noisy, compare(noisy), cost)
    assert found["metric"] == "bits_per_byte"
    assert found["data"]["md5"] == noisy.data.md5
    assert found["energy_j_per_token"]["p50"] > 0
    assert found["n_tokens"] == 20 * CONTEXT


def test_the_digital_rung_and_other_families_have_no_price(text):
    assert price(infer(language_model("kuramoto"), text, rung="digital")) is None


@pytest.mark.parametrize("rung", ["digital", "ideal", "device"])
def test_prefix_sums_give_the_same_bits_where_they_are_legal(text, rung):
    model = language_model(short_anchors=True)
    direct = on_chips(text, model, rung=rung)
    prefix = on_chips(text, model, rung=rung, readout="prefix")
    np.testing.assert_allclose(prefix.bits, direct.bits, atol=1e-11)
    assert prefix.counts.total("recip") <= direct.counts.total("recip")


def test_prefix_sums_are_refused_with_the_number_of_illegal_pairs(text):
    clamped = on_chips(text, rung="digital").digital_clamped
    assert clamped > 0
    with pytest.raises(SpecError, match=f"1 \\+ z.r is negative for {clamped:,} pairs"):
        on_chips(text, rung="digital", readout="prefix")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("oscillator", {"p": 4}, "has p = 4: it factors into prefix sums for p = 1"),
        ("softmax", {}, "softmax has no oscillator read-out"),
        ("kuramoto", {}, "kuramoto has no oscillator read-out"),
    ],
)
def test_prefix_sums_are_for_p_1(text, kind, changes, message):
    model = language_model(kind, **changes)
    with pytest.raises(SpecError, match=message):
        on_chips(text, model, rung="digital", readout="prefix")
    with pytest.raises(SpecError, match="unknown read-out 'fast': one of direct, pref"):
        on_chips(text, model, rung="digital", readout="fast")


def test_a_factored_rival_is_named_where_it_is_legal(text):
    legal = on_chips(text, language_model(short_anchors=True))
    assert FACTORED in price(legal).rivals


def test_published_perturbations_act_on_text(text):
    how = {"device": "ideal", "rung": "ideal"}
    weak, strong = (
        compare(on_chips(text, perturbation=Perturbation("coupling", s), **how))
        for s in (0.01, 0.3)
    )
    assert 0 < weak.max_abs_error < strong.max_abs_error


def test_a_context_longer_than_the_anchors(text):
    with pytest.raises(DataError, match="12 bytes is longer than the 7 anchors of osc"):
        on_chips(text, language_model(max_len=7))
    with pytest.raises(DataError, match="longer than the 7 positions of softmax"):
        on_chips(text, language_model("softmax", max_len=7), rung="digital")
    longer = on_chips(text, language_model("kuramoto", max_len=7), rung="digital")
    assert longer.warnings == ("a context of 12 bytes, trained were 7",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 169, "n_outputs": 169}, "a vocabulary of 169 tokens and the"),
        ({"n_outputs": 1}, "does not predict the byte that follows each position"),
        ({"causal": False}, "does not predict the byte that follows each position"),
        ({"task": "ids"}, r"is a checkpoint of task 'ids': .*--config task=bytes"),
    ],
)
def test_models_that_do_not_predict_bytes(text, changes, message):
    with pytest.raises(DataError, match=message):
        on_chips(text, language_model(**changes), rung="digital")


def test_data_that_are_no_text(text, tmp_path):
    with pytest.raises(DataError, match="must be a ByteText or a path, got a TokenSet"):
        on_chips(some(3))
    with pytest.raises(DataError, match="must be a ByteText or a path, got 3"):
        on_chips(3)
    with pytest.raises(DataError, match=r"windows given have .* bytes, 3 were asked"):
        on_chips(text, context=3)
    with pytest.raises(DataError, match="the data hold 20 windows, 3 were asked for"):
        on_chips(text, windows=3)
    found = on_chips(prose(tmp_path / "text"), rung="digital", windows=2)
    assert found.bits.shape == (1, 1, 2, CONTEXT)


def test_windows_that_do_not_fit_into_memory(text, monkeypatch):
    monkeypatch.setattr("oscsim.memory.free_memory", lambda: 1e5)
    with pytest.raises(SpecError, match="use fewer windows, chips or repeats"):
        on_chips(text, rung="digital")


def test_a_model_that_overflows_is_no_result(text):
    model = language_model()
    weights = dict(model.weights) | {"head.bias": np.full(256, 3e38, np.float32)}
    weights["head.weight"] = np.full((256, 16), 3e38, np.float32)
    weights["norm.weight"] = np.full(16, 1e300)
    broken = dataclasses.replace(model, weights=weights)
    with pytest.raises(EvaluationError, match="left the range of float64"):
        on_chips(text, broken, rung="digital")


def test_ctrl_c_keeps_the_chips_that_were_done(text, monkeypatch):
    original = Engine.on_chip

    def on_chip(engine, setting, layers, number, *more):
        if number == 2:
            raise KeyboardInterrupt
        return original(engine, setting, layers, number, *more)

    monkeypatch.setattr(Engine, "on_chip", on_chip)
    found = on_chips(text, chips=4)
    assert found.interrupted
    assert len(found.bits) == compare(found).chips == 2


def test_a_record_repeats_a_run_bit_for_bit(tmp_path):
    model = load_checkpoint(written(tmp_path / "m"))
    data = prose(tmp_path / "text")
    run = infer(model, data, chips=2, repeats=1, windows=3)
    Manifest.of(run).save(tmp_path / "run.toml")
    again = rerun(Manifest.load(tmp_path / "run.toml"), n_threads=1)
    assert isinstance(again, LanguageRun)
    np.testing.assert_array_equal(again.bits, run.bits)
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(SpecError, match="the data is not the recorded one"):
        rerun(Manifest.load(tmp_path / "run.toml"))


def test_shipped_language_models_are_themselves_on_the_ideal_substrate():
    """Those of `data/checkpoints` with oscillators; as many as are there."""
    for path in sorted((DATA / "checkpoints").glob("bytes-osc-*")):
        found = infer(
            load_checkpoint(path), rung="ideal", chips=1, repeats=1, windows=2
        )
        assert found.max_error.max() < 1e-10, path.name
        assert found.data.md5 == "9b3ebd31df5e5e67d73729efd4237681"
