"""The record of a run: it repeats the run, or says why it cannot."""

import json
import shutil

import numpy as np
import pytest

from oscsim.bridge import manifest as records
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.datasets import read_sva
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest, changed_versions, digest, rerun
from oscsim.errors import CheckpointError, DataError, DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.runs import DATA, OSCILLATORS

IDEAL = Device.load("ideal")


@pytest.fixture
def place(tmp_path):
    """A checkpoint and 40 sentences of one's own, to be damaged."""
    shutil.copytree(DATA / "checkpoints" / OSCILLATORS[0], tmp_path / "model")
    bundled = DATA / "datasets" / "sva" / "validation.jsonl"
    lines = bundled.read_text(encoding="utf-8").splitlines()[:40]
    (tmp_path / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def recorded(place, config=None, **how):
    model = load_checkpoint(place / "model", config)
    data = read_sva(place / "data.jsonl", model.config)
    run = infer(model, data, **({"chips": 2, "repeats": 2, "seed": 7} | how))
    Manifest.of(run).save(place / "run.toml")
    return run


def repeated(place):
    return rerun(Manifest.load(place / "run.toml"))


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"rung": "digital"},
        {"rung": "ideal"},
        {"rung": "noisy", "device": Device.load("sphere-generic")},
        {"device": IDEAL.changed(settle_time=1.5, diffusion=1e-3)},
        {"device": IDEAL, "perturbation": Perturbation("coupling", 0.1 + 0.2)},
        {"device": IDEAL, "perturbation": Perturbation("state", 1e-7)},
        {"device": IDEAL, "perturbation": Perturbation("frequency", 3)},
        {"config": {"mask_readout": False, "trained_length": None}},
    ],
)
def test_a_record_repeats_its_run_bit_for_bit(place, how):
    first = recorded(place, **how)
    again = repeated(place)
    np.testing.assert_array_equal(again.logits, first.logits)
    assert digest(again) == Manifest.load(place).logits_sha256
    assert Manifest.of(again) == Manifest.of(first)


def test_a_record_survives_its_file(place):
    """Infinity, absent values and tables of prices included."""
    for kind in (IDEAL, Device.load("ring-65nm"), Device.load("sphere-generic")):
        run = recorded(place, device=kind, rung="ideal")
        record = Manifest.load(place / "run.toml")
        assert record == Manifest.of(run)
        assert Device.parse(record.device) == kind
    assert record.perturb is None


def test_a_digest_depends_on_every_logit(place):
    run = recorded(place)
    before = digest(run)
    run.logits[1, 1, 39] = np.nextafter(run.logits[1, 1, 39], 1e9)
    assert digest(run) != before


def test_an_interrupted_run_repeats_the_chips_it_has(place):
    def stop(done, _asked):
        if done == 1:
            raise KeyboardInterrupt

    run = recorded(place, chips=5, progress=stop)
    record = Manifest.load(place)
    assert (record.chips, record.chips_done) == (5, 1)
    again = repeated(place)
    np.testing.assert_array_equal(again.logits, run.logits)
    assert not again.interrupted


def test_a_changed_checkpoint_is_refused(place):
    recorded(place)
    path = place / "model" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(SpecError, match="the checkpoint is not the recorded one"):
        repeated(place)


def test_a_changed_configuration_is_refused(place):
    recorded(place)
    path = place / "model" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"mask_readout": False}))
    with pytest.raises(SpecError, match="the checkpoint is not the recorded one"):
        repeated(place)


def test_changed_data_are_refused(place):
    recorded(place)
    path = place / "data.jsonl"
    path.write_text(path.read_text().replace('"label": 1', '"label": 0', 1))
    with pytest.raises(SpecError, match="the data is not the recorded one"):
        repeated(place)


def test_what_is_gone_is_named(place):
    recorded(place)
    (place / "data.jsonl").unlink()
    with pytest.raises(DataError, match="no data file"):
        repeated(place)
    shutil.rmtree(place / "model")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        repeated(place)


def test_moved_files_are_named_where_they_lie_now(place, tmp_path_factory):
    first = recorded(place)
    there = tmp_path_factory.mktemp("moved")
    shutil.move(place / "model", there / "same-model")
    shutil.move(place / "data.jsonl", there / "same.jsonl")
    record = Manifest.load(place)
    moved = {"checkpoint": str(there / "same-model"), "data": str(there / "same.jsonl")}
    np.testing.assert_array_equal(rerun(record, **moved).logits, first.logits)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        rerun(record, data=moved["data"])
    with pytest.raises(DataError, match="no data file"):
        rerun(record, checkpoint=moved["checkpoint"])


