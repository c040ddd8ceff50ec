"""Raw outputs for arrays of ids."""

import numpy as np
import pytest

from oscsim.bridge.infer import infer
from oscsim.bridge.outputs import checked_ids
from oscsim.errors import DataError, DeviceError, SpecError
from oscsim.models.fixed_query import forward
from oscsim.substrate.device import Device
from tests.bridge.runs import DATA, SOFTMAX, bundled, random_model, some

IDS = np.random.default_rng(1).integers(1, 11, (70, 6))


def test_digital_outputs_are_the_forward_pass():
    model = random_model(3, n_outputs=4)
    expected = forward(model.weights, model.config, IDS)
    found = model.logits(IDS)
    assert found.shape == (70, 6, 4)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_positions_are_columns_used_as_given():
    model = random_model(3, n_outputs=4)
    everything = model.logits(IDS)
    columns = np.arange(70) % 6
    found = model.logits(IDS, positions=columns)
    assert found.shape == (70, 4)
    np.testing.assert_allclose(found, everything[np.arange(70), columns], atol=1e-12)
    single = random_model(3)
    assert single.logits(IDS).shape == (70, 6, 1)
    one = single.logits(IDS, positions=columns)
    assert one.shape == (70,)
    np.testing.assert_allclose(
        one, single.logits(IDS)[np.arange(70), columns, 0], atol=1e-12
    )


@pytest.mark.parametrize("rung", ["digital", "ideal", "finite", "device"])
def test_outputs_are_chip_0_of_a_run(rung):
    data = some(70)
    run = infer(bundled(), data, rung=rung, chips=1, repeats=1, seed=5)
    found = bundled().logits(data.ids, rung, seed=5, positions=data.positions)
    np.testing.assert_array_equal(found, run.logits[0, 0])


def test_softmax_models_have_digital_outputs_only():
    data = some(5, SOFTMAX)
    found = bundled(SOFTMAX).logits(data.ids, positions=data.positions)
    assert found.shape == (5,)
    with pytest.raises(SpecError, match="has no oscillators"):
        bundled(SOFTMAX).logits(data.ids, rung="ideal")


def test_a_device_may_be_a_name_or_a_path(tmp_path):
    data = some(70)
    path = tmp_path / "mine.toml"
    path.write_text((DATA / "devices" / "ring-65nm.toml").read_text(encoding="utf-8"))
    known = bundled().logits(data.ids, "device", Device.load("ring-65nm"), seed=5)
    for device in ("ring-65nm", path, str(path)):
        found = bundled().logits(data.ids, "device", device, seed=5)
        np.testing.assert_array_equal(found, known)
    digital = bundled().logits(data.ids)
    ideal = bundled().logits(data.ids, rung="device", device="ideal")
    live = (data.ids != 0)[..., None]
    np.testing.assert_allclose(ideal * live, digital * live, atol=1e-10)
    with pytest.raises(DeviceError, match="no device 'perfect'"):
        bundled().logits(data.ids, rung="device", device="perfect")


def test_default_devices_fit_the_model():
    assert np.isfinite(random_model(5).logits(IDS, rung="device")).all()
    with pytest.raises(DeviceError, match="use sphere-generic"):
        random_model(5).logits(IDS, rung="device", device=Device.load("ring-65nm"))
    with pytest.raises(SpecError, match="unknown rung"):
        random_model(5).logits(IDS, rung="spice")
    with pytest.raises(SpecError, match="seed must be in"):
        random_model(5).logits(IDS, seed=-1)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (np.ones(6, int), r"got int64 of shape \(6,\)"),
        (np.ones((2, 3, 1), int), "shape"),
        (np.ones((0, 3), int), "at least one of each"),
        (np.ones((3, 0), int), "at least one of each"),
        (np.ones((2, 3)), "got float64"),
        (np.ones((2, 3), bool), "got bool"),
        ([["a", "b"]], "must be integers"),
        ([[1, 2], [3]], "rows of one length"),
        (np.ones((2, 8), int), "have 8 positions, the checkpoint holds 7"),
        ([[1, 2, 11]], r"inputs\[0, 2\] = 11 is not a token: ids are 0..10"),
        ([[1, 2], [-1, 3]], r"inputs\[1, 0\] = -1 is not a token"),
    ],
)
def test_wrong_ids_are_refused(inputs, expected):
    with pytest.raises(DataError, match=expected):
        random_model(3).logits(inputs)


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        (np.zeros(69, int), "positions must be 70 integers"),
        (np.zeros((70, 1), int), "positions must be 70 integers"),
        (np.zeros(70), "got float64"),
        ([[0], [0, 1]], "rows of one length"),
        (np.r_[np.zeros(69, int), 6], r"positions\[69\] = 6 is not a column: 0..5"),
        (np.r_[-1, np.zeros(69, int)], r"positions\[0\] = -1"),
    ],
)
def test_wrong_positions_are_refused(positions, expected):
    with pytest.raises(DataError, match=expected):
        random_model(3).logits(IDS, positions=positions)


def test_ids_of_any_integer_type_are_accepted():
    config = random_model(3).config
    for dtype in (np.uint8, np.int16, np.uint64):
        found = checked_ids(IDS.astype(dtype), config)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, IDS)
    np.testing.assert_array_equal(checked_ids([[1, 2]], config), [[1, 2]])
