import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from oscsim.energy.components import UNTRUSTED, Component, Library, _scores
from oscsim.energy.priors import Z90
from oscsim.errors import ComponentError, SpecError
from tests.energy.toy import entry, library

BUNDLED = Library.load()


def quantile_scores(component: Component, draws: np.ndarray) -> list[float]:
    """z-scores of the sampled p10, p50, p90 against low, value, high.

    In logarithms, where the split log-normal is normal on either side; the
    standard error of a sample quantile is sqrt(p (1 - p) / n) / density, the
    density at the median being that of the wider (smaller) side.
    """
    logs = np.log(draws)
    up = math.log(component.high / component.value) / Z90
    down = math.log(component.value / component.low) / Z90
    scores = []
    for p, expected, sigma in (
        (0.1, component.low, down),
        (0.5, component.value, max(up, down)),
        (0.9, component.high, up),
    ):
        density = norm.pdf(norm.ppf(p)) / sigma
        error = math.sqrt(p * (1 - p) / len(logs)) / density
        scores.append((np.quantile(logs, p) - math.log(expected)) / error)
    return scores


SKEWED = Component.model_validate(entry("skewed", 1.0, low=0.5, high=8.0))


def test_sampled_quantiles_are_low_value_high():
    draws = Library({"skewed": SKEWED}).draws("skewed", 40_000, seed=3)
    assert np.max(np.abs(quantile_scores(SKEWED, draws))) < 4


@pytest.mark.parametrize("wrong", [{"low": 0.25}, {"value": 2.0}, {"high": 16.0}])
def test_quantiles_off_by_two_are_noticed(wrong):
    """Negative control: each of the three numbers doubled or halved must fail."""
    draws = Library({"skewed": SKEWED}).draws("skewed", 40_000, seed=3)
    other = SKEWED.model_copy(update=wrong)
    assert np.max(np.abs(quantile_scores(other, draws))) > 20


def test_a_bound_of_zero_gives_a_triangle_with_its_own_quantiles():
    component = Component.model_validate(entry("t", 1.0, low=0.0, high=4.0))
    draws = component.quantile(norm.ppf((np.arange(20_000) + 0.5) / 20_000))
    assert 0 <= draws.min() < 0.05
    assert 3.95 < draws.max() <= 4
    assert draws.mean() == pytest.approx((0 + 1 + 4) / 3, rel=1e-3)
    assert np.mean(draws < 1) == pytest.approx(1 / 4, abs=1e-3)


def test_what_would_be_above_most_is_most():
    """All else is drawn as without a bound; the control has draws beyond it."""
    free = Component.model_validate(entry("c", 1.0, low=0.5, high=2.0))
    bound = free.model_copy(update={"most": 2.5})
    z = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    without, found = free.quantile(z), bound.quantile(z)
    is_above = without > 2.5
    share = norm.sf(Z90 * math.log(2.5) / math.log(2.0))
    assert np.mean(is_above) == pytest.approx(share, abs=1e-3)
    assert np.all(found[is_above] == 2.5)
    assert np.array_equal(found[~is_above], without[~is_above])


def test_a_bound_below_the_p90_is_refused():
    with pytest.raises(
        ComponentError,
        match=r"field 'most': must be at or above high = 2.0, got 1.9",
    ):
        Library.parse([entry("c", 1.0, low=0.5, high=2.0, most=1.9)])


def test_a_value_of_zero_can_be_drawn():
    draws = BUNDLED.draws("cpl.cap_power", 100)
    assert np.all((draws >= 0) & (draws <= 0.5))


@pytest.mark.parametrize(
    ("name", "value"), [("dig.byte_of_word64", 0.125), ("knob.coupler_ends", 2.0)]
)
def test_equal_bounds_are_exact(name, value):
    assert np.all(BUNDLED.draws(name, 10) == value)


