"""The value update on a chip: map and flow, noise, reading, one at a time."""

import math

import numpy as np
import pytest

from oscsim.counts import Counts
from oscsim.errors import DeviceError, SpecError
from oscsim.physics.driven import alignment
from oscsim.substrate.device import IMPERFECTIONS
from oscsim.substrate.phase_chip import PhaseModel, require_phases
from oscsim.substrate.phase_field import realised_field
from oscsim.substrate.phase_pull import (
    bounded,
    small_signal_gain,
    torque,
    trained_turn,
)
from oscsim.substrate.phase_update import update_on
from oscsim.substrate.tally import SettleTally
from tests import naive
from tests.substrate.drives import RATE, device
from tests.substrate.pulls import (
    phase_chip,
    pull_of,
    random_pull,
    same_pull,
    seen,
    updated,
)
from tests.substrate.zscore import assert_mean, assert_normal, z_score

pytestmark = pytest.mark.kernel

HOW = ("map", "flow")
BOUNDS = ("coord", "unit", "norm")


def turned(pull, how="map", **options):
    return updated(pull, how, **options) - pull.theta


def trained(pull):
    x = pull.strength * torque(pull.theta, pull.field)
    return bounded(pull.bound, pull.radius, x)


def test_a_latched_copy_of_oneself_pulls_back_and_a_turning_one_does_not():
    """A_tt .5, partner at 1 rad, v 1: tan(phi/2) falls as exp(-|G| t)."""
    pull = same_pull(1)
    whole = 2 * math.atan(math.tan(0.25) * math.exp(-math.cos(0.5)))
    half = 2 * math.atan(math.tan(0.5) * math.exp(-0.5))
    for self_term, left, printed in (
        ("frozen", 0.5 - whole, 0.288),
        ("co-rotating", 1 - half, 0.360),
    ):
        angle = turned(pull, "flow", self_term=self_term)[0, 1, 0]
        assert angle == pytest.approx(left, abs=1e-14)
        assert angle == pytest.approx(printed, abs=5e-4)
        stepped = turned(pull, "map", self_term=self_term)[0, 1, 0]
        assert stepped == pytest.approx(0.5 * math.sin(1), abs=1e-14)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("detuned", [False, True])
def test_the_flow_is_the_equation_of_motion(bound, detuned):
    """Against an ODE solver in the dwell, with either sign of v."""
    pull = random_pull(bound=bound, radius=[0.5, 0.7, 1.0, 1.3])
    assert (pull.strength < 0).any()
    assert (pull.strength > 0).any()
    options = {"frequency_offset": 0.6} if detuned else {}
    chip = phase_chip(pull, **options)
    rates = chip.layers[0].detuning
    x = pull.strength * torque(pull.theta, pull.field)
    gain = {
        "coord": pull.radius,
        "unit": 1.0,
        "norm": pull.radius
        * np.tanh(n := np.sqrt(np.mean(x * x, -1, keepdims=True)))
        / n,
    }[bound]
    expected = naive.phase_flow(
        pull.theta,
        np.sign(pull.strength) * pull.field,
        np.abs(pull.strength) * gain,
        0.0 if rates is None else rates / RATE,
    )
    assert np.abs(expected).max() < math.pi
    np.testing.assert_allclose(turned(pull, "flow", **options), expected, atol=1e-9)


@pytest.mark.parametrize("bound", BOUNDS)
def test_map_and_flow_agree_to_first_order_in_the_strength(bound):
    """Their difference falls as v^2: halving v quarters it."""
    gaps, sizes = [], []
    for scale in (2e-3, 1e-3):
        pull = random_pull(bound=bound, radius=0.8)
        pull = pull._replace(strength=scale * pull.strength)
        stepped, flowed = (turned(pull, how) for how in HOW)
        gaps.append(np.linalg.norm(stepped - flowed))
        sizes.append(np.linalg.norm(stepped))
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.02)
    assert sizes[0] / sizes[1] == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_gain_is_the_slope_of_the_bound(bound):
    radius = np.array([0.4, 0.9, 1.7])
    x = 1e-5 * np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(
        small_signal_gain(bound, radius, x) * x, bounded(bound, radius, x), rtol=1e-8
    )


