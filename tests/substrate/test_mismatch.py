"""A chip: the right laws, the right slots, the same bits every time."""

import numpy as np
import pytest

from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.mismatch import (
    MAX_LAYERS,
    Programming,
    Stage,
    antisymmetric,
    program,
)
from tests.substrate.drives import device
from tests.substrate.zscore import assert_mean, assert_normal, assert_unrelated, z_score

HEADS, LENGTH = 2, 60
ALL = {
    "coupling_mismatch": 0.2,
    "coupling_offset": 0.05,
    "anchor_mismatch": 0.1,
    "anchor_gain_mismatch": 0.1,
    "frequency_offset": 0.3,
    "stuck_off": 0.1,
    "stuck_on": 0.05,
}
DRAWN = ("gain", "offset", "anchors", "detuning", "stuck")


def loaded(d=2, layers=1, length=LENGTH, norm=1.0):
    rng = np.random.default_rng(11)
    anchors = rng.normal(size=(HEADS, length, d))
    anchors *= norm / np.linalg.norm(anchors, axis=-1, keepdims=True)
    return [Programming(anchors, np.ones(HEADS))] * layers


def chip(fields, *, d=2, seed=1, number=0, layers=1, length=LENGTH, norm=1.0):
    kind = device("ring" if d == 2 else "sphere", **fields)
    return program(kind, loaded(d, layers, length, norm), seed=seed, chip=number)


def layer(fields, **how):
    return chip(fields, **how).layers[0]


def test_a_perfect_chip_holds_what_was_loaded():
    perfect = layer({}, norm=2.5)
    assert perfect.gain is None
    assert perfect.offset is None
    assert perfect.stuck is None
    assert perfect.detuning is None
    np.testing.assert_allclose(perfect.anchor_norm, 2.5)
    np.testing.assert_allclose(
        perfect.anchors, loaded()[0].anchors, rtol=1e-12, atol=1e-15
    )


def test_the_same_chip_has_the_same_bits_and_all_others_differ():
    one = layer(ALL)
    again = layer(ALL)
    for name in DRAWN:
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    others = (
        layer(ALL, number=1),
        layer(ALL, seed=2),
        chip(ALL, layers=2).layers[1],
    )
    for other in others:
        for name in DRAWN:
            assert not np.array_equal(
                getattr(one, name), getattr(other, name), equal_nan=True
            )


@pytest.mark.parametrize("name", ["gain", "detuning", "offset"])
@pytest.mark.parametrize("other", [{"number": 1}, {"seed": 2}, {"seed": 2**32 - 1}])
def test_chips_are_independent(name, other):
    """Mean product 0; the negative control is a chip with itself."""

    def standard(values):
        return (np.log(values) if name == "gain" else values).ravel()

    fields = ALL | {"coupling_mismatch": 1.0}
    mine = standard(getattr(layer(fields), name))
    theirs = standard(getattr(layer(fields, **other), name))
    assert abs(z_score(mine * theirs, 0.0)) < 4
    assert abs(z_score(mine * mine, 0.0)) > 4


def test_the_draws_of_one_chip_are_independent_of_each_other():
    found = layer(ALL)
    gain, offset = np.log(found.gain).ravel(), found.offset.ravel()
    assert_unrelated(gain, offset)
    assert_unrelated(gain[1:], gain[:-1])


def test_gain_is_log_normal_with_median_one():
    assert_normal(np.log(layer({"coupling_mismatch": 0.2}).gain), 0.2)


def test_offset_is_normal():
    assert_normal(layer({"coupling_offset": 0.05}).offset, 0.05)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_anchors_turn_by_a_normal_angle_in_every_tangent_direction(d):
    s = 0.05
    before = loaded(d, length=3000)[0].anchors
    after = layer({"anchor_mismatch": s}, d=d, length=3000).anchors
    np.testing.assert_allclose(np.linalg.norm(after, axis=-1), 1.0, rtol=1e-12)
    turned = np.arccos(np.clip(np.sum(before * after, axis=-1), -1, 1))
    assert_mean(turned**2, (d - 1) * s**2)
    across = after - np.sum(before * after, axis=-1, keepdims=True) * before
    tangent = before[..., [1, 0, *range(2, d)]] * np.array([-1, 1] + [0] * (d - 2))
    tangent = tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
    assert_normal(np.sum(across * tangent, axis=-1) * turned / np.sin(turned), s)


