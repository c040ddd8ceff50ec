"""The settling time of a model's own drives."""

import numpy as np
import pytest

from oscsim.bridge import own_settling as module
from oscsim.bridge.infer import infer
from oscsim.bridge.own_settling import LONG, own_settling
from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.tally import SettleTally
from tests.bridge.language import language_model
from tests.bridge.runs import bundled, some

RING = Device.load("ring-65nm")
MODEL = bundled()


def test_a_larger_share_takes_longer_and_prices_follow():
    times = []
    for q in (0.5, 0.9, 0.99):
        device, said = own_settling(MODEL, RING, q)
        times.append(device.settle_time)
        assert f"p{100 * q:g} of" in said
        assert "items of" in said
        assert f"{device.settle_time:.3g} s; the device gives" in said
        assert device.changed(settle_time=RING.settle_time).settle_time == (
            RING.settle_time
        )
    assert times == sorted(set(times))
    assert own_settling(MODEL, RING, 0.9)[0].settle_time == times[1], "the same twice"


def test_the_time_is_in_units_of_the_coupling():
    fast = RING.changed(coupling_max=2 * RING.coupling_max)
    slow, quick = (own_settling(MODEL, d, 0.9)[0].settle_time for d in (RING, fast))
    assert slow / quick == pytest.approx(2, rel=1e-9)


def test_the_run_behind_it_is_the_digital_model():
    """After so long every state is h/|h|: the logits are the digital ones."""
    run = infer(
        MODEL,
        some(20),
        device=RING.changed(settle_time=LONG),
        rung="finite",
        chips=1,
        repeats=1,
    )
    np.testing.assert_allclose(run.logits[0, 0], run.digital, rtol=0, atol=1e-9)


def test_a_language_model_reads_some_windows(monkeypatch):
    monkeypatch.setattr(module, "WINDOWS", 2)
    sphere = Device.load("sphere-generic")
    _, said = own_settling(language_model(), sphere, 0.5)
    assert "on 2 windows of" in said


def test_without_a_drive_the_quantile_is_refused(monkeypatch):
    """As `settle_quantile` says: an oscillator without a drive never settles."""

    class Run:
        tallies = (SettleTally(oscillators=10, undriven=2),)
        data = some(5)

    Run.tallies[0].time_histogram[100] = 8
    Run.tallies[0].time_histogram[-1] = 2
    monkeypatch.setattr(module, "infer", lambda *_, **__: Run())
    assert own_settling(MODEL, RING, 0.8)[0].settle_time > 0
    with pytest.raises(DeviceError, match="2 of 10 oscillators have no drive: the p90"):
        own_settling(MODEL, RING, 0.9)


def test_what_cannot_be():
    for q in (0.0, 1.0, -0.5, float("nan")):
        with pytest.raises(SpecError, match=r"quantile must be in \(0, 1\), got"):
            own_settling(MODEL, RING, q)
    for name in ("sva-softmax-s0", "kuramoto-260k"):
        with pytest.raises(SpecError, match=f"{name} has no oscillators that settle"):
            own_settling(bundled(name), RING, 0.5)
    with pytest.raises(DeviceError, match="ideal is in model units: no seconds"):
        own_settling(MODEL, Device.load("ideal"), 0.5)
