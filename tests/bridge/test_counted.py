"""What was counted, and what a run cannot count: no number, not zero."""

import dataclasses

import pytest

from oscsim.bridge.counted import counted
from oscsim.bridge.infer import infer
from oscsim.substrate.device import Device
from oscsim.substrate.tally import SettleTally
from tests.bridge.runs import bundled, random_model, some

UNDRIVEN = "oscillators without any drive"
UNSETTLED = "drive too weak for 0.01 rad within the settling time"
UNLOCKED = "detuned beyond the drive (out of lock)"
STRONG = "driven beyond weak coupling, outside the phase model"
CLIPPED = "couplings clipped to full scale"
LOST = "couplings lost below half a step"
READ = "read-outs clipped"
ROWS = (UNDRIVEN, UNSETTLED, UNLOCKED, STRONG, CLIPPED, LOST, READ)

RING = Device.load("ring-65nm")
SPHERE = Device.load("sphere-generic")
IDEAL = Device.load("ideal")
TALLY = SettleTally(
    couplings=100,
    clipped=11,
    zeroed=12,
    oscillators=50,
    undriven=1,
    unsettled=2,
    unlocked=3,
    strongly_driven=4,
    reads=60,
    adc_clipped=5,
)


def rows(device, rung="device", d_osc=2):
    model = bundled() if d_osc == 2 else random_model(d_osc, **SVA)
    run = infer(model, some(1), device=device, rung=rung, chips=1, repeats=1)
    return counted(run, TALLY)


SVA = {"task": "sva", "vocab_size": 169, "max_len": 9}


@pytest.mark.parametrize(
    ("device", "rung", "d_osc", "checked"),
    [
        (RING, "device", 2, {UNDRIVEN, UNSETTLED, UNLOCKED, STRONG, CLIPPED, LOST}),
        (RING, "noisy", 2, {UNDRIVEN, UNSETTLED, STRONG}),
        (RING, "finite", 2, {UNDRIVEN, UNSETTLED, STRONG}),
        (RING, "ideal", 2, {UNDRIVEN, STRONG}),
        (IDEAL, "device", 2, {UNDRIVEN}),
        (IDEAL.changed(settle_time=3.0), "device", 2, {UNDRIVEN, UNSETTLED}),
        (IDEAL.changed(adc_bits=4), "device", 2, {UNDRIVEN}),
        (IDEAL.changed(adc_bits=4), "device", 3, {UNDRIVEN, READ}),
        (IDEAL.changed(frequency_offset=0.1), "device", 2, {UNDRIVEN, UNLOCKED}),
        (IDEAL.changed(frequency_offset=0.1), "device", 3, {UNDRIVEN}),
        (
            RING.changed(weight_bits=None, settle_time=float("inf")),
            "device",
            2,
            {UNDRIVEN, UNLOCKED, STRONG, CLIPPED},
        ),
        (
            RING.changed(frequency_mismatch=0.0),
            "device",
            2,
            {UNDRIVEN, UNSETTLED, STRONG, CLIPPED, LOST},
        ),
        (SPHERE, "device", 3, {UNDRIVEN, UNSETTLED, CLIPPED, LOST, READ}),
        (SPHERE, "device", 2, {UNDRIVEN, UNSETTLED, UNLOCKED, CLIPPED, LOST, READ}),
    ],
)
def test_what_does_not_act_has_no_number(device, rung, d_osc, checked):
    found = rows(device, rung, d_osc)
    assert tuple(row.what for row in found) == ROWS
    assert {row.what for row in found if row.number is not None} == checked


def test_numbers_and_totals_are_those_of_the_tally():
    found = {row.what: (row.number, row.total) for row in rows(RING)}
    assert found == {
        UNDRIVEN: (1, 50),
        UNSETTLED: (2, 50),
        UNLOCKED: (3, 50),
        STRONG: (4, 50),
        CLIPPED: (11, 100),
        LOST: (12, 100),
        READ: (None, 60),
    }
    several = rows(IDEAL.changed(adc_bits=4), d_osc=3)
    assert several[-1] == (READ, 5, 60)


def test_what_was_checked_and_did_not_happen_is_zero():
    run = infer(bundled(), some(1), device=RING, chips=1, repeats=1)
    nothing = dataclasses.replace(TALLY, unlocked=0, zeroed=0)
    numbers = {row.what: row.number for row in counted(run, nothing)}
    assert numbers[UNLOCKED] == numbers[LOST] == 0
