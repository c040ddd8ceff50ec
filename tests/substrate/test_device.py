"""Device descriptions: sources, one-sentence errors, rungs."""

import math

import numpy as np
import pytest

from oscsim.errors import DeviceError
from oscsim.substrate.device import (
    CHARACTERISTICS,
    DIGITAL_RATES,
    IMPERFECTIONS,
    RUNGS,
    SIZES,
    Device,
    default_device,
    presets,
)
from oscsim.substrate.provenance import UNITS, required_unit
from tests.substrate.drives import device

NUMBERS = (
    "frequency_hz",
    "coupling_max",
    *(name for name in IMPERFECTIONS if name != "start"),
    "write_time",
    "read_time",
    *SIZES,
)
EVERYTHING = {
    "frequency_hz": 1e8,
    "weak_coupling": 0.05,
    "coupling_max": 2e7,
    "range_limit": True,
    "weight_bits": 5,
    "anchor_bits": 6,
    "coupling_mismatch": 0.03,
    "coupling_offset": 0.01,
    "anchor_mismatch": 0.02,
    "anchor_gain_mismatch": 0.04,
    "frequency_mismatch": 0.001,
    "frequency_offset": 1e5,
    "stuck_off": 0.01,
    "stuck_on": 0.02,
    "settle_time": 1e-6,
    "start": "previous",
    "diffusion": 1e3,
    "readout_noise": 0.01,
    "adc_bits": 8,
    "query_slots": 1,
    "write_time": 1e-7,
    "read_time": 1e-8,
    "runs_while_loading": True,
    "winding_counter": True,
    "oscillators": 1,
    "couplers_per_oscillator": 64,
    "tiles": 4,
    "bus_bits": 32,
    "bus_hz": 1e8,
    "write_endurance": 1e15,
    "digital_macs_per_s": 1e12,
    "digital_ops_per_s": 1e11,
    "energy": {
        "oscillator_node_nm": 65,
        "digital_node_nm": 45,
        "prices": {"state_read": ["tdc.ds_8b_65nm"]},
    },
}
FULL = device(**EVERYTHING)
KEPT_ALWAYS = {
    *("frequency_hz", "weak_coupling", "coupling_max", "query_slots"),
    *("write_time", "read_time", "runs_while_loading", "winding_counter", "energy"),
    *SIZES,
    *DIGITAL_RATES,
}


def one_sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert "pydantic" not in text
    assert text.strip()
    return text


# Presets


@pytest.mark.parametrize("name", presets())
def test_every_number_of_a_preset_has_a_source(name):
    kind = Device.load(name)
    neutral = Device(name="", oscillator="ideal", time_unit="model")
    given = [n for n in NUMBERS if getattr(kind, n) != getattr(neutral, n)]
    for field in given:
        origin = kind.provenance[field]
        assert len(origin.source) > 5
        assert origin.unit
    assert set(kind.provenance) <= {*given, "weak_coupling"}
    assert kind.description.endswith(".")
    assert kind.name == name


def test_the_presets_are_those_of_the_design():
    assert {"ideal", "ring-65nm", "ring-7nm", "lc-board", "sphere-generic"} <= set(
        presets()
    )
    assert Device.load("ideal").imperfections == ()
    assert default_device(2) == default_device(None) == "ring-65nm"
    assert default_device(3) == default_device(64) == "sphere-generic"


def test_presets_with_one_phase_refuse_more_components_and_name_the_way_out():
    for name in ("ring-65nm", "ring-7nm", "lc-board"):
        with pytest.raises(DeviceError, match=r"d_osc = 8: use sphere-generic"):
            Device.load(name).require_d_osc(8)
        Device.load(name).require_d_osc(2)
    for name in ("ideal", "sphere-generic"):
        Device.load(name).require_d_osc(64)


def test_a_phase_stands_for_the_state_of_single_phase_oscillators_only():
    assert Device.load("ring-65nm").has_phase(2)
    assert Device.load("ideal").has_phase(2)
    assert not Device.load("ideal").has_phase(3)
    assert not Device.load("sphere-generic").has_phase(2)


# Reading