def test_a_dwell_never_passes_its_field():
    """However strong: repelled phases end opposite, attracted ones at it."""
    pull = random_pull()
    strong = pull._replace(strength=200 * np.sign(pull.strength))
    end = np.exp(1j * (strong.theta + turned(strong, "flow")))
    target = np.sign(strong.strength) * strong.field / np.abs(strong.field)
    away = np.angle(end / target)[:, 1:]
    lasting = (200 * np.abs(strong.field) > 60)[:, 1:]
    assert np.abs(away[lasting]).max() < 1e-12


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("self_term", ["frozen", "co-rotating"])
def test_unequal_couplers_against_sums_over_pairs(how, in_turn, self_term):
    pull = random_pull()
    fields = {
        "coupling_mismatch": 0.3,
        "coupling_offset": 0.1,
        "stuck_off": 0.1,
        "stuck_on": 0.1,
        "anchor_mismatch": 0.2,
        "anchor_gain_mismatch": 0.2,
        "query_slots": 1 if in_turn else "all",
        "self_term": self_term,
    }
    chip = phase_chip(pull, **fields)
    drawn = chip.layers[0]
    assert {0.0} == set(drawn.gain[(drawn.offset == 1) & (drawn.gain == 0)])
    copies = np.exp(1j * pull.theta) * drawn.copies
    expected = naive.coupled_field(
        pull.attention,
        copies,
        drawn.gain,
        drawn.offset,
        in_turn=in_turn,
        has_self=self_term == "frozen",
    )
    found = realised_field(pull.attention, pull.theta, chip, 0, SettleTally())
    np.testing.assert_allclose(found, expected, atol=1e-13)
    after = turned(pull, how, **fields)
    again = turned(pull._replace(field=np.zeros_like(pull.field)), how, **fields)
    np.testing.assert_array_equal(after, again)


def test_equal_couplers_make_the_model_s_own_field():
    pull = random_pull()
    found = realised_field(
        pull.attention, pull.theta, phase_chip(pull), 0, SettleTally()
    )
    np.testing.assert_allclose(found, pull.field, atol=1e-14)
    shared = realised_field(
        pull.attention,
        pull.theta,
        phase_chip(pull, self_term="co-rotating"),
        0,
        SettleTally(),
    )
    own = np.einsum("bhtt->bth", pull.attention)[..., [0, 0, 1, 1]]
    np.testing.assert_allclose(
        shared, pull.field - own * np.exp(1j * pull.theta), atol=1e-14
    )


