"""Rungs in order, paired draws, and what is kept at Ctrl-C."""

import json

import numpy as np
import pytest

from oscsim.bridge.infer import infer
from oscsim.errors import SpecError
from oscsim.study import ladder as module
from oscsim.study.ladder import ladder
from oscsim.substrate.device import RUNGS, Device
from tests.bridge.runs import DATA, SOFTMAX, bundled, random_model, some

RING = Device.load("ring-65nm")


@pytest.fixture(scope="module")
def climbed():
    return ladder(bundled(), some(100), device=RING, chips=2, repeats=2, seed=3)


def test_rungs_are_in_order_and_the_ideal_one_changes_nothing(climbed):
    assert tuple(step.rung for step in climbed.steps) == RUNGS
    digital, ideal = climbed.steps[:2]
    assert (digital.decisions_changed, digital.rms_change) == (0.0, 0.0)
    assert ideal.decisions_changed == 0.0
    assert 0 < ideal.rms_change < 1e-10
    assert all(step.rms_change > 1e-6 for step in climbed.steps[2:])
    assert not climbed.interrupted


def test_a_step_is_the_change_from_the_rung_below(climbed):
    runs = [
        infer(bundled(), some(100), device=RING, rung=r, chips=2, repeats=2, seed=3)
        for r in ("noisy", "device")
    ]
    lower, upper = (run.logits for run in runs)
    step = climbed.steps[-1]
    assert step.rms_change == np.sqrt(np.mean((upper - lower) ** 2))
    assert step.decisions_changed == np.mean((upper > 0) != (lower > 0))


def test_rungs_share_their_random_numbers():
    """With next to no heat noisy is finite, whose error is far from nothing."""
    kind = RING.changed(diffusion=1e-9, settle_time=2e-8)
    found = ladder(bundled(), some(64), device=kind, chips=2, repeats=2)
    finite, noisy = found.steps[2:4]
    assert noisy.rms_change < 1e-4
    assert finite.rms_change > 0.1
    assert finite.comparison.tally.unsettled == noisy.comparison.tally.unsettled > 0


def test_a_ladder_is_plain_data(climbed):
    found = climbed.to_dict("name")
    assert found == json.loads(json.dumps(found, allow_nan=False))
    assert [row["rung"] for row in found["rungs"]] == list(RUNGS)
    assert found["rungs"][0]["ci95"] is None
    assert (found["checkpoint"], found["device"]) == ("name", "ring-65nm")
    assert (found["chips"], found["repeats"], found["seed"]) == (2, 2, 3)


def test_progress_counts_rungs():
    calls = []
    ladder(
        bundled(),
        some(5),
        device=RING,
        chips=1,
        repeats=1,
        progress=lambda *call: calls.append(call),
    )
    assert calls == [(n, 5) for n in range(6)]


def test_ctrl_c_between_rungs_keeps_those_that_were_done():
    def stop(done, _asked):
        if done == 2:
            raise KeyboardInterrupt

    found = ladder(bundled(), some(5), device=RING, chips=1, repeats=1, progress=stop)
    assert [step.rung for step in found.steps] == ["digital", "ideal"]
    assert found.interrupted


@pytest.mark.parametrize("chips_done", [0, 1])
def test_ctrl_c_within_a_rung_drops_that_rung(monkeypatch, chips_done):
    """Rungs of fewer chips are not compared with the one below."""

    def cut_short(*args, **how):
        def stop(done, _asked):
            if how["rung"] == "finite" and done == chips_done:
                raise KeyboardInterrupt

        return infer(*args, **how, progress=stop)

    monkeypatch.setattr(module, "infer", cut_short)
    found = ladder(bundled(), some(5), device=RING, chips=3, repeats=1)
    assert [step.rung for step in found.steps] == ["digital", "ideal"]
    assert found.interrupted


def test_ctrl_c_before_anything_is_done_is_passed_on():
    def stop(_done, _asked):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ladder(bundled(), some(5), device=RING, progress=stop)


def test_a_wrong_request_is_refused():
    with pytest.raises(SpecError, match="has no oscillators"):
        ladder(bundled(SOFTMAX), some(5, SOFTMAX), device=RING)
    with pytest.raises(SpecError, match="chips must be a whole number in"):
        ladder(bundled(), some(5), device=RING, chips=0)
    with pytest.raises(SpecError, match="threads must be at least 1"):
        ladder(bundled(), some(5), device=RING, n_threads=0)


def test_devices_and_data_may_be_named(tmp_path, climbed):
    bundled_lines = DATA / "datasets" / "sva" / "validation.jsonl"
    lines = bundled_lines.read_text(encoding="utf-8").splitlines()[:100]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = ladder(bundled(), str(path), device="ring-65nm", chips=2, repeats=2, seed=3)
    for mine, theirs in zip(found.steps, climbed.steps, strict=True):
        assert mine.comparison.substrate_all == theirs.comparison.substrate_all
        assert mine.rms_change == theirs.rms_change
    assert found.device == RING


def test_the_default_device_fits_the_model():
    model = random_model(3, task="sva", vocab_size=169, max_len=9)
    found = ladder(model, some(5), chips=1, repeats=1)
    assert found.device.name == "sphere-generic"
