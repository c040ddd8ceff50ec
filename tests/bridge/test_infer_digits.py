"""Models of spoken digits on chips: decisions, parity, cost, the record."""

import dataclasses

import numpy as np
import pytest

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import SOFTMAX, price
from oscsim.bridge.digit_data import read_digits
from oscsim.bridge.infer import as_data, infer
from oscsim.bridge.manifest import Manifest, digest, rerun
from oscsim.bridge.maps import attention_maps, telling_item
from oscsim.bridge.passes import in_float64
from oscsim.bridge.summary import summary
from oscsim.errors import DataError
from oscsim.report.run_figures import accuracy_per_repeat
from oscsim.study.ladder import ladder
from tests.bridge.checkpoints import folder, tensors
from tests.bridge.digits import FRAMES, archive, frame_model
from tests.bridge.runs import DATA, bundled, some


@pytest.fixture
def clips(tmp_path):
    return read_digits(archive(tmp_path / "clips.npz"), FRAMES, "all")


@pytest.mark.parametrize("d_osc", [2, 3])
def test_ideal_equals_digital(clips, d_osc):
    run = infer(frame_model(d_osc=d_osc), clips, device="ideal", rung="ideal", chips=2)
    assert run.digital.shape == (20, 4)
    assert run.logits.shape == (2, 4, 20, 4)
    assert compare(run).max_abs_error < 1e-10
    noisy = infer(frame_model(), clips, device="sphere-generic", chips=1, repeats=1)
    assert compare(noisy).max_abs_error > 1e-3


def test_the_largest_output_decides(clips):
    run = infer(frame_model(), clips, rung="ideal", device="ideal", chips=2, repeats=1)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2, 1, 20, 4))
    run = dataclasses.replace(run, logits=logits, digital=logits[0, 0] + 1e-3)
    c = compare(run)
    right = [[max(range(4), key=lambda k: row[k]) for row in one[0]] for one in logits]
    shares = [
        np.mean([a == b for a, b in zip(one, clips.labels, strict=True)])
        for one in right
    ]
    np.testing.assert_allclose(c.per_chip, shares)
    assert (c.metric, c.digital, c.n_items) == ("accuracy", shares[0], 20)
    same = np.mean([a == b for a, b in zip(*right, strict=True)])
    assert c.agreement == pytest.approx((1 + same) / 2)
    np.testing.assert_allclose(accuracy_per_repeat(run)[:, 0], shares)


def test_threads_do_not_change_a_bit(clips):
    model = frame_model()
    runs = [
        infer(model, clips, device="sphere-generic", chips=2, repeats=1, n_threads=n)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0].logits, runs[1].logits)
    assert runs[0].counts == runs[1].counts


def test_longer_padding_changes_nothing(clips):
    model = frame_model()
    trimmed = dataclasses.replace(
        clips,
        inputs=clips.inputs[:4, :4],
        lengths=clips.lengths[:4],
        labels=clips.labels[:4],
    )
    short = infer(model, trimmed, rung="digital").digital
    long = infer(model, clips, rung="digital").digital[:4]
    np.testing.assert_allclose(short, long, rtol=0, atol=1e-13)


def test_energy_counts_frames_and_rivals_the_same_body(clips):
    run = infer(frame_model(d_osc=2), clips, device="ring-65nm", chips=1, repeats=1)
    assert run.counts.tokens == int(clips.lengths.sum())
    cost = price(run)
    assert cost is not None
    assert cost.substrate.per_token_j("system") > 0
    twin = infer(frame_model(attention="softmax", d_osc=None), clips, rung="digital")
    expected = cost.rivals[SOFTMAX]
    assert expected.per_token_j("system") > 0
    assert twin.counts.tokens == run.counts.tokens
    assert summary(run, compare(run), cost)["metric"] == "accuracy"


def test_full_scale_comes_from_the_bundled_training_clips(clips):
    model = load_checkpoint(DATA / "checkpoints" / "digits-osc-d2")
    train = read_digits(
        DATA / "datasets" / "digits" / "digits.npz", model.config, "training"
    )
    found = calibrate(model, in_float64(model.weights), clips.inputs)
    assert (found.source, found.warnings) == ("256 bundled training items", ())
    other = frame_model()
    assert calibrate(other, other.weights, clips.inputs).warnings == (
        "full scale of the couplings taken from the first 20 items of the data",
    )
    assert len(train) == 2400


def test_a_run_from_files_is_recorded_and_repeated(tmp_path):
    quiet = {name: 0.3 * w for name, w in tensors(FRAMES).items()}
    checkpoint = load_checkpoint(folder(tmp_path / "m", FRAMES, quiet))
    path = archive(tmp_path / "clips.npz")
    run = infer(checkpoint, path, device="sphere-generic", chips=1, repeats=1)
    assert len(run.data) == 5
    again = rerun(Manifest.of(run))
    assert digest(again) == digest(run)
    rungs = ladder(checkpoint, path, device="sphere-generic", chips=1, repeats=1)
    assert rungs.steps[1].decisions_changed == 0
    maps = attention_maps(run, telling_item(run))
    assert maps is not None
    n = int(run.data.lengths[0])
    assert maps.words == tuple(str(k) for k in range(n))
    np.testing.assert_allclose(maps.chip.sum(axis=-1), 1)


def test_raw_outputs_of_frames(clips):
    model = frame_model()
    expected = infer(model, clips, rung="digital").digital
    np.testing.assert_allclose(model.logits(clips.inputs), expected, atol=1e-13)
    with pytest.raises(DataError, match="reads no position"):
        model.logits(clips.inputs, positions=np.zeros(20, int))


def test_data_of_another_kind_are_refused(clips):
    with pytest.raises(DataError, match="must be a DigitSet or a path for a check"):
        as_data(some(3), frame_model())
    with pytest.raises(DataError, match="must be a TokenSet or a path for a check"):
        as_data(clips, bundled())


@pytest.mark.parametrize("name", ["digits-osc-d2", "digits-osc-d8"])
def test_bundled_checkpoints_keep_their_accuracy_on_chips(name):
    """The card's accuracy digitally, bit for bit the same decisions when ideal."""
    model = load_checkpoint(DATA / "checkpoints" / name)
    run = infer(model, rung="ideal", device="ideal", chips=1, repeats=1)
    c = compare(run)
    card = (DATA / "checkpoints" / name / "README.md").read_text()
    assert f"| last epoch (this checkpoint) | {100 * c.digital:.2f} |" in card
    assert c.max_abs_error < 1e-10
    assert c.agreement == 1