@given(
    st.floats(1e-9, 1e9),
    st.floats(1.0, 100.0),
    st.floats(1.0, 100.0),
    st.floats(-4, 4),
)
def test_quantile_is_monotone_and_passes_its_points(value, down, up, z):
    component = Component.model_validate(
        entry("c", value, low=value / down, high=value * up)
    )
    at = component.quantile(np.array([-Z90, 0.0, Z90, z, z + 0.1]))
    assert at[:3] == pytest.approx([value / down, value, value * up], rel=1e-9)
    assert at[3] <= at[4] * (1 + 1e-12)


def test_draws_depend_on_seed_and_component_only():
    alone = BUNDLED.draws("dig45.exp", 500, seed=7)
    BUNDLED.draws("dig.overhead", 123, seed=7)
    assert np.array_equal(BUNDLED.draws("dig45.exp", 500, seed=7), alone)
    assert np.array_equal(BUNDLED.draws("dig45.exp", 900, seed=7)[:500], alone)
    small = Library({"dig45.exp": BUNDLED["dig45.exp"]})
    assert np.array_equal(small.draws("dig45.exp", 500, seed=7), alone)
    assert not np.array_equal(BUNDLED.draws("dig45.exp", 500, seed=8), alone)


def test_a_group_is_drawn_together_and_others_are_not():
    def scores(name):
        return np.log(BUNDLED.draws(name, 4000) / BUNDLED[name].value)

    together = np.corrcoef(scores("dig45.int8_add"), scores("dig45.fp16_add"))[0, 1]
    apart = np.corrcoef(scores("dig45.int8_add"), scores("dig.overhead"))[0, 1]
    assert together > 0.99
    assert abs(apart) < 4 / math.sqrt(4000)


def test_no_two_causes_share_their_numbers():
    causes = {c.corr_group or c.id for c in BUNDLED.components.values()}
    first = {float(_scores(cause, 1, 0)[0]) for cause in causes}
    assert len(first) == len(causes)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seed_out_of_range(seed):
    with pytest.raises(SpecError, match=f"seed must be.*got {seed}"):
        BUNDLED.draws("dig45.exp", 1, seed)


def test_unknown_component_names_close_ones():
    with pytest.raises(ComponentError, match=r"'dig45.expo'; close: dig45.exp"):
        BUNDLED["dig45.expo"]


def test_bundled_library_is_complete():
    """Every number names a source, and what is a choice says so."""
    assert len(BUNDLED.components) >= 142
    for component in BUNDLED.components.values():
        assert len(component.source) > 5
        if "no citation" in component.source:
            assert component.confidence == "memory", component.id
        if component.source.endswith("a choice"):
            assert component.confidence in UNTRUSTED, component.id


@pytest.mark.parametrize(
    ("name", "value", "tolerance"),
    [
        ("dig45.int8_mac", 0.2 + 0.1, 1e-9),
        ("dig7.int8_mac", 0.07 + 0.03, 1e-9),
        ("dig45.fp16_div", 7.1 * 1.1, 0.01),
        ("dig7.fp16_div", 7.1 * 0.34, 0.01),
        ("osc.ring_cycle_45", 11 * 3e-3 * 0.9**2, 0.02),
        ("osc.ring_cycle_7", 11 * 1.1e-3 * 0.7**2, 0.02),
        ("osc.ring_puf_65", 32.3 / 230, 0.01),
        ("osc.moy2022_power", 42e3 / 1968, 0.01),
        ("osc.moy2022_solve", 42e-3 * 50e-9 / 1968 * 1e12, 0.01),
        ("osc.skonn_power", 167 / 16, 0.01),
        ("osc.gmc_component", 4.5 + 2 * 5.0, 1e-9),
        ("cpl.tg_load", (10 * 0.2 + 1) * 0.81e-3, 0.02),
        ("cpl.res_power", 0.45**2 / 100e3 * 1e6, 0.02),
        ("mac.hermes_hi_14nm", 2 / 2.48, 0.01),
        ("mac.hermes_lo_14nm", 2 / 9.76, 0.01),
        ("sh.ktc_1V_8b", 12 * 4.142e-21 * 4**8 * 1e12, 0.02),
        ("phys.kT300", 1.380649e-23 * 300 * 1e12, 1e-3),
        ("phys.D_TUR", 4 * math.pi**2, 1e-3),
        ("phys.D_ring_min", 2 * math.pi**2 * 7.33, 1e-3),
    ],
)
def test_derived_numbers_follow_from_what_they_cite(name, value, tolerance):
    assert BUNDLED[name].value == pytest.approx(value, rel=tolerance)