VALUES = {
    "weight_bits": 3,
    "anchor_bits": 3,
    "coupling_mismatch": 0.2,
    "coupling_offset": 0.1,
    "anchor_mismatch": 0.1,
    "anchor_gain_mismatch": 0.2,
    "frequency_mismatch": 0.1,
    "frequency_offset": 0.5,
    "stuck_off": 0.2,
    "stuck_on": 0.2,
    "settle_time": 0.1,
    "start": "previous",
    "diffusion": 0.1,
    "readout_noise": 0.1,
    "adc_bits": 4,
}
NEEDS = {
    "start": {"settle_time": 1.0, "query_slots": 1},
    "frequency_mismatch": {"frequency_hz": 1.0},
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", IMPERFECTIONS)
def test_an_imperfection_acts_alone_or_is_an_error(name, how):
    pull = random_pull()
    fields = NEEDS.get(name, {}) | {name: VALUES[name]}
    if name == "start":
        with pytest.raises(DeviceError, match="starts at its own token's phase"):
            turned(pull, how, **fields)
        return
    assert np.abs(turned(pull, how, **fields) - turned(pull, how)).max() > 1e-3


@pytest.mark.parametrize("bound", BOUNDS)
def test_without_imperfections_the_map_is_the_trained_step(bound):
    pull = random_pull(bound=bound, radius=0.9)
    np.testing.assert_allclose(turned(pull), trained(pull), atol=1e-14)


@pytest.mark.parametrize("bound", ["coord", "unit"])
@pytest.mark.parametrize("how", HOW)
def test_a_model_trained_as_a_flow_is_what_an_ideal_oscillator_does(bound, how):
    """Two closed forms, of which the trained one never forms the field's angle."""
    pull = random_pull(bound=bound, radius=[0.5, 0.7, 1.0, 1.3], trained="flow")
    asked = trained_turn(pull, pull.theta, pull.field, pull.strength)
    np.testing.assert_allclose(turned(pull, how), asked, atol=1e-12)
    mapped = pull._replace(trained="map")
    np.testing.assert_array_equal(turned(mapped, "flow"), turned(pull, "flow"))
    assert np.abs(turned(mapped) - asked).max() > 0.1


@pytest.mark.parametrize("name", ["weight_bits", "anchor_bits", "adc_bits"])
@pytest.mark.parametrize("how", HOW)
def test_an_error_of_conversion_halves_with_every_bit(name, how):
    pull = random_pull(batch=20)
    exact = turned(pull, how)
    bits = np.arange(6, 20)
    errors = [
        np.sqrt(np.mean((turned(pull, how, **{name: int(n)}) - exact) ** 2))
        for n in bits
    ]
    slope = np.polyfit(bits, np.log2(errors), 1)[0]
    assert -1.1 < slope < -0.9


@pytest.mark.parametrize("how", HOW)
def test_diffusion_during_a_dwell_spreads_a_phase(how):
    """Variance 2 D t; on the first token, whose own copy holds it in the flow:

    an Ornstein-Uhlenbeck process of rate |G| = 1 for small D, (D / K)
    (1 - exp(-2 t)), t in units of 1 / K. 4,000 phases: a variance off by a
    factor 2 is 17 standard errors away.
    """
    v, diffusion = 0.7, 0.002
    pull = same_pull(4000, strength=v)
    angles = turned(pull, how, diffusion=diffusion)[:, 0, 0]
    time = v / RATE
    held = (1 - math.exp(-2 * v)) / (2 * v)
    expected = 2 * diffusion * time * (1.0 if how == "map" else held)
    assert abs(z_score(angles, 0.0)) < 4
    assert_mean(angles**2, expected)


def test_a_long_noisy_dwell_ends_in_the_law_of_von_mises():
    pull = same_pull(4000, strength=60.0, own=0.0)
    kappa = 2.0
    end = turned(pull, "flow", diffusion=RATE / kappa)[:, 1, 0]
    assert_mean(np.cos(end - 1.0), alignment(2, kappa))


def test_detuning_turns_a_mapped_phase_by_its_rate_times_the_dwell():
    pull = random_pull()
    rates = phase_chip(pull, frequency_offset=0.3).layers[0].detuning
    extra = turned(pull, frequency_offset=0.3) - turned(pull)
    np.testing.assert_allclose(extra, rates * np.abs(pull.strength) / RATE, atol=1e-13)


@pytest.mark.parametrize("how", HOW)
def test_a_dwell_longer_than_the_device_gives_is_cut_and_counted(how):
    pull = random_pull()
    cap = 0.4
    tally = SettleTally()
    found = turned(pull, how, settle_time=cap, tally=tally)
    shorter = np.clip(pull.strength, -cap * RATE, cap * RATE)
    np.testing.assert_allclose(
        found, turned(pull._replace(strength=shorter), how), atol=1e-13
    )
    assert tally.cut == np.count_nonzero(np.abs(pull.strength) > cap * RATE)
    assert 0 < tally.cut < tally.oscillators == pull.theta.size


def test_read_out_noise_is_drawn_apart_for_the_score_and_after_the_dwell():
    sigma = 0.05
    pull = same_pull(4000)
    after = (turned(pull, readout_noise=sigma) - turned(pull)).ravel()
    score = (seen(pull, readout_noise=sigma) - pull.theta).ravel()
    assert_normal(after, sigma)
    assert_normal(score, sigma)
    assert abs(z_score(after * score, 0.0)) < 4
    assert abs(z_score(after * after, 0.0)) > 4


def test_the_score_stage_reads_through_the_converter():
    pull = random_pull()
    step = 2 * math.pi / 2**5
    read = seen(pull, adc_bits=5)
    np.testing.assert_allclose(read / step, np.rint(pull.theta / step), atol=1e-12)
    np.testing.assert_array_equal(seen(pull), pull.theta)


NOISY = {
    "coupling_mismatch": 0.1,
    "frequency_offset": 0.2,
    "diffusion": 0.05,
    "readout_noise": 0.02,
    "adc_bits": 9,
    "weight_bits": 6,
}


@pytest.mark.parametrize("how", HOW)
def test_a_window_gives_the_same_bits_in_any_batch(how):
    pull = random_pull(batch=6)
    whole = updated(pull, how, **NOISY)
    order = [4, 1, 5]
    part = pull._replace(
        items=pull.items[order],
        theta=pull.theta[order],
        attention=pull.attention[order],
        strength=pull.strength[order],
        field=pull.field[order],
    )
    np.testing.assert_array_equal(updated(part, how, **NOISY), whole[order])
    np.testing.assert_array_equal(seen(part, **NOISY), seen(pull, **NOISY)[order])
    elsewhere = updated(part._replace(items=part.items + 1), how, **NOISY)
    assert np.abs(elsewhere - whole[order]).max() > 1e-3


@pytest.mark.parametrize("how", HOW)
def test_a_shorter_window_gives_the_same_bits(how):
    pull = random_pull(time=6)
    short = pull._replace(
        theta=pull.theta[:, :4],
        attention=np.ascontiguousarray(pull.attention[:, :, :4, :4]),
        strength=pull.strength[:, :4],
        field=pull.field[:, :4],
    )
    chip = phase_chip(pull, **NOISY)
    whole, part = (
        update_on(chip, 0, SettleTally(), how=how)(p, Counts()) for p in (pull, short)
    )
    np.testing.assert_allclose(part, whole[:, :4], atol=1e-12)


@pytest.mark.parametrize("how", HOW)
def test_fillers_are_left_alone_and_not_counted(how):
    pull = random_pull(batch=3, items=[0, -1, 1])
    tally, counts = SettleTally(), Counts()
    after = updated(pull, how, tally=tally, counts=counts, **NOISY)
    np.testing.assert_array_equal(after[1], pull.theta[1])
    np.testing.assert_array_equal(seen(pull, **NOISY)[1], pull.theta[1])
    size = 2 * 5 * 4
    assert tally.oscillators == tally.reads == size
    assert counts.actions["readout", "state_read"] == size


def test_draws_differ_by_chip_repeat_seed_and_layer():
    pull = random_pull()
    one = updated(pull, **NOISY)
    np.testing.assert_array_equal(one, updated(pull, **NOISY))
    for other in (
        updated(pull, chip=1, **NOISY),
        updated(pull, seed=6, **NOISY),
        updated(pull, repeat=1, **NOISY),
        updated(pull._replace(layer=1), **NOISY),
    ):
        assert np.abs(other - one).max() > 1e-3
    static = {"coupling_mismatch": 0.1, "frequency_offset": 0.2}
    np.testing.assert_array_equal(
        updated(pull, **static), updated(pull, repeat=1, **static)
    )


def test_static_errors_have_their_laws():
    pull = pull_of(np.zeros((1, 60, 64)), np.zeros((1, 1, 60, 60)))
    chip = phase_chip(
        pull,
        coupling_mismatch=0.2,
        coupling_offset=0.1,
        anchor_mismatch=0.03,
        anchor_gain_mismatch=0.04,
        frequency_offset=0.5,
    )
    drawn = chip.layers[0]
    assert_normal(np.log(drawn.gain), 0.2)
    assert_normal(drawn.offset, 0.1)
    assert_normal(np.angle(drawn.copies), 0.03)
    assert_normal(np.log(np.abs(drawn.copies)), 0.04)
    assert_normal(drawn.detuning, 0.5)
    stuck = phase_chip(pull, stuck_off=0.2, stuck_on=0.1).layers[0]
    assert_mean((stuck.gain == 0) & (stuck.offset == 0), 0.2)
    assert_mean(stuck.offset == 1, 0.1)
    assert ((stuck.gain == 0) | (stuck.offset == 0)).all()


def test_a_model_with_turns_loses_them_between_layers_without_a_counter():
    theta = random_pull().theta + 2 * math.pi
    first = pull_of(theta, random_pull().attention)
    for layer, counter, kept in (
        (0, False, True),
        (1, False, False),
        (1, True, True),
    ):
        pull = first._replace(layer=layer)
        after = updated(pull, unwrapped=True, winding_counter=counter)
        moved = updated(pull, unwrapped=False) - (0 if kept else 2 * math.pi)
        np.testing.assert_allclose(after, moved, atol=1e-12)


def test_what_a_dwell_does_is_counted():
    """Two windows of two tokens, one oscillator each; |v| = 1, 3 for the second."""
    strength = np.broadcast_to(np.array([[1.0], [3.0]]), (2, 2, 1))
    pull = same_pull(2, strength=strength)
    timed = {"read_time": 0.25, "write_time": 0.125}
    counts, tally = Counts(), SettleTally()
    updated(pull, counts=counts, tally=tally, **timed)
    short, long = 1 / RATE, 3 / RATE
    assert counts.actions["load", "coupling_write"] == 2 * 3 + 2 * 2
    assert counts.actions["readout", "state_read"] == 4
    running = short + long + 2 * 0.25
    assert counts.actions["settle", "oscillator_s"] == pytest.approx(2 * running)
    pairs = short + 0.25 + 2 * (long + 0.25)
    assert counts.actions["settle", "coupler_s"] == pytest.approx(2 * pairs)
    assert counts.actions["settle", "anchor_s"] == pytest.approx(2 * 2 * long)
    assert tally.dwell == pytest.approx(2 * (short + long))
    assert tally.busy == pytest.approx(2 * (long + 0.25 + 2 * 0.125))
    assert (tally.couplings, tally.oscillators, tally.reads) == (6, 4, 4)

    counts, tally = Counts(), SettleTally()
    updated(pull, counts=counts, tally=tally, query_slots=1, **timed)
    held = short + 2 * long
    assert counts.actions["settle", "anchor_s"] == pytest.approx(2 * held)
    assert tally.busy == pytest.approx(2 * (short + long + 2 * 0.375))

    counts, tally = Counts(), SettleTally()
    model = {"time_unit": "model", "coupling_max": None}
    updated(pull, counts=counts, tally=tally, **model)
    assert not [key for key in counts.actions if key[1].endswith("_s")]
    assert tally.busy == pytest.approx(2 * 3)


def test_tallies_add_and_say_how_far_a_flow_is_from_the_map():
    pull = random_pull()
    tally = SettleTally()
    flowed = turned(pull, "flow", tally=tally)
    gap = np.sqrt(np.mean((flowed - trained(pull)) ** 2))
    assert tally.rms(0, "gap") == pytest.approx(gap)
    assert tally.rms(0, "moved") == pytest.approx(np.sqrt(np.mean(trained(pull) ** 2)))
    both = tally + tally
    assert both.oscillators == 2 * tally.oscillators
    assert both.rms(0, "gap") == pytest.approx(gap)
    turned(pull, tally=(mapped := SettleTally()))
    assert mapped.rms(0, "gap") < 1e-14
    assert SettleTally().rms(0, "gap") == 0.0


def test_lost_and_too_strong_fields_are_counted():
    pull = same_pull(3, own=0.25)
    tally = SettleTally()
    updated(pull, weight_bits=1, tally=tally, frequency_hz=2.0)
    assert (tally.couplings, tally.zeroed, tally.clipped) == (9, 3, 0)
    assert tally.strongly_driven == 6  # 2 rad/s > .1 * 2 pi * 2 Hz
    tally = SettleTally()
    updated(pull, stuck_off=1.0, tally=tally, frequency_offset=1e-9)
    assert tally.undriven == tally.unlocked == 6


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("how", HOW)
def test_a_row_s_largest_weight_at_full_scale_only_shortens_the_dwell(how, bound):
    pull = random_pull(bound=bound, radius=0.9)
    fixed, ranged = SettleTally(), SettleTally()
    np.testing.assert_allclose(
        turned(pull, how, ranging="row", tally=ranged),
        turned(pull, how, tally=fixed),
        atol=1e-13,
    )
    assert ranged.dwell < 0.9 * fixed.dwell
    largest = np.repeat(pull.attention.max(-1), 2, axis=1).swapaxes(1, 2)
    gain = small_signal_gain(
        bound, pull.radius, pull.strength * torque(pull.theta, pull.field)
    )
    if bound != "norm":
        wanted = np.abs(pull.strength) * gain * largest / RATE
        assert ranged.dwell == pytest.approx(wanted.sum())


def test_ranging_by_row_saves_weights_that_a_converter_would_lose():
    """Rows of 14 to 20 equal weights reach at most half a step of 3 bits, 1/14."""
    uniform = np.tril(np.ones((2, 1, 20, 20)))
    uniform /= uniform.sum(-1, keepdims=True)
    draw = np.random.default_rng(2)
    pull = pull_of(draw.uniform(-3, 3, (2, 20, 4)), uniform)
    exact = turned(pull)
    lost, kept = SettleTally(), SettleTally()
    coarse = turned(pull, weight_bits=3, tally=lost)
    fine = turned(pull, weight_bits=3, tally=kept, ranging="row")
    assert (lost.couplings, kept.couplings) == (420, 420)
    assert lost.zeroed == 2 * sum(range(14, 21))
    assert kept.zeroed == 0
    np.testing.assert_allclose(fine, exact, atol=1e-13)
    assert np.abs(coarse - exact).max() > 0.1


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (
            lambda p: phase_chip(p, ranging="wide"),
            SpecError,
            "ranging must be 'fixed' or 'row', got 'wide'",
        ),
        (lambda p: updated(p, "jump"), SpecError, "'map' or 'flow', got 'jump'"),
        (
            lambda p: phase_chip(p, self_term="loose"),
            SpecError,
            "'frozen' or 'co-rotating', got 'loose'",
        ),
        (
            lambda p: require_phases(device("sphere"), PhaseModel(1, 2, 3)),
            DeviceError,
            "component by component: Kuramoto attention needs phases",
        ),
        (
            lambda p: require_phases(device(), PhaseModel(1, 2, 3), ["range_limit"]),
            DeviceError,
            "range_limit cannot act on Kuramoto attention: no weight of a softmax",
        ),
        (
            lambda p: require_phases(
                device(), PhaseModel(1, 2, 3), ["winding_counter"]
            ),
            DeviceError,
            "winding_counter cannot act: the model was trained with phases taken",
        ),
        (
            lambda p: require_phases(
                device(runs_while_loading=True), PhaseModel(1, 2, 3)
            ),
            DeviceError,
            "runs_while_loading cannot act on Kuramoto attention: each token's",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make(random_pull())


def test_what_can_act_is_not_refused():
    asked = ("weight_bits", "winding_counter")
    require_phases(device(), PhaseModel(1, 2, 3, unwrapped=True), asked)
