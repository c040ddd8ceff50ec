import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.counts import PHASES, Counts
from oscsim.energy.components import Library
from oscsim.energy.ledger import TOTALS, account
from oscsim.energy.prices import Overhead, Prices
from oscsim.errors import ComponentError
from tests.energy.toy import entry, library

PRICES = Prices.of(
    {
        "sram_read_byte": ["read"],
        "sram_write_byte": ["write"],
        "mac": ["read", "twice"],
        "gelu": [["read", "twice"], ["write"]],
        "oscillator_s": ["ring", "twice"],
        "component_s": ["bias"],
        "coupling_write": ["write", "third"],
        "state_read": ["read"],
    },
    frequency_hz=2e9,
)
BUNDLED = Library.load()


def tally(tokens=1, **events):
    counts = Counts(tokens=tokens)
    for action, number in events.items():
        counts.add("memory", action, number)
    return counts


def test_ten_reads_and_three_writes():
    ledger = account(tally(sram_read_byte=10, sram_write_byte=3), PRICES, library())
    assert ledger.nominal_j() == pytest.approx(13.6e-12, rel=1e-15)
    assert ledger.per_token_j("system", 0.1) == pytest.approx(13.6e-12, rel=1e-15)


def test_no_events_cost_nothing():
    for counts in (Counts(), tally(tokens=5), tally(tokens=0, mac=0)):
        ledger = account(counts, PRICES, library())
        assert ledger.entries == ()
        assert [ledger.nominal_j(t) for t in TOTALS] == [0, 0, 0]
        assert [ledger.per_token_j(t) for t in TOTALS] == [0, 0, 0]
        assert ledger.untrusted_share == 0
        assert ledger.banner == ""


def test_three_oscillators_by_hand():
    """3 oscillators, 20 ns at 2 GHz and 0.05 pJ a cycle, doubled: 12 pJ."""
    counts = tally(tokens=3, oscillator_s=3 * 20e-9, coupling_write=6, state_read=3)
    counts.add("value", "mac", 9)
    ledger = account(counts, PRICES, library())
    core = 3 * 20e-9 * 2e9 * 0.05 * 2 / 3
    converters = core + (6 * 1.2 / 3 + 3 * 1.0) / 3
    system = converters + 9 * 2.0 / 3
    expected = (core, converters, system)
    for total, joules in zip(TOTALS, expected, strict=True):
        assert ledger.nominal_j(total) == pytest.approx(joules * 1e-12, rel=1e-14)
        assert ledger.per_token_j(total) == pytest.approx(joules * 1e-12, rel=1e-14)
    assert ledger.joules["value", "mac"] == pytest.approx(6e-12, rel=1e-14)


def test_power_times_seconds():
    ledger = account(tally(component_s=4e-6), PRICES, library())
    assert ledger.nominal_j("core") == pytest.approx(12e-12, rel=1e-14)


def test_a_sum_of_products():
    ledger = account(tally(gelu=5), PRICES, library())
    assert ledger.nominal_j() == pytest.approx(5 * 3.2e-12, rel=1e-14)
    assert ledger.by_component == pytest.approx({"read": 1e-11, "write": 6e-12})


def test_doubling_the_time_doubles_the_dynamic_energy():
    once = account(tally(oscillator_s=1e-7, mac=7), PRICES, library())
    twice = account(tally(oscillator_s=2e-7, mac=7), PRICES, library())
    assert twice.nominal_j("core") == 2 * once.nominal_j("core")
    assert twice.joules["memory", "mac"] == once.joules["memory", "mac"]


FULL = Prices.digital(45)
ALL = Prices(
    {
        **FULL.terms,
        "oscillator_s": (("osc.ring_cycle_45", "knob.periphery"),),
        "anchor_s": (("osc.ring_cycle_45", "knob.periphery"),),
        "coupler_s": (("cpl.tg_load", "knob.periphery", "knob.coupler_ends"),),
        "component_s": (("osc.gmc_component",),),
        "coupling_write": (("dac.coupler_write",),),
        "state_read": (("tdc.timely_8b_65nm",),),
    },
    frequency_hz=1e9,
    overheads=FULL.overheads,
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(PHASES),
            st.sampled_from(sorted(ALL.terms)),
            st.floats(1e-3, 1e6),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 1000),
)
def test_parts_sum_to_the_total_each_counted_once(events, tokens):
    counts = Counts(tokens=tokens)
    for phase, action, number in events:
        counts.add(phase, action, number)
    ledger = account(counts, ALL, BUNDLED, n_draws=8)
    total = ledger.nominal_j()
    assert math.fsum(e.joules for e in ledger.entries) == total
    assert math.fsum(ledger.joules.values()) == pytest.approx(total, rel=1e-14)
    assert math.fsum(ledger.by_component.values()) == pytest.approx(total, rel=1e-14)
    counted = [
        key for key in ledger.joules if key[0] != "control" or key[1] in ALL.terms
    ]
    assert set(counted) == set(counts.actions)
    assert 0 <= ledger.untrusted_share <= 1 + 1e-12


