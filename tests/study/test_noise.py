"""Bits per byte against thermal noise, beside SciPy's draws and by hand."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import vonmises_fisher

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.language import bits_of
from oscsim.bridge.passes import in_float64
from oscsim.bridge.text_data import read_bytes
from oscsim.errors import DataError, SpecError
from oscsim.models.fixed_query import Pass, forward
from oscsim.study.drives import drive_length, over_oscillators
from oscsim.study.noise import NoiseByDimension, noise_by_dimension
from tests.bridge.language import CONTEXT, language_model, prose

DATA = Path(__file__).parents[2] / "data"
NOISES = (0.0, 0.1, 1.0)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return read_bytes(prose(tmp_path_factory.mktemp("text") / "prose"), CONTEXT, 6)


@pytest.fixture(scope="module")
def models():
    return [replace(language_model(d_osc=d), name=f"d{d}") for d in (2, 3)]


@pytest.fixture(scope="module")
def study(models, text):
    return noise_by_dimension(models, text, relative=NOISES, repeats=40, seed=3)


def in_scipy(model, text, diffusion, rng):
    """Bits per byte with every state drawn from the settled law by SciPy."""

    def settle(drive, counts):
        field = np.matmul(drive.coupling, drive.anchors)
        states = np.empty_like(field)
        for place in np.ndindex(field.shape[:-1]):
            size = np.linalg.norm(field[place])
            law = vonmises_fisher(field[place] / size, size / diffusion)
            states[place] = law.rvs(1, random_state=rng)[0]
        return states

    logits = forward(
        in_float64(model.weights), model.config, text.ids, run=Pass(settle)
    )
    return bits_of(logits, text.targets).mean()


def test_no_noise_is_the_digital_model(study):
    np.testing.assert_allclose(
        study.bits[:, 0], np.repeat(study.digital[:, None], 40, axis=1), rtol=1e-9
    )


def test_noise_is_the_settled_law_at_this_share_of_the_median(study, models, text):
    """Mean of 40 draws against 12 of SciPy's; a tenth of the noise fails."""
    rng = np.random.default_rng(1)
    ours = study.bits[1, 2].mean(axis=-1)
    size = study.medians[1]
    for factor, is_right in ((1.0, True), (0.1, False)):
        theirs = [in_scipy(models[1], text, factor * size, rng) for _ in range(12)]
        spread = np.sqrt(ours.var(ddof=1) / 40 + np.var(theirs, ddof=1) / 12)
        assert (abs(ours.mean() - np.mean(theirs)) < 4 * spread) == is_right


def test_medians_are_those_of_the_drives(study, models, text):
    """The first layer written out: |sum_j softplus(q k / sqrt d) r_j|."""
    w = in_float64(models[1].weights)
    x = w["embedding.weight"][text.ids] + w["pos_enc.pe"][0, :CONTEXT]
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    y = y * w["layers.0.norm1.weight"] + w["layers.0.norm1.bias"]
    q, k = (
        (y @ w[f"layers.0.attn.W_{n}.weight"].T).reshape(6, CONTEXT, 2, 8) for n in "qk"
    )
    score = np.einsum("bqhc,bkhc->bhqk", q, k) / np.sqrt(8)
    coupling = np.log1p(np.exp(score)) * np.tri(CONTEXT)
    h = np.linalg.norm(coupling @ w["layers.0.attn.anchors"], axis=-1)
    assert study.layer_medians[1, 0] == pytest.approx(np.median(h), rel=1e-9)
    first, second = over_oscillators(models[1], text, drive_length, n_threads=1)
    np.testing.assert_allclose(first, h, rtol=1e-9)
    assert study.medians[1] == np.median([first, second])


def test_threads_and_company_change_nothing(study, models, text):
    alone = noise_by_dimension(
        models[1:], text, relative=NOISES[1:2], repeats=2, seed=3, n_threads=1
    )
    np.testing.assert_array_equal(alone.bits[0, 0], study.bits[1, 1, :2])
    other = noise_by_dimension(
        models[1:], text, relative=NOISES[1:2], repeats=2, seed=4
    )
    assert not np.any(alone.bits == other.bits)