def test_other_files_are_refused_wherever_they_lie(place):
    recorded(place)
    record = Manifest.load(place)
    other = str(DATA / "checkpoints" / OSCILLATORS[1])
    with pytest.raises(SpecError, match="the checkpoint is not the recorded one"):
        rerun(record, checkpoint=other)
    whole = str(DATA / "datasets" / "sva" / "validation.jsonl")
    with pytest.raises(SpecError, match="the data is not the recorded one"):
        rerun(record, data=whole)


def test_what_was_changed_in_a_device_is_in_the_record(place):
    recorded(place, device=Device.load("ring-65nm").changed(adc_bits=None))
    record = Manifest.load(place)
    assert record.device["changes"] == {"adc_bits": "8 -> None"}
    label = "ring-65nm (adc_bits 8 -> None)"
    assert repeated(place).setting.device.label == label


def edited(place, old, new):
    path = place / "run.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_changed_device_is_detected_or_refused(place):
    recorded(place)
    edited(place, "weight_bits = 5", "weight_bits = 4")
    assert digest(repeated(place)) != Manifest.load(place).logits_sha256
    edited(place, "weight_bits = 4", "weight_bits = 0")
    with pytest.raises(DeviceError, match="recorded device: weight_bits"):
        repeated(place)
    edited(place, "weight_bits = 0", "weight_bytes = 1")
    with pytest.raises(DeviceError, match="unknown key 'weight_bytes'"):
        repeated(place)


def test_a_changed_seed_is_detected(place):
    recorded(place)
    edited(place, "seed = 7", "seed = 8")
    assert digest(repeated(place)) != Manifest.load(place).logits_sha256


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seed = 7", 'seed = "seven"', "is not a run record: seed"),
        ("seed = 7", "sead = 7", "is not a run record: "),
        ('rung = "device"', 'rung = "board"', "is not a run record: rung"),
        ("chips = 2", "chips = two", "is not a run record"),
        (
            'logits_sha256 = "',
            'logits_sha256 = "z',
            "is not a run record: logits_sha256",
        ),
    ],
)
def test_a_damaged_record_is_one_sentence(place, old, new, expected):
    recorded(place)
    edited(place, old, new)
    with pytest.raises(SpecError, match=expected) as error:
        Manifest.load(place / "run.toml")
    assert "\n" not in str(error.value)


def test_a_record_of_no_chips_or_a_wrong_perturbation_is_refused(place):
    recorded(place)
    edited(place, "chips_done = 2", "chips_done = 0")
    with pytest.raises(SpecError, match="chips must be a whole number in"):
        repeated(place)
    edited(place, "seed = 7", 'seed = 7\nperturb = "noise=1"')
    with pytest.raises(SpecError, match="unknown perturbation"):
        repeated(place)


def test_what_is_no_record_is_named(tmp_path):
    with pytest.raises(SpecError, match="there is no run record"):
        Manifest.load(tmp_path / "missing.toml")
    with pytest.raises(SpecError, match=r"there is no run record .*run\.toml"):
        Manifest.load(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\x00")
    with pytest.raises(SpecError, match="is not a run record"):
        Manifest.load(tmp_path / "binary.toml")


def test_a_failed_save_leaves_the_old_record(place, monkeypatch):
    run = recorded(place)
    before = (place / "run.toml").read_bytes()

    def full(_path, _content):
        raise SpecError("disk full")

    monkeypatch.setattr(records, "write_whole", full)
    with pytest.raises(SpecError, match="disk full"):
        Manifest.of(run).save(place / "run.toml")
    assert (place / "run.toml").read_bytes() == before
    assert not list(place.glob(".*"))


def test_versions_that_differ_are_listed(place):
    record = Manifest.of(recorded(place))
    assert changed_versions(record) == []
    older = record.model_copy(
        update={"versions": record.versions | {"numpy": "1.0", "torch": "2.0"}}
    )
    first, second = changed_versions(older)
    assert first.startswith("numpy 1.0 -> ")
    assert second == "torch 2.0 -> none"