BASE = 'oscillator = "ring"\ncoupling_max = 1e7\nfrequency_hz = 1e8\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("colour = 3", "unknown key 'colour'"),
        ("coupling_mismatch = -0.1", "coupling_mismatch: input should be greater"),
        ("readout_noise = -1e-9", "readout_noise"),
        ("diffusion = -1", "diffusion"),
        ("weight_bits = 0", "weight_bits: input should be greater than or equal to 1"),
        ("adc_bits = 25", "adc_bits"),
        ("anchor_bits = -3", "anchor_bits"),
        ("weight_bits = 4.5", "weight_bits"),
        ("weight_bits = 4.0", "weight_bits"),
        ("weight_bits = true", "weight_bits"),
        ('weight_bits = "4"', "weight_bits"),
        ('settle_time = "inf"', "settle_time"),
        ("settle_time = true", "settle_time"),
        ("settle_time = 0", "settle_time"),
        ("settle_time = -1e-6", "settle_time"),
        ("settle_time = nan", "settle_time"),
        ("coupling_max = inf", "coupling_max"),
        ("coupling_max = nan", "coupling_max"),
        ("coupling_mismatch = inf", "coupling_mismatch"),
        ("coupling_mismatch = nan", "coupling_mismatch"),
        ("stuck_off = 1.5", "stuck_off"),
        ("stuck_off = nan", "stuck_off"),
        ("stuck_off = 0.7\nstuck_on = 0.7", "stuck_off + stuck_on = 1.4"),
        ("range_limit = 1", "range_limit"),
        ("range_limit = false\nweight_bits = 4", "range_limit = false cannot act"),
        ('start = "previous"', "start = 'previous' cannot act"),
        (
            'start = "previous"\nsettle_time = 1.0',
            "start = 'previous' needs query_slots = 1",
        ),
        ('start = "zero"', "start"),
        ("query_slots = 2", "query_slots"),
        ("oscillators = 0", "oscillators: input should be greater"),
        ("tiles = 1.5", "tiles"),
        ("couplers_per_oscillator = -1", "couplers_per_oscillator"),
        ("query_slots = 1\noscillators = 2", "oscillators must be 1 or absent, got 2"),
        ("bus_bits = 32", "give both bus_bits and bus_hz"),
        ("bus_hz = 1e8", "give both bus_bits and bus_hz"),
        ("weight_bits = 5\nbus_bits = 32\nbus_hz = 0", "bus_hz"),
        ("write_endurance = 0", "write_endurance"),
        ("digital_macs_per_s = 0", "digital_macs_per_s"),
        ("digital_macs_per_s = -1e9", "digital_macs_per_s"),
        ("digital_ops_per_s = 1e9", "digital_ops_per_s alone times no model"),
        ('time_unit = "ms"', "time_unit"),
        ("weight_bits = [4]", "weight_bits"),
        ("[weight_bits]\nunit = 'bit'", "weight_bits"),
        ("[weight_bits]\nvalue = 4", "provenance.weight_bits.unit"),
        (
            "[weight_bits]\nvalue = 4\nunit = 'bit'\nsource = 'x'\nconfidence = 'sure'",
            "provenance.weight_bits.confidence",
        ),
        (
            "weight_bits = {value=4, unit='', source='', confidence='memory', mood=1}",
            "unknown key 'provenance.weight_bits.mood'",
        ),
        ("provenance = 3", "provenance must be a table"),
        ("[provenance]\nweight_bits = 3", "provenance.weight_bits"),
        ("[energy]\noscillator_node_nm = 65", "energy.digital_node_nm"),
        ("energy = 4", "energy"),
        ("name = 3", "name"),
        ("coupling_max = 2", "not TOML"),
        ("this is not toml", "not TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_the_key(tmp_path, text, expected):
    path = tmp_path / "wrong.toml"
    base = BASE.replace("coupling_max = 1e7\n", "") if "coupling_max" in text else BASE
    if text == "coupling_max = 2":
        text += "\ncoupling_max = 3"
    path.write_text(base + text)
    with pytest.raises(DeviceError) as error:
        Device.load(path)
    text = one_sentence(error)
    assert expected in text
    assert "wrong.toml" in text


def test_what_is_not_a_readable_file_is_refused(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00name")
    for name, expected in (
        ("missing.toml", "does not exist"),
        ("folder.toml", "cannot be read"),
        ("binary.toml", "cannot be read"),
        ("binary.toml\0.toml", "cannot be read"),
        ("folder.toml/inside.toml", "does not exist"),
    ):
        with pytest.raises(DeviceError, match=expected) as error:
            Device.load(tmp_path / name)
        one_sentence(error)
    for name in ("no-such-preset", "", ".", "ring-65nm.json", "RING-65NM"):
        with pytest.raises(
            DeviceError, match="one of ideal, josephson-4k, lc-board"
        ) as error:
            Device.load(name)
        one_sentence(error)


def test_a_file_without_a_name_takes_its_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(BASE)
    assert Device.load(str(path)).name == "mine"
    path.write_text(BASE + 'name = "other"')
    assert Device.load(path).name == "other"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"coupling_max": None}, "coupling_max (rad/s) is needed"),
        ({"time_unit": "model"}, "coupling_max has no meaning"),
        ({"frequency_mismatch": 0.1}, "frequency_mismatch is relative"),
        *(
            (
                {"time_unit": "model", "coupling_max": None, name: value},
                f"{name} needs a full scale",
            )
            for name, value in (
                ("weight_bits", 4),
                ("coupling_offset", 0.1),
                ("stuck_on", 0.1),
            )
        ),
    ],
)
def test_a_field_that_could_not_act_is_refused(fields, expected):
    with pytest.raises(DeviceError) as error:
        device().changed(**fields)
    assert expected in one_sentence(error)


