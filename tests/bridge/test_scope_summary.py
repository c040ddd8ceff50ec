"""What a run says it modelled, and the summary that scripts rely on."""

import dataclasses
import json

import numpy as np
import pytest

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import DIRECT, FACTORED, SOFTMAX, price
from oscsim.bridge.infer import infer
from oscsim.bridge.passes import in_float64
from oscsim.bridge.scope import ALWAYS_LEFT_OUT, EFFECTS, modelled, remarks
from oscsim.bridge.setting import Setting
from oscsim.bridge.summary import summary, warnings_of
from oscsim.substrate.device import IMPERFECTIONS, RUNGS, Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.runs import bundled, random_model, short_anchors, some

RING = Device.load("ring-65nm")
IDEAL = Device.load("ideal")
CONTRACT = {
    "checkpoint": str,
    "family": str,
    "device": str,
    "changes": dict,
    "rung": str,
    "seed": int,
    "metric": str,
    "n_tokens": int,
    "chips": int,
    "repeats": int,
    "digital": float,
    "substrate": float,
    "ci95": list,
    "difference": float,
    "difference_standard_error": float,
    "n_items_all": int,
    "ci95_all": list,
    "difference_all": float,
    "difference_all_standard_error": float,
    "undriven": int,
    "read_error_rad": dict,
    "agreement": float,
    "max_abs_error": float,
    "energy_j_per_token": dict,
    "latency_s_per_token": float,
    "modelled": list,
    "not_modelled": list,
    "warnings": list,
}


def on(device=RING, **how):
    how = {"chips": 2, "repeats": 2} | how
    return infer(bundled(), some(40), device=device, **how)


# Scope


def test_every_imperfection_has_words():
    assert set(EFFECTS) == {*IMPERFECTIONS, "range_limit"} - {"start"}


@pytest.mark.parametrize("rung", RUNGS)
def test_modelled_and_not_modelled_together_are_everything(rung):
    kind = RING.changed(start="previous", query_slots=1)
    on_, off = modelled(Setting(kind, rung))
    words = [text.removesuffix(", previous start") for text in on_]
    assert sorted(words + off) == sorted([*EFFECTS.values(), *ALWAYS_LEFT_OUT])
    acting = set() if rung == "digital" else set(kind.at_rung(rung).imperfections)
    assert set(words) == {EFFECTS[name] for name in acting if name != "start"}
    if rung in ("finite", "noisy", "device"):
        assert "finite settling time, previous start" in on_


def test_a_perturbation_is_all_that_is_modelled():
    found, off = modelled(Setting(IDEAL, "ideal", 0, Perturbation("state", 0.25)))
    assert found == ["published perturbation: state, s = 0.25"]
    assert set(EFFECTS.values()) < set(off)


STATIC_ONLY = "all repeats are equal: nothing random acts in a repeat"
SAME_CHIPS = "all chips are equal: the device has no mismatch"
NOISE_ONLY = "chips differ by noise only: the device has no mismatch"


@pytest.mark.parametrize(
    ("device", "rung", "expected"),
    [
        (RING, "device", []),
        (RING, "noisy", [NOISE_ONLY]),
        (RING, "finite", [NOISE_ONLY]),
        (RING, "digital", []),
        (RING, "ideal", [STATIC_ONLY, SAME_CHIPS]),
        (IDEAL.changed(coupling_mismatch=0.1), "device", [STATIC_ONLY]),
        (IDEAL.changed(adc_bits=4), "device", [STATIC_ONLY, SAME_CHIPS]),
        (IDEAL.changed(readout_noise=0.1), "device", [NOISE_ONLY]),
        (IDEAL.changed(frequency_offset=1e3), "device", []),
        (IDEAL.changed(stuck_off=1.0), "device", []),
    ],
)
def test_equal_chips_and_repeats_are_told(device, rung, expected):
    assert remarks(on(device, rung=rung)) == expected


def test_what_is_told_equal_is_equal():
    """Out of lock a settled oscillator still remembers its random start."""
    beating = on(IDEAL.changed(frequency_offset=1e3)).logits
    assert np.abs(beating[:, 0] - beating[:, 1]).max() > 1e-3
    static = on(IDEAL.changed(coupling_mismatch=0.1)).logits
    np.testing.assert_allclose(static[:, 0], static[:, 1], rtol=0, atol=1e-12)


# Summary


def result(run):
    return summary(run, compare(run), price(run))


def test_the_summary_keeps_its_contract():
    found = result(on())
    for key, kind in CONTRACT.items():
        assert type(found[key]) is kind, key
    energy = found["energy_j_per_token"]
    assert {"p10", "p50", "p90", "core", "converters", "system"} <= set(energy)
    assert 0 < energy["core"] <= energy["converters"] <= energy["system"]
    assert energy["p10"] <= energy["p50"] == energy["system"] <= energy["p90"]
    assert len(found["ci95"]) == 2
    assert found["n_tokens"] == int(some(40).lengths.sum())
    assert (found["chips"], found["repeats"]) == (2, 2)
    assert 0 <= found["digital"] <= 1
    assert found == json.loads(json.dumps(found, allow_nan=False))


def test_what_has_no_value_is_null_and_says_why():
    found = result(on(rung="ideal", chips=1))
    assert found["ci95"] is None
    assert set(found["energy_j_per_token"].values()) == {None}
    assert found["latency_s_per_token"] is None
    assert found["rivals_j_per_token"] == {}
    assert "one chip gives no interval over chips" in found["warnings"]
    assert any("no energy or latency" in text for text in found["warnings"])
    json.dumps(found, allow_nan=False)