def test_a_large_turn_keeps_the_norm_of_an_anchor_that_is_not_a_unit_vector():
    fields = {"anchor_bits": 2}
    still = layer(fields, d=3).anchors
    turned = layer(fields | {"anchor_mismatch": 3.0}, d=3).anchors
    np.testing.assert_allclose(
        np.linalg.norm(turned, axis=-1), np.linalg.norm(still, axis=-1), rtol=1e-12
    )
    assert np.abs(np.linalg.norm(still, axis=-1) - 1).max() > 0.1


def test_anchor_gain_is_log_normal_and_keeps_the_direction():
    found = layer({"anchor_gain_mismatch": 0.1}, length=2000)
    size = np.linalg.norm(found.anchors, axis=-1)
    assert_normal(np.log(size), 0.1)
    np.testing.assert_allclose(
        found.anchors / size[..., None], loaded(length=2000)[0].anchors, atol=1e-12
    )


def test_stuck_couplers_have_their_shares():
    found = layer({"stuck_off": 0.1, "stuck_on": 0.05}).stuck
    assert_mean(found == 0.0, 0.1)
    assert_mean(found == 1.0, 0.05)
    assert np.isnan(found[(found != 0) & (found != 1)]).all()
    every = layer({"stuck_off": 0.4, "stuck_on": 0.6}).stuck
    assert not np.isnan(every).any()


def test_detuning_is_two_pi_f_times_the_relative_error():
    fields = {"frequency_hz": 3.0, "frequency_mismatch": 0.02}
    found = layer(fields, length=5000).detuning
    assert found.shape == (HEADS, 5000)
    assert_normal(found, 2 * np.pi * 3.0 * 0.02)


def test_relative_and_absolute_detuning_add_in_square():
    fields = {
        "frequency_hz": 3.0,
        "frequency_mismatch": 0.02,
        "frequency_offset": 0.5,
    }
    found = layer(fields, length=5000).detuning
    relative = 2 * np.pi * 3.0 * 0.02
    assert_mean(found**2, relative**2 + 0.5**2)
    for wrong in (relative**2, 0.5**2, (relative + 0.5) ** 2):
        assert abs(z_score(found**2, wrong)) > 8


def test_detuning_on_a_sphere_is_antisymmetric_with_normal_entries():
    found = layer({"frequency_offset": 0.4}, d=4, length=1000).detuning
    np.testing.assert_array_equal(found, -np.swapaxes(found, -1, -2))
    rows, columns = np.tril_indices(4, -1)
    assert_normal(found[..., rows, columns], 0.4)
    for pair in range(5):
        assert_unrelated(found[..., rows[pair], columns[pair]], found[..., 3, 2])


def test_antisymmetric_puts_entries_below_the_diagonal_row_by_row():
    found = antisymmetric(np.array([[1.0, 2.0, 3.0]]), 3)
    np.testing.assert_array_equal(found[0], [[0, -1, -2], [1, 0, -3], [2, 3, 0]])


def test_one_query_slot_holds_one_row_of_couplers_and_one_oscillator():
    single = layer(ALL | {"query_slots": 1})
    assert single.gain.shape == single.offset.shape == (HEADS, 1, LENGTH)
    assert single.stuck.shape == (HEADS, 1, LENGTH)
    assert single.detuning.shape == (HEADS, 1)
    assert layer(ALL).gain.shape == (HEADS, LENGTH, LENGTH)


def test_anchor_bits_quantise_the_phase_or_each_component():
    turned = layer({"anchor_bits": 3}).anchors
    steps = np.arctan2(turned[..., 1], turned[..., 0]) / (np.pi / 4)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    component = layer({"anchor_bits": 3}, d=3).anchors
    levels = (component + 1) * 4 - 0.5
    np.testing.assert_allclose(levels, np.rint(levels), atol=1e-9)


def test_an_anchor_of_length_zero_is_programmed_without_nan():
    anchors = np.zeros((1, 1, 2))
    found = program(
        device(**ALL), [Programming(anchors, np.ones(1))], seed=0, chip=0
    ).layers[0]
    assert np.isfinite(found.anchors).all()
    assert found.anchor_norm[0, 0] == 0


def test_single_phase_oscillators_refuse_more_components():
    with pytest.raises(DeviceError, match=r"d_osc = 3: use sphere-generic"):
        program(device("ring"), loaded(3), seed=0, chip=0)
    with pytest.raises(DeviceError, match="sphere-generic"):
        program(device("lc"), loaded(3), seed=0, chip=0)


def test_a_layer_beyond_the_key_is_refused():
    with pytest.raises(SpecError, match="layer must be in"):
        Stage.START.stream(0, MAX_LAYERS)


def test_stages_and_layers_never_share_a_key():
    keys = {stage.stream(0, layer).stage for stage in Stage for layer in range(100)}
    assert len(keys) == 100 * len(Stage)