# Changing


def test_a_changed_number_loses_its_source_and_nothing_else_changes():
    before = Device.load("ring-65nm")
    after = before.changed(weight_bits=3)
    assert after.weight_bits == 3
    assert "weight_bits" not in after.provenance
    unnamed = {"provenance", "changes"}
    for field in set(Device.model_fields) - unnamed - {"weight_bits"}:
        assert getattr(after, field) == getattr(before, field)
    assert after.changed(weight_bits=5).model_dump(
        exclude={"provenance"}
    ) == before.model_dump(exclude={"provenance"})
    assert before.weight_bits == 5
    assert before.changed() == before


def test_what_was_changed_is_recorded_and_named():
    kind = Device.load("ring-65nm")
    assert (kind.changes, kind.label) == ({}, "ring-65nm")
    once = kind.changed(weight_bits=3, diffusion=0)
    assert once.changes == {"weight_bits": "5 -> 3", "diffusion": "3900.0 -> 0.0"}
    assert once.label == "ring-65nm (weight_bits 5 -> 3, diffusion 3900.0 -> 0.0)"
    assert kind.changed(adc_bits=None).changes == {"adc_bits": "8 -> None"}
    assert kind.changes == {}


def test_a_change_is_from_the_value_that_was_loaded():
    kind = Device.load("ring-65nm")
    twice = kind.changed(weight_bits=3).changed(settle_time=1.0).changed(weight_bits=4)
    assert twice.changes == {"settle_time": "1e-06 -> 1.0", "weight_bits": "5 -> 4"}
    assert twice.changed(settle_time=1).changes == twice.changes
    back = twice.changed(weight_bits=5, settle_time=1e-6)
    assert (back.changes, back.label) == ({}, "ring-65nm")


def test_what_is_given_as_it_was_or_is_no_number_is_no_change():
    kind = Device.load("ring-65nm")
    same = kind.changed(weight_bits=np.int64(5), settle_time=1e-6, range_limit=True)
    assert same.changes == {}
    assert kind.changed(energy=None, description="Other.").changes == {}
    for field, value in {
        "query_slots": 1,
        "read_time": 1.0,
        "coupling_max": 1e6,
    }.items():
        found = kind.changed(**{field: value}).changes
        assert found == {field: f"{getattr(kind, field)} -> {value}"}


@pytest.mark.parametrize("rung", RUNGS)
def test_changes_survive_plain_data_and_every_rung(rung):
    kind = Device.load("ring-65nm").changed(weight_bits=3, adc_bits=None)
    assert Device.parse(kind.model_dump()) == kind
    again = Device.parse(kind.model_dump(exclude_none=True))
    assert again.changes == kind.changes
    assert kind.changes == {"weight_bits": "5 -> 3", "adc_bits": "8 -> None"}
    assert kind.at_rung(rung).changes == kind.changes
    assert kind.at_rung(rung).label == kind.label


@pytest.mark.parametrize("fields", [{"bits": 3}, {"weight_bits": 0}, {"provenance": 3}])
def test_a_wrong_change_is_one_sentence(fields):
    with pytest.raises(DeviceError, match="device ring-65nm: ") as error:
        Device.load("ring-65nm").changed(**fields)
    one_sentence(error)


def test_numbers_of_numpy_are_numbers():
    found = device().changed(
        weight_bits=np.int64(4), range_limit=np.True_, diffusion=np.float32(0.5)
    )
    assert (found.weight_bits, found.diffusion) == (4, 0.5)
    assert type(found.weight_bits) is int


def test_a_device_survives_plain_data():
    for kind in (FULL, Device.load("ideal"), Device.load("sphere-generic")):
        assert Device.parse(kind.model_dump()) == kind
        assert Device.parse(kind.model_dump(exclude_none=True)) == kind


def in_unit(name, value, unit):
    return f"{name} = {{value={value}, unit='{unit}', source='x', confidence='memory'}}"