def test_counts_of_what_was_lost_are_those_of_the_tally():
    run = on()
    found = result(run)
    tallies = run.tallies
    for key, name in (
        ("oscillators", "oscillators"),
        ("undriven", "undriven"),
        ("unsettled", "unsettled"),
        ("unlocked", "unlocked"),
        ("strongly_driven", "strongly_driven"),
        ("couplings", "couplings"),
        ("couplings_clipped", "clipped"),
        ("couplings_zeroed", "zeroed"),
        ("readout_clipped", "adc_clipped"),
    ):
        assert found[key] == sum(getattr(tally, name) for tally in tallies)
    assert found["oscillators"] == 4 * found["n_tokens"]


def test_scaling_and_clipping_are_told_for_every_layer():
    model = random_model(2, task="sva", vocab_size=169, max_len=9)
    found = result(infer(model, some(40), device=RING, chips=2, repeats=1))
    assert len(found["layers"]) == 2
    for name in ("couplings", "clipped", "zeroed"):
        key = name if name == "couplings" else f"couplings_{name}"
        assert sum(layer[name] for layer in found["layers"]) == found[key]
        assert all(type(layer[name]) is int for layer in found["layers"])
    for layer in found["layers"]:
        assert len(layer["full_scale"]) == 2
        assert min(layer["full_scale"]) > 0
    heads = calibrate(model, in_float64(model.weights), some(40).ids).layers[1]
    assert found["layers"][1]["full_scale"] == list(heads.full_scale)
    assert result(on(IDEAL))["layers"] == []
    assert result(on(rung="digital"))["layers"] == []


def test_rivals_stand_beside_the_substrate():
    run = on()
    rivals = result(run)["rivals_j_per_token"]
    cost = price(run)
    for name, numbers in rivals.items():
        assert numbers["p50"] == cost.rivals[name].per_token_j()
        assert numbers["substrate_over_rival_p50"] == cost.ratios()[name].p50
    assert set(rivals) == {SOFTMAX, DIRECT}
    assert f"rival left out: {cost.left_out}" in result(run)["warnings"]
    same = infer(short_anchors(), some(40), device=RING, chips=2, repeats=1)
    assert set(result(same)["rivals_j_per_token"]) == {SOFTMAX, DIRECT, FACTORED}
    assert not any("rival" in text for text in result(same)["warnings"])


def test_differences_and_their_errors_are_those_of_the_comparison():
    run = on()
    found, said = result(run), compare(run)
    assert found["difference"] == said.difference
    assert found["difference_standard_error"] == said.difference_error
    assert found["difference_all"] == said.difference_all
    assert found["difference_all_standard_error"] == said.difference_all_error
    assert found["n_items_all"] == 40 > found["n_items"] > 1
    assert found["ci95_all"] == list(said.ci95_all)


def test_one_sentence_has_an_error_of_null():
    found = result(infer(bundled(), some(1), device=RING, chips=2, repeats=2))
    assert found["difference_all_standard_error"] is None
    json.dumps(found, allow_nan=False)


def test_what_was_changed_is_told_and_warned_of():
    plain, changed = result(on()), result(on(RING.changed(weight_bits=3)))
    assert plain["changes"] == {}
    assert changed["changes"] == {"weight_bits": "5 -> 3"}
    warning = (
        "weight_bits changed: prices and the other numbers of ring-65nm are kept "
        "as they are"
    )
    assert warning in changed["warnings"]
    assert not any("changed" in text for text in plain["warnings"])


def test_the_angle_when_read_is_told_where_oscillators_settle():
    """A settled detuned oscillator is off by asin(dw / |h|), an ideal one by 0."""
    ring = result(on())["read_error_rad"]
    assert 0.01 < ring["p50"] < ring["p90"] < 1.6
    ideal = result(on(rung="ideal"))["read_error_rad"]
    assert ideal == {"p50": 0.0, "p90": 0.0}
    assert result(on(rung="digital"))["read_error_rad"] == {"p50": None, "p90": None}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"rung": "digital"}, "nothing settles at rung digital"),
        ({"rung": "ideal"}, "at rung ideal of this device settling takes no finite"),
        ({"device": RING.changed(energy=None)}, "device ring-65nm has no prices"),
        (
            {"device": IDEAL, "perturbation": Perturbation("state", 0.1)},
            "a published perturbation is not hardware",
        ),
    ],
)
def test_why_there_is_no_energy_is_told(how, expected):
    run = on(**{"device": RING, "chips": 1, "repeats": 1} | how)
    [told] = [text for text in warnings_of(run, price(run)) if "no energy" in text]
    assert told.startswith(expected)


def test_warnings_come_from_the_checkpoint_the_run_and_the_price():
    run = on(chips=1)
    cut_short = dataclasses.replace(run, chips_asked=7, warnings=("from afar",))
    found = warnings_of(cut_short, price(run))
    assert found[0] == "from afar"
    assert "interrupted after 1 of 7 chips" in found
    ledger = price(run).substrate
    assert {*ledger.notes, ledger.banner} <= {*found, ""}
    assumed = on(Device.load("lc-board"), chips=1)
    assert price(assumed).substrate.banner in warnings_of(assumed, price(assumed))
    perturbed = on(IDEAL, perturbation=Perturbation("state", 0.1))
    assert result(perturbed)["perturbation"] == "state=0.1"
