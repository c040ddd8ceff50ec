"""Every shipped checkpoint has an estimate whose numbers belong together."""

import json
import math
from pathlib import Path

import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
from oscsim.bridge.judge import estimate_json
from oscsim.energy.ledger import TOTALS
from oscsim.substrate.device import Device, default_device

CHECKPOINTS = Path(__file__).parents[2] / "data" / "checkpoints"
NAMES = sorted(path.parent.name for path in CHECKPOINTS.glob("*/config.json"))


def test_there_are_checkpoints_of_every_family():
    assert {name.split("-")[0] for name in NAMES} == {
        "bytes",
        "digits",
        "kuramoto",
        "sva",
        "transformer",
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_estimate_adds_up(name):
    model = load_checkpoint(CHECKPOINTS / name)
    found = estimate_checkpoint(model, Device.load(default_device(model.d_osc)))
    assert len(found.rivals) >= 6
    assert (found.device is None) == ("softmax" in name or "transformer" in name)
    text = json.dumps(estimate_json(found), allow_nan=False)
    numbers = json.loads(text)
    assert json.dumps(numbers) == text
    assert numbers["title"] == name
    scenarios = zip(found.scenarios, numbers["scenarios"], strict=True)
    for scenario, written in scenarios:
        ledger = scenario.ledger
        core, converted, system = (
            written["j_per_token"][total]["nominal"]
            for total in ("core", "converters", "system")
        )
        assert 0 <= core <= converted <= system
        assert (ledger.draws["core"] <= ledger.draws["converters"]).all()
        assert (ledger.draws["converters"] <= ledger.draws["system"]).all()
        for parts in (ledger.joules, ledger.by_component):
            assert math.fsum(parts.values()) == pytest.approx(system, rel=1e-12)
        of_phases = math.fsum(
            j
            for phase in written["by_phase_and_action_j"].values()
            for j in phase.values()
        )
        assert of_phases == pytest.approx(system, rel=1e-12)
    assert set(TOTALS) == {"core", "converters", "system"}
    has_core = found.subjects[0].ledger.nominal_j("core") > 0
    assert has_core == (found.device is not None)