def test_overheads_are_shares_of_their_base_and_do_not_compound():
    prices = Prices(
        PRICES.terms,
        frequency_hz=2e9,
        overheads={
            "leakage": Overhead(share="third", of="all"),
            "clock": Overhead(share="shrink", of="substrate"),
        },
    )
    ledger = account(tally(sram_read_byte=10, state_read=4), prices, library())
    assert ledger.joules["control", "leakage"] == pytest.approx(14e-12 / 3)
    assert ledger.joules["control", "clock"] == pytest.approx(2e-12)
    assert ledger.nominal_j() == pytest.approx((14 + 14 / 3 + 2) * 1e-12)
    assert ledger.nominal_j("converters") == pytest.approx(4e-12)
    assert ledger.per_token_j("system") == pytest.approx(ledger.nominal_j())
    digital = account(tally(sram_read_byte=10), prices, library())
    assert ("control", "clock") not in digital.joules


def test_quantiles_are_ordered_and_bracket_the_nominal_total():
    counts = tally(mac=1e3, exp=50, oscillator_s=1e-6, coupling_write=100)
    ledger = account(counts, ALL, BUNDLED)
    for total in TOTALS:
        low, mid, high = ledger.range_j(total)
        assert low < mid < high
        assert low < ledger.nominal_j(total) < high
        assert ledger.per_token_j(total, 0.9) == high


def test_paired_draws_cancel_what_two_ledgers_share():
    """Twice the same work: every draw of the ratio is 2, whatever the prior."""
    one = account(tally(mac=1e3, exp=50), ALL, BUNDLED, seed=5)
    two = account(tally(mac=2e3, exp=100), ALL, BUNDLED, seed=5)
    assert two.ratio(one) == pytest.approx((2, 2, 2), rel=1e-12)
    unpaired = account(tally(mac=2e3, exp=100), ALL, BUNDLED, seed=6)
    ratio = np.quantile(unpaired.draws["system"] / one.draws["system"], [0.1, 0.9])
    assert ratio[1] / ratio[0] > 2


def test_ratio_refuses_unpaired_ledgers_and_a_zero_denominator():
    one = account(tally(mac=1), ALL, BUNDLED, n_draws=16)
    with pytest.raises(ComponentError, match=r"paired draws.*got 0, 16 and 1, 16"):
        one.ratio(account(tally(mac=1), ALL, BUNDLED, n_draws=16, seed=1))
    with pytest.raises(ComponentError, match=r"paired draws.*got 0, 16 and 0, 32"):
        one.ratio(account(tally(mac=1), ALL, BUNDLED, n_draws=32))
    with pytest.raises(ComponentError, match=r"core total is 0"):
        one.ratio(one, "core")


def test_the_same_seed_gives_the_same_draws():
    one, two = (account(tally(mac=3, exp=1), ALL, BUNDLED, seed=9) for _ in range(2))
    assert np.array_equal(one.draws["system"], two.draws["system"])


@pytest.mark.parametrize(
    ("product", "share"),
    [
        (["read"], 0.0),
        (["read", "twice"], 0.0),
        (["guess"], 1.0),
        (["guess", "twice"], 1.0),
        (["read", "factor"], 0.75),
        (["read", "shrink"], 1.0),
        (["read", "factor", "shrink"], 1.0),
    ],
)
def test_share_that_rests_on_untrusted_numbers(product, share):
    """A factor of 4 that is assumed adds three quarters; one below 1 adds all."""
    ledger = account(tally(exp=3), Prices.of({"exp": product}), library())
    assert ledger.untrusted_share == pytest.approx(share)
    assert ledger.has_banner == (share > 0.5)


def test_the_banner_names_share_and_culprit():
    prices = Prices.of({"exp": ["guess"], "mac": ["read"]})
    flagged = account(tally(exp=3, mac=4), prices, library())
    assert flagged.banner.startswith("75% of the system total")
    assert "guess (75%)" in flagged.banner
    assert account(tally(exp=1, mac=12), prices, library()).banner == ""


def test_a_converter_never_costs_less_than_the_survey_floor():
    prices = Prices.of({"state_read": ["adc.accelergy_7nm_6b"]})
    ledger = account(tally(state_read=10), prices, BUNDLED)
    floor = BUNDLED["adc.envelope_floor"].value
    assert BUNDLED["adc.accelergy_7nm_6b"].value < floor
    assert ledger.nominal_j() == pytest.approx(10e-12 * floor)
    drawn = BUNDLED.draws("adc.envelope_floor", 4096)
    assert np.all(ledger.draws["converters"] >= 10e-12 * drawn * (1 - 1e-12))
    assert "raised to the survey's floor" in ledger.notes[0]
    assert set(ledger.by_component) == {"adc.envelope_floor"}