TOML = """
schema_version = 1
[[component]]
id = "a"
action = "x"
value = 1.0
low = 0.5
high = 2.0
unit = "pJ"
node_nm = 45
vdd = 0.9
year = 2020
source = "s"
confidence = "primary"
scale = "none"
"""


def test_file_round(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(TOML)
    assert Library.load(file)["a"].high == 2.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vdd = 0.9", "volt = 0.9\nvdd = 0.9", r"component 'a': unknown key 'volt'"),
        ("value = 1.0", "value = -1.0", r"component 'a': field 'value': must be >= 0"),
        ("low = 0.5", "low = 3.0", r"'a': fields 'low'.* must not decrease, got 3.0"),
        ("value = 1.0", "value = inf", r"component 'a': field 'value': .*finite"),
        ("value = 1.0", 'value = "1"', r"component 'a': field 'value': .*number"),
        ('unit = "pJ"', 'unit = "nJ"', r"component 'a': field 'unit': .*got 'nJ'"),
        ('unit = "pJ"', "", r"component 'a': field 'unit': is missing"),
        ('source = "s"', 'source = ""', r"component 'a': field 'source'"),
        ('source = "s"', "", r"component 'a': field 'source': is missing"),
        ('unit = "pJ"', 'unit = "uW"\nper = "cycle"', r"field 'per': only .* is uW"),
        ('id = "a"', "", r"component 'number 1': field 'id': is missing"),
        ('"primary"', '"rumour"', r"component 'a': field 'confidence'"),
        (
            "schema_version = 1",
            "schema_version = 9",
            r"schema_version must be 1, got 9",
        ),
        ("schema_version = 1", "schema_version = 1\nx = 2", r"unknown key 'x'"),
        ("[[component]]", "[component]", r"components are \[\[component\]\] tables"),
        ("value = 1.0", "value = ", r"is not TOML"),
    ],
)
def test_bad_files_name_entry_and_field(tmp_path, old, new, message):
    assert TOML.count(old) == 1
    file = tmp_path / "c.toml"
    file.write_text(TOML.replace(old, new))
    with pytest.raises(ComponentError, match=message):
        Library.load(file)


def test_duplicate_id():
    with pytest.raises(ComponentError, match=r"component 'read': field 'id': is alre"):
        library(entry("read", 2.0))


def test_missing_file(tmp_path):
    with pytest.raises(ComponentError, match=r"none.toml cannot be read"):
        Library.load(tmp_path / "none.toml")


@pytest.mark.parametrize("entries", [None, 3, "ab", [3], [entry("a", 1.0), None], {}])
def test_entries_that_are_no_tables(entries):
    with pytest.raises(
        ComponentError, match=r"components are \[\[component\]\] tables"
    ):
        Library.parse(entries)


def test_a_file_whose_components_are_numbers(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("schema_version = 1\ncomponent = [3]")
    with pytest.raises(ComponentError, match=r"c.toml: components are .*got \[3\]"):
        Library.load(file)


def test_every_converter_of_the_library_has_its_bits():
    for name, part in BUNDLED.components.items():
        kind = name.partition(".")[0]
        if kind in ("adc", "tdc", "dac") and "envelope" not in name:
            assert part.bits > 0, name
            digits = re.findall(r"(?:enob|_|flash)(\d+)b?(?:_|$)", name)
            assert not digits or str(part.bits) in digits, name
        elif kind == "area" and part.bits:
            assert f"_{part.bits}b" in name or name == "area.coupler_cell_65", name
        elif kind == "area":
            assert not re.search(r"(adc|tdc|dtc)_.*\d+b(_|$)", name), name
        elif "coupler_units" not in name:
            assert part.bits == 0, name
