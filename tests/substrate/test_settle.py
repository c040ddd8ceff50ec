"""One oscillator on a chip at a time, against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.counts import Counts
from oscsim.models.fixed_query import settle_digital
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from tests.substrate.drives import (
    RATE,
    angle,
    chip_of,
    device,
    drive,
    settled,
    single,
)
from tests.substrate.zscore import assert_mean, assert_normal, assert_unrelated, z_score

BOTH = pytest.mark.parametrize(
    ("kind", "d"), [("ring", 2), ("sphere", 2), ("sphere", 3)]
)
AT_ONCE = 1e-12


def random_drive(n=5, heads=2, queries=4, n_anchors=6, d=2, norms=(0.3, 2.7), **how):
    rng = np.random.default_rng(2)
    anchors = rng.normal(size=(heads, n_anchors, d))
    anchors /= np.linalg.norm(anchors, axis=-1, keepdims=True)
    anchors *= rng.uniform(*norms, size=(heads, n_anchors, 1))
    coupling = rng.uniform(0.1, 3.0, size=(n, heads, queries, n_anchors))
    return drive(coupling, anchors, **how)


# Settling


@BOTH
@pytest.mark.parametrize("full_scale", [1.0, 7.0])
def test_a_perfect_chip_is_the_digital_fixed_point(kind, d, full_scale):
    asked = random_drive(d=d)
    np.testing.assert_allclose(
        settled(device(kind), asked, full_scale=full_scale),
        settle_digital(asked, Counts()),
        atol=1e-12,
    )


@pytest.mark.parametrize("norm", [0.3, 2.7])
def test_an_anchor_off_the_sphere_pulls_with_its_length(norm):
    """Two orthogonal anchors; the second is ``norm`` long."""
    asked = drive(np.ones((1, 1, 1, 2)), [[[1, 0], [0, norm]]])
    found = settled(device(), asked, full_scale=5.0)
    assert angle(found) == pytest.approx(math.atan(norm), abs=1e-12)
    again = settled(device("ideal", time_unit="model", coupling_max=None), asked)
    assert angle(again) == pytest.approx(math.atan(norm), abs=1e-12)


def test_only_the_digital_model_has_a_smallest_drive():
    """Trained with h / max(|h|, 1e-8); an oscillator settles however weak h is."""
    for w, length in ((1e-7, 1.0), (1e-9, 0.1)):
        asked = single(1, w=w)
        digital = settle_digital(asked, Counts())
        assert np.linalg.norm(digital) == pytest.approx(length)
        np.testing.assert_allclose(
            settled(device(), asked), [[[[1.0, 0.0]]]], atol=1e-12
        )


@BOTH
@pytest.mark.parametrize("w", [0.2, 1.0])
def test_finite_time_follows_the_half_angle(kind, d, w):
    """tan(phi/2) = tan(phi_0/2) exp(-|h| T), |h| = w coupling_max."""
    asked = single(500, w=w, d=d)
    start = settled(device(kind, settle_time=AT_ONCE), asked)
    end = settled(device(kind, settle_time=0.7), asked)
    half = np.tan(np.arccos(np.clip(end[..., 0], -1, 1)) / 2)
    half_0 = np.tan(np.arccos(np.clip(start[..., 0], -1, 1)) / 2)
    np.testing.assert_allclose(half, half_0 * math.exp(-w * RATE * 0.7), rtol=1e-6)


@BOTH
def test_starts_are_uniform_and_new_in_every_repeat(kind, d):
    first = settled(device(kind, settle_time=AT_ONCE), single(4000, d=d))
    second = settled(device(kind, settle_time=AT_ONCE), single(4000, d=d), repeat=1)
    for axis in range(d):
        assert abs(z_score(first[..., axis], 0.0)) < 4
        assert abs(z_score(first[..., axis], 0.1)) > 4
        assert_mean(first[..., axis] ** 2, 1 / d)
    assert abs(z_score(np.sum(first * second, axis=-1), 0.0)) < 4
    assert abs(z_score(np.sum(first * first, axis=-1) + 1e-3 * first[..., 0], 0)) > 4


def test_model_units_have_a_time_and_no_full_scale():
    kind = device("ideal", time_unit="model", coupling_max=None)
    asked = single(100, w=1.3)
    start = settled(kind.changed(settle_time=AT_ONCE), asked)
    end = settled(kind.changed(settle_time=0.5), asked, full_scale=123.0)
    half = np.tan(np.abs(angle(end)) / 2)
    half_0 = np.tan(np.abs(angle(start)) / 2)
    np.testing.assert_allclose(half, half_0 * math.exp(-1.3 * 0.5), rtol=1e-6)


# Static errors


def test_static_detuning_gives_adlers_angle():
    """asin(dw/|h|), ahead of the anchor where the oscillator is faster."""
    kind = device(frequency_offset=0.5)
    asked = single(1, heads=400)
    omega = chip_of(kind, asked).layers[0].detuning[:, 0]
    locked = np.abs(omega) < 0.999 * RATE
    assert locked.sum() > 380
    np.testing.assert_allclose(
        angle(settled(kind, asked))[0, locked, 0],
        np.arcsin(omega[locked] / RATE),
        atol=1e-9,
    )


def test_every_query_slot_has_its_own_detuning_and_a_shared_one_the_first():
    coupling = np.ones((2, 3, 5, 1))
    asked = drive(coupling, np.tile([1.0, 0.0], (3, 1, 1)))
    kind = device(frequency_offset=0.3)
    omega = chip_of(kind, asked).layers[0].detuning
    assert omega.shape == (3, 5)
    found = angle(settled(kind, asked))
    for item in range(2):
        np.testing.assert_allclose(found[item], np.arcsin(omega / RATE), atol=1e-9)
    one = kind.changed(query_slots=1)
    shared = chip_of(one, asked).layers[0].detuning
    assert shared.shape == (3, 1)
    np.testing.assert_allclose(
        angle(settled(one, asked))[0],
        np.broadcast_to(np.arcsin(shared / RATE), (3, 5)),
        atol=1e-9,
    )


def test_an_oscillator_out_of_lock_is_counted_and_beats():
    kind = device(frequency_offset=4.0, settle_time=AT_ONCE)
    asked = single(1, heads=400)
    omega = chip_of(kind, asked).layers[0].detuning[:, 0]
    tally = SettleTally()
    start = settled(kind, asked, tally=tally)
    assert tally.unlocked == np.count_nonzero(np.abs(omega) >= RATE)
    assert 0 < tally.unlocked < tally.oscillators == 400
    out = np.abs(omega) > 1.05 * RATE
    beat = np.sqrt(np.abs(omega**2 - RATE**2))
    for head in np.flatnonzero(out)[:5]:
        period = 2 * np.pi / beat[head]
        end = settled(kind.changed(settle_time=float(period)), asked)
        np.testing.assert_allclose(end[0, head], start[0, head], atol=1e-6)
        half = settled(kind.changed(settle_time=float(period / 2)), asked)
        assert np.linalg.norm(half[0, head] - start[0, head]) > 0.1


def test_detuning_on_a_sphere_shifts_the_fixed_point():
    """Omega z + h - (h.z) z = 0 at the end, and not without Omega."""
    kind = device("sphere", frequency_offset=0.3)
    asked = single(1, d=3, heads=50)
    omega = chip_of(kind, asked).layers[0].detuning[:, 0]
    z = settled(kind, asked)[0, :, 0]
    h = np.array([RATE, 0.0, 0.0])
    still = h - np.sum(z * h, axis=-1, keepdims=True) * z
    np.testing.assert_allclose(np.einsum("nij,nj->ni", omega, z) + still, 0, atol=1e-9)
    assert np.abs(still).max() > 0.1


def test_the_range_limit_clips_and_counts():
    asked = drive([[[[3.0, 1.0]]]] * 4, [[[1, 0], [0, 1]]])
    tally, free = SettleTally(), SettleTally()
    limited = settled(device(range_limit=True), asked, tally=tally)
    np.testing.assert_allclose(angle(limited), math.pi / 4)
    assert (tally.couplings, tally.clipped) == (8, 4)
    unlimited = settled(device(), asked, tally=free)
    np.testing.assert_allclose(angle(unlimited), math.atan(1 / 3))
    assert (free.couplings, free.clipped) == (8, 0)


def test_coupling_bits_round_to_codes_and_count_what_vanishes():
    """Three bits: .4, .7 and .05 of full scale are the codes 3, 5 and 0 of 7."""
    asked = drive([[[[0.4, 0.7, 0.05]]]], [[[1, 0], [0, 1], [-1, 0]]])
    tally = SettleTally()
    found = settled(device(weight_bits=3), asked, tally=tally)
    assert angle(found) == pytest.approx(math.atan2(5, 3), abs=1e-12)
    assert (tally.couplings, tally.zeroed, tally.clipped) == (3, 1, 0)


def test_the_full_scale_belongs_to_the_head():
    anchors = [[[1, 0], [0, 1]]] * 2
    asked = drive(np.tile([1.0, 2.0], (1, 2, 1, 1)), anchors)
    tally = SettleTally()
    found = settled(device(range_limit=True), asked, full_scale=[1, 4], tally=tally)
    np.testing.assert_allclose(angle(found)[0, :, 0], [math.pi / 4, math.atan(2.0)])
    assert tally.clipped == 1


@pytest.mark.parametrize("bits", [4, 8, 12])
def test_coupling_bits_converge_at_their_rate(bits):
    """Phase error of many drives falls by 2 per bit, within 15 %."""
    rng = np.random.default_rng(0)
    coupling = rng.uniform(0.3, 1.0, (2000, 1, 1, 2))
    asked = drive(coupling, [[[1, 0], [0, 1]]])
    exact = angle(settled(device(), asked))

    def error(bits):
        return np.sqrt(
            np.mean((angle(settled(device(weight_bits=bits), asked)) - exact) ** 2)
        )

    assert 1.7 < error(bits) / error(bits + 1) < 2.3


def test_gain_multiplies_the_coupling_of_its_own_slot():
    asked = drive(np.ones((3, 1, 4, 2)), [[[1, 0], [0, 1]]])
    kind = device(coupling_mismatch=0.3)
    gain = chip_of(kind, asked).layers[0].gain[0]
    found = angle(settled(kind, asked))
    for item in range(3):
        np.testing.assert_allclose(found[item, 0], np.arctan2(gain[:, 1], gain[:, 0]))


def asked_with_slots(asked, n):
    """The same drive with anchors up to ``n``, the new ones unconnected."""
    more = n - asked.anchors.shape[1]
    batch, heads, queries, _ = asked.coupling.shape
    coupling = np.concatenate(
        [asked.coupling, np.zeros((batch, heads, queries, more))], axis=-1
    )
    anchors = np.concatenate(
        [asked.anchors, np.ones((heads, more, asked.anchors.shape[-1]))], axis=1
    )
    connected = np.concatenate(
        [asked.connected, np.zeros((batch, queries, more), bool)], axis=-1
    )
    return asked._replace(coupling=coupling, anchors=anchors, connected=connected)


@pytest.mark.parametrize(
    "fields", [{"coupling_offset": 0.5}, {"stuck_on": 0.9}, {"coupling_mismatch": 1.0}]
)
def test_pairs_that_do_not_exist_stay_at_zero(fields):
    """Only anchor 0 is connected: whatever fails, the state is along its axis."""
    connected = np.zeros((30, 5, 5), bool)
    connected[..., 0] = True
    coupling = np.zeros((30, 1, 5, 5))
    coupling[..., 0] = 1.0
    anchors = [[[1, 0], [0, 1], [0, 2], [0.6, 0.8], [0, 1]]]
    kind = device(**fields)
    alone = settled(kind, drive(coupling, anchors, connected=connected))
    np.testing.assert_allclose(alone[..., 1], 0.0, atol=1e-12)
    if "coupling_mismatch" not in fields:
        together = settled(kind, drive(coupling, anchors))
        assert np.abs(together[..., 1]).max() > 0.1


def test_a_stuck_coupler_ignores_what_is_loaded():
    asked = random_drive(norms=(1, 1), n_anchors=4)
    off = settled(device(stuck_off=1.0, settle_time=5.0), asked)
    start = settled(device(settle_time=AT_ONCE), asked)
    np.testing.assert_allclose(off, start, atol=1e-9)
    on = settled(device(stuck_on=1.0, coupling_mismatch=0.5), asked)
    total = asked.anchors.sum(axis=1)
    unit = total / np.linalg.norm(total, axis=-1, keepdims=True)
    np.testing.assert_allclose(on, np.broadcast_to(unit[:, None], on.shape), atol=1e-12)


def test_one_slot_serves_every_query_with_the_same_couplers():
    coupling = np.full((2, 1, 6, 6), 0.5)
    anchors = np.random.default_rng(1).normal(size=(1, 6, 2))
    fields = {
        "coupling_mismatch": 0.3,
        "coupling_offset": 0.1,
        "frequency_offset": 0.2,
        "stuck_off": 0.2,
    }
    asked = drive(coupling, anchors)
    shared = settled(device(query_slots=1, **fields), asked)
    np.testing.assert_allclose(shared, shared[:1, :, :1] + 0 * shared, atol=1e-12)
    own = settled(device(**fields), asked)
    assert np.abs(own - own[:, :, :1]).max() > 0.1
    np.testing.assert_allclose(own[1], own[0], atol=1e-12)


# Noise


@pytest.mark.parametrize("settle_time", [math.inf, 40.0 / RATE])
@BOTH
def test_thermal_variance_is_diffusion_over_drive(kind, d, settle_time):
    """D/|h| per tangent direction at kappa = 1000; twice that must fail."""
    w, diffusion = 0.5, 1e-3
    noisy = device(kind, diffusion=diffusion, settle_time=settle_time)
    n = 3000 if math.isfinite(settle_time) else 20_000
    across = settled(noisy, single(n, w=w, d=d))[..., 1:]
    assert_mean(across**2, diffusion / (w * RATE))


def test_an_oscillator_that_is_off_diffuses_over_the_circle():
    """Variance 2 D t of the phase, whatever else the chip does."""
    kind = device(settle_time=1.0, diffusion=1e-3)
    asked = single(4000, w=0.0)
    start = angle(settled(device(settle_time=AT_ONCE), asked))
    walked = np.angle(np.exp(1j * (angle(settled(kind, asked)) - start)))
    assert_normal(walked, math.sqrt(2 * 1e-3))


def test_read_out_noise_turns_a_phase():
    found = settled(device(readout_noise=0.05), single(20_000))
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1.0, atol=1e-12)
    assert_normal(angle(found), 0.05)


@pytest.mark.parametrize("d", [2, 3])
def test_read_out_noise_on_a_sphere_adds_to_every_component(d):
    found = settled(device("sphere", readout_noise=0.05), single(20_000, d=d))
    error = found - np.eye(d)[0]
    for axis in range(d):
        assert_normal(error[..., axis], 0.05)
    assert np.abs(np.linalg.norm(found, axis=-1) - 1).max() > 0.05


def test_noise_is_new_in_every_repeat_and_the_chip_is_not():
    kind = device(readout_noise=0.1, coupling_mismatch=0.5, anchor_mismatch=0.5)
    asked = single(4000)
    noise = [angle(settled(kind, asked, repeat=repeat)) for repeat in range(2)]
    shift = [values.mean() for values in noise]
    assert abs(shift[0] - shift[1]) < 0.01 < abs(shift[0])
    assert_unrelated(noise[0] - shift[0], noise[1] - shift[1])


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_a_phase_converter_is_right_within_half_a_step(bits):
    asked = random_drive(n=200)
    exact = angle(settled(device(), asked))
    tally = SettleTally()
    found = angle(settled(device(adc_bits=bits), asked, tally=tally))
    error = np.abs(np.angle(np.exp(1j * (found - exact))))
    assert 0.8 * math.pi / 2**bits < error.max() <= math.pi / 2**bits + 1e-9
    assert (tally.reads, tally.adc_clipped) == (exact.size, 0)


@pytest.mark.parametrize("bits", [2, 5])
def test_a_component_converter_is_right_within_half_a_step(bits):
    asked = random_drive(n=200, d=3)
    exact = settled(device("sphere"), asked)
    tally = SettleTally()
    error = settled(device("sphere", adc_bits=bits), asked, tally=tally) - exact
    assert 0.9 / 2**bits < np.abs(error).max() <= 1 / 2**bits + 1e-12
    assert tally.reads == exact.size


def test_readings_beyond_the_converter_clip_and_count():
    noisy = device("sphere", readout_noise=0.2)
    asked = single(1000, d=3)
    raw = settled(noisy, asked)
    tally = SettleTally()
    found = settled(noisy.changed(adc_bits=8), asked, tally=tally)
    assert tally.adc_clipped == np.count_nonzero(np.abs(raw) > 1) > 100
    assert np.abs(found).max() < 1


# Starting where the previous query ended


def previous(asked, **fields):
    return settled(
        device(start="previous", query_slots=1, settle_time=1.0, **fields), asked
    )


def test_a_previous_start_is_where_the_previous_query_ended():
    """Query 1 has no drive, so it must stay where query 0 was left."""
    coupling = np.array([1.0, 0.0, 0.6, 0.0])[:, None] * np.ones((3, 2, 4, 1))
    asked = drive(coupling, np.tile([1.0, 0.0], (2, 1, 1)))
    found = previous(asked)
    np.testing.assert_allclose(found[:, :, 1], found[:, :, 0], atol=1e-12)
    np.testing.assert_allclose(found[:, :, 3], found[:, :, 2], atol=1e-12)
    half = np.tan(np.arccos(np.clip(found[..., 0], -1, 1)) / 2)
    np.testing.assert_allclose(
        half[:, :, 2], half[:, :, 1] * math.exp(-0.6 * RATE), rtol=1e-6
    )
    fresh = settled(device(settle_time=1.0), asked)
    np.testing.assert_allclose(found[:, :, 0], fresh[:, :, 0], atol=1e-12)
    assert np.abs(found[:, :, 1] - fresh[:, :, 1]).max() > 0.1


def test_a_previous_start_skips_positions_that_do_not_exist():
    live = np.array([[True, False, True], [True, True, True]])
    coupling = np.array([1.0, 1.0, 0.0])[:, None] * np.ones((2, 1, 3, 1))
    found = previous(drive(coupling, [[[1.0, 0.0]]], live=live))
    np.testing.assert_allclose(found[0, 0, 2], found[0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found[1, 0, 2], found[1, 0, 1], atol=1e-12)
    np.testing.assert_array_equal(found[0, 0, 1], 0.0)


def test_read_out_noise_does_not_disturb_the_next_query():
    """The oscillator carries on, not its reading."""
    coupling = np.array([1.0, 0.0])[:, None] * np.ones((2000, 1, 2, 1))
    asked = drive(coupling, [[[1, 0]]])
    quiet, loud = previous(asked), previous(asked, readout_noise=0.05)
    shift = np.angle(np.exp(1j * (angle(loud) - angle(quiet))))
    assert_mean(shift**2, 0.05**2)
    assert_unrelated(shift[..., 0], shift[..., 1])


# Numbers belong to items and slots, not to places in a batch


NOISY = {
    "settle_time": 1.0,
    "diffusion": 0.05,
    "readout_noise": 0.1,
    "coupling_mismatch": 0.2,
    "coupling_offset": 0.05,
    "frequency_offset": 0.2,
    "stuck_off": 0.1,
}


@BOTH
def test_draws_follow_the_item_not_its_place_in_the_batch(kind, d):
    items = np.array([5, 0, 900, 31])
    asked = random_drive(n=4, d=d, items=items)
    order = np.array([2, 0, 3, 1])
    shuffled = asked._replace(items=items[order], coupling=asked.coupling[order])
    found = settled(device(kind, **NOISY), asked)
    again = settled(device(kind, **NOISY), shuffled)
    np.testing.assert_allclose(again, found[order], atol=1e-12)
    other = settled(device(kind, **NOISY), asked._replace(items=items + 1))
    assert np.abs(other - found).max() > 0.1


@BOTH
@pytest.mark.parametrize("start", ["random", "previous"])
def test_draws_do_not_depend_on_the_padded_length(kind, d, start):
    """The chip has 12 slots; 4 queries and 6 anchors are used, then 12 of each."""
    asked = random_drive(n=3, d=d, queries=6, n_anchors=6)
    fields = NOISY | {"start": start, "query_slots": 1}
    chip_sized = asked_with_slots(asked, 12)
    long_live = np.zeros((3, 12), bool)
    long_live[:, :6] = True
    padded = chip_sized._replace(
        coupling=np.pad(chip_sized.coupling, ((0, 0), (0, 0), (0, 6), (0, 0))),
        connected=np.pad(chip_sized.connected, ((0, 0), (0, 6), (0, 0))),
        live=long_live,
    )
    kind = device(kind, **fields)
    chip = chip_of(kind, padded)
    short, full = (
        settle_on(chip, 0, SettleTally())(one, Counts()) for one in (asked, padded)
    )
    np.testing.assert_allclose(full[:, :, :6], short, atol=1e-12)
    np.testing.assert_array_equal(full[:, :, 6:], 0.0)


def test_heads_queries_and_layers_draw_their_own_numbers():
    asked = drive(np.ones((1, 3, 5, 1)), np.tile([1.0, 0.0], (3, 1, 1)))
    kind = device(readout_noise=0.1, settle_time=0.5)
    states = [angle(settled(kind, asked._replace(layer=layer))) for layer in (0, 1)]
    assert len(np.unique(np.round(states, 9))) == 2 * 3 * 5


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_any_seed_gives_unit_states(seed, chip):
    kind = device(**NOISY)
    found = settled(kind, random_drive(n=1, norms=(1, 1)), seed=seed, chip=chip)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1.0, atol=1e-12)


# The work that is counted


@pytest.mark.parametrize(("kind", "d", "lines"), [("ring", 2, 1), ("sphere", 3, 3)])
@pytest.mark.parametrize("slots", ["all", 1])
def test_work_is_counted_for_what_exists(kind, d, lines, slots):
    """Parts run from the loaded couplings until they have been read."""
    live = np.array([[True, True, False], [True, False, False]])
    connected = np.tril(live[:, :, None] & live[:, None, :])
    asked = drive(
        np.ones((2, 2, 3, 3)) * connected[:, None],
        np.ones((2, 3, d)),
        live=live,
        connected=connected,
    )
    counts = Counts()
    time = 0.5 + 0.25
    kind = device(
        kind, settle_time=0.5, read_time=0.25, write_time=8.0, query_slots=slots
    )
    settled(kind, asked, counts=counts)
    heads, n_live, n_pairs = 2, 3, 4
    seconds = "oscillator_s" if lines == 1 else "component_s"
    # the second query of the first item sees both anchors, the first its own alone
    seen = (2 + 1) if slots == "all" else (1 + 2 + 1)
    phases = {("similarity", "sincos"): heads * n_live} if lines == 1 else {}
    assert counts.actions == phases | {
        ("load", "mul"): heads * n_pairs,
        ("load", "sram_read_byte"): heads * n_pairs,
        ("load", "coupling_write"): heads * n_pairs,
        ("readout", "state_read"): heads * n_live * lines,
        ("settle", seconds): heads * n_live * lines * time,
        ("settle", "coupler_s"): heads * n_pairs * lines * time,
        ("settle", "anchor_s"): heads * seen * lines * time,
    }


def test_a_settled_device_counts_no_seconds():
    counts = Counts()
    settled(device(), single(3), counts=counts)
    assert counts.total("coupling_write") == 3
    assert counts.total("state_read") == 3
    assert not [action for _, action in counts.actions if action.endswith("_s")]