def test_the_floor_leaves_dear_and_other_converters_alone():
    dear = Prices.of({"state_read": ["adc.survey_enob9"]})
    ledger = account(tally(state_read=1), dear, BUNDLED)
    assert ledger.nominal_j() == pytest.approx(38.4e-12)
    cheap = Prices.of({"state_read": ["tdc.timely_8b_65nm"]})
    ledger = account(tally(state_read=1), cheap, BUNDLED)
    assert ledger.nominal_j() == pytest.approx(0.145e-12)
    assert ledger.notes == ()


def test_a_component_of_another_node_is_reported():
    prices = Prices(
        {"coupling_write": (("dac.coupler_write",),)}, oscillator_node_nm=65
    )
    ledger = account(tally(coupling_write=1), prices, BUNDLED)
    assert "coupling_write of 65 nm oscillators" in ledger.notes[0]
    moved = Prices(
        {"coupling_write": (("dac.coupler_write", "node.write_45_to_7"),)},
        oscillator_node_nm=7,
    )
    assert account(tally(coupling_write=1), moved, BUNDLED).notes == ()


def test_a_counted_action_without_a_price():
    with pytest.raises(ComponentError, match=r"'exp' was counted but has no price"):
        account(tally(exp=1), PRICES, library())


def test_an_unknown_action_is_an_error():
    with pytest.raises(ComponentError, match=r"unknown action 'sram_raed_byte': one "):
        account(tally(sram_raed_byte=1), PRICES, library())


def test_an_unknown_component_is_an_error_even_if_nothing_uses_it():
    prices = Prices.of({"exp": ["nothing"], "mac": ["read"]})
    with pytest.raises(ComponentError, match=r"unknown component 'nothing'"):
        account(tally(mac=1), prices, library())


def test_an_overhead_must_be_a_ratio():
    prices = Prices({}, overheads={"leakage": Overhead(share="read", of="all")})
    with pytest.raises(ComponentError, match=r"'read' must be of unit ratio, got pJ"):
        account(Counts(), prices, library())


def test_events_without_tokens():
    with pytest.raises(ComponentError, match=r"counted for 0 tokens"):
        account(tally(tokens=0, mac=1), PRICES, library())


def test_bad_requests():
    with pytest.raises(ComponentError, match=r"n_draws must be at least 1, got 0"):
        account(Counts(), PRICES, library(), n_draws=0)
    ledger = account(tally(mac=1), PRICES, library(), n_draws=4)
    with pytest.raises(ComponentError, match=r"quantile must be within 0..1, got 10"):
        ledger.per_token_j("system", 10)
    with pytest.raises(ComponentError, match=r"unknown total 'chip': one of core"):
        ledger.nominal_j("chip")
    with pytest.raises(ComponentError, match=r"unknown total 'chip': one of core"):
        ledger.range_j("chip")


def test_spread_of_a_group_is_wider_than_of_independent_parts():
    grouped = library(
        entry("g1", 1.0, low=0.5, high=2.0, corr_group="g"),
        entry("g2", 1.0, low=0.5, high=2.0, corr_group="g"),
        entry("f1", 1.0, low=0.5, high=2.0),
        entry("f2", 1.0, low=0.5, high=2.0),
    )
    spread = []
    for pair in (("g1", "g2"), ("f1", "f2")):
        prices = Prices.of({"mac": [pair[0]], "exp": [pair[1]]})
        low, _, high = account(tally(mac=1, exp=1), prices, grouped).range_j()
        spread.append(math.log(high / low))
    assert spread[0] == pytest.approx(math.log(4), rel=0.05)
    assert spread[1] < 0.85 * spread[0]


@pytest.mark.parametrize("number", [-5, float("nan"), float("inf"), -float("inf")])
def test_a_count_that_is_no_number_of_events(number):
    """`Counts.add` refuses it; a count may also be set directly."""
    counts = tally(mac=1)
    counts.actions["memory", "sram_read_byte"] = number
    with pytest.raises(ComponentError, match=r"'sram_read_byte' in 'memory' must be"):
        account(counts, PRICES, library())


@pytest.mark.parametrize("tokens", [float("nan"), 1.5, -1, True, "3"])
def test_tokens_that_are_no_number_of_tokens(tokens):
    counts = tally(mac=1)
    counts.tokens = tokens
    with pytest.raises(ComponentError, match=r"tokens must be a whole number from 0"):
        account(counts, PRICES, library())


def test_tokens_of_numpy_are_tokens():
    assert account(tally(tokens=np.int64(2), mac=2), PRICES, library()).tokens == 2