def made(shift):
    """Three models on four windows; the text varies much more than they differ."""
    window = np.array([1.0, 3.0, 2.0, 6.0])
    wobble = np.array([-0.01, 0.01, -0.01, 0.01])
    bits = np.stack([window, window + shift + wobble, window + 0.5 + wobble])
    return NoiseByDimension(
        checkpoints=("a", "b", "c"),
        d_osc=(2, 4, 8),
        relative=np.array([0.1]),
        medians=np.array([1.0, 2.0, 3.0]),
        layer_medians=np.array([[1.0], [2.0], [3.0]]),
        digital=bits,
        bits=np.stack([bits - 0.25, bits + 0.25], axis=1)[:, None],
        seed=0,
    )


@pytest.mark.parametrize(("shift", "place"), [(0.01, "undecided"), (0.02, "worse")])
def test_best_is_said_only_where_the_paired_windows_decide(shift, place):
    rows = made(shift).rows()
    assert [row.place for row in rows] == ["best", place, "worse"]
    error = 0.01 * np.sqrt(4 / 3) / 2
    assert rows[1].difference == pytest.approx(shift)
    assert rows[1].difference_error == pytest.approx(error)
    assert rows[1].error > 100 * error, "unpaired, nothing would be decided"
    assert [row.diffusion for row in rows] == pytest.approx([0.1, 0.2, 0.3])
    assert [row.bits_per_byte for row in rows] == pytest.approx([3, 3 + shift, 3.5])
    rival = ", undecided 4" if place == "undecided" else ""
    assert made(shift).said() == [f"D / median |h| = 0.1: d_osc 2 is best{rival}"]


def test_to_xarray_has_names(study):
    found = study.to_xarray()
    cell = found.bits.sel(checkpoint="d3", noise=0.1).isel(repeat=5, window=2)
    assert float(cell) == study.bits[1, 1, 5, 2]
    assert (
        float(found.layer_median_h.sel(checkpoint="d2")[1])
        == (study.layer_medians[0, 1])
    )
    assert list(found.d_osc.values) == [2, 3]
    assert found.attrs["seed"] == 3


def test_progress_counts_cells(models, text):
    seen = []
    noise_by_dimension(
        models[:1],
        text,
        relative=(0.0, 1.0),
        repeats=1,
        progress=lambda *x: seen.append(x),
    )
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_wrong_requests(models, text):
    with pytest.raises(SpecError, match="got 0 models and 7 noises"):
        noise_by_dimension([], text)
    with pytest.raises(SpecError, match="got 1 models and 0 noises"):
        noise_by_dimension(models[:1], text, relative=())
    for wrong in (-0.1, np.inf, np.nan):
        with pytest.raises(SpecError, match=f"finite and >= 0, got {wrong}"):
            noise_by_dimension(models, text, relative=(0.1, wrong))
    with pytest.raises(SpecError, match="softmax has no driven oscillators"):
        noise_by_dimension([*models, language_model("softmax")], text)
    with pytest.raises(SpecError, match=r"has 1 layers and d2 2: .* one depth"):
        noise_by_dimension([models[0], language_model(n_layers=1)], text)
    with pytest.raises(SpecError, match=r"repeats must be .* got 0"):
        noise_by_dimension(models, text, repeats=0)
    with pytest.raises(SpecError, match=r"seed must be .* got -1"):
        noise_by_dimension(models, text, seed=-1)
    with pytest.raises(SpecError, match=r"model must be in 0\.\.2: 3"):
        made(0.01).differences(3)
    sentences = load_checkpoint(DATA / "checkpoints" / "sva-osc-d2-s0")
    with pytest.raises(DataError, match="sva-osc-d2-s0 has a vocabulary"):
        noise_by_dimension([sentences], text)


def test_one_window_has_no_error(models, text):
    one = replace(text, ids=text.ids[:1], targets=text.targets[:1])
    rows = noise_by_dimension(models, one, relative=(0.1,), repeats=1).rows()
    assert np.isnan([row.error for row in rows]).all()
    assert [row.place for row in rows].count("undecided") == 1


def test_the_committed_table_says_that_the_best_dimension_falls_with_the_noise():
    with (DATA / "benchmarks" / "noise-dimension.csv").open() as file:
        table = list(csv.DictReader(file))
    best = {
        float(row["relative"]): int(row["d_osc"])
        for row in table
        if row["place"] == "best"
    }
    assert list(best.values()) == [32, 32, 4, 4, 2, 2, 2]
    assert list(best) == [0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
    assert not [row for row in table if row["place"] == "undecided"]
    scores = [
        float(row["difference"]) / float(row["difference_error"])
        for row in table
        if row["place"] == "worse"
    ]
    assert min(scores) == pytest.approx(4.46, abs=0.005), "as the README says"