@pytest.mark.parametrize("name", sorted(UNITS))
def test_a_number_has_one_unit_and_another_is_refused(tmp_path, name):
    """Megahertz would be read as hertz, microseconds as seconds."""
    given = {
        "coupling_max": 1e7,
        "frequency_hz": 1e8,
        "weight_bits": 4,
        "bus_bits": 8,
        "bus_hz": 1e8,
        "digital_macs_per_s": 1e9,
        name: EVERYTHING.get(name, 1e7),
    }
    given.pop("stuck_on" if name == "stuck_off" else "stuck_off", None)
    lines = ['oscillator = "ring"']
    for unit, is_right in ((UNITS[name], True), ("M" + UNITS[name], False)):
        path = tmp_path / "unit.toml"
        parts = [
            in_unit(k, v, unit) if k == name else f"{k} = {v}" for k, v in given.items()
        ]
        path.write_text("\n".join([*lines, *parts]))
        if is_right:
            assert Device.load(path).provenance[name].unit == unit
            continue
        with pytest.raises(DeviceError) as error:
            Device.load(path)
        said = one_sentence(error)
        assert f"{name} must be given in '{UNITS[name]}'" in said
        assert f"got unit '{unit}'" in said


def test_every_number_has_a_unit_and_a_noise_that_of_what_is_read():
    counted = {"query_slots", "range_limit", "start", "runs_while_loading"}
    counted |= {"winding_counter", "energy", "readout_noise"}
    assert set(UNITS) == set(EVERYTHING) - counted
    assert required_unit("readout_noise", "ring", "s") == "rad"
    assert required_unit("readout_noise", "sphere", "s") == "per component"
    assert required_unit("readout_noise", "ideal", "model") is None
    assert required_unit("settle_time", "ring", "model") == "model time"
    assert required_unit("weight_bits", "ring", "model") == "bit"
    assert required_unit("start", "ring", "s") is None


@pytest.mark.parametrize("node", ["'45'", "45.0", "true"])
def test_a_node_is_a_whole_number(tmp_path, node):
    path = tmp_path / "node.toml"
    path.write_text(f"{BASE}[energy]\ndigital_node_nm = {node}\nprices = {{}}")
    with pytest.raises(DeviceError, match=r"energy.digital_node_nm: input should be"):
        Device.load(path)


# Rungs


@pytest.mark.parametrize(
    ("rung", "kept"),
    [
        ("ideal", set()),
        ("finite", {"settle_time", "start"}),
        ("noisy", {"settle_time", "start", "diffusion"}),
        ("device", set(EVERYTHING)),
    ],
)
def test_a_rung_keeps_what_the_ladder_says(rung, kept):
    at_rung = FULL.at_rung(rung)
    neutral = device(weight_bits=None, range_limit=rung == "device", coupling_max=2e7)
    for name in EVERYTHING:
        source = FULL if name in kept | KEPT_ALWAYS else neutral
        assert getattr(at_rung, name) == getattr(source, name), name
    assert set(at_rung.imperfections) == kept & {*IMPERFECTIONS, "range_limit"}
    assert (at_rung.oscillator, at_rung.time_unit) == ("ring", "s")


def test_every_field_is_known_to_these_tests():
    """A new field must be placed: kept at which rung, an imperfection or not."""
    assert set(EVERYTHING) == set(Device.model_fields) - {
        *("name", "description", "oscillator", "time_unit", "provenance", "changes")
    }
    assert set(IMPERFECTIONS + CHARACTERISTICS) == set(EVERYTHING) - {"energy"}
    assert set(IMPERFECTIONS) == set(EVERYTHING) - KEPT_ALWAYS - {"range_limit"}


def test_a_settled_device_is_not_imperfect_in_time():
    kind = device(settle_time=math.inf)
    assert kind.imperfections == ()
    assert kind.at_rung("finite").imperfections == ()
    assert kind.changed(range_limit=True).imperfections == ("range_limit",)


ABLE = {
    "settle_time": ("finite", "noisy", "device"),
    "start": ("finite", "noisy", "device"),
    "diffusion": ("noisy", "device"),
}


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("name", [*IMPERFECTIONS, "range_limit"])
def test_a_field_asked_for_acts_at_a_rung_or_is_refused(name, rung):
    able = ABLE.get(name, ("device",))
    if rung in able:
        FULL.require_acting([name], rung)
        return
    with pytest.raises(DeviceError) as error:
        FULL.require_acting([name], rung)
    text = one_sentence(error)
    assert text.startswith(f"{name} cannot act at rung {rung}")
    assert text.endswith(f"use rung {' or '.join(able)}")


def test_fields_that_are_off_or_are_no_imperfection_are_not_asked_about():
    device().require_acting(["weight_bits", "diffusion"], "ideal")
    FULL.require_acting(["frequency_hz", "energy", "name"], "digital")


def test_a_range_without_a_full_scale_is_refused():
    with pytest.raises(DeviceError, match="range_limit needs a full scale"):
        Device.load("ideal").require_acting(["range_limit"], "device")
