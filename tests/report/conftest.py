"""One small run on a device, with everything that a report says about it."""

from pathlib import Path

import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import price
from oscsim.bridge.datasets import parse_sva
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest
from oscsim.bridge.maps import attention_maps, telling_item
from oscsim.bridge.scope import modelled
from oscsim.report.page import Report
from oscsim.substrate.device import Device

DATA = Path(__file__).parents[2] / "data"


def sentences(config, n):
    lines = (DATA / "datasets" / "sva" / "validation.jsonl").read_bytes().splitlines()
    return parse_sva(b"\n".join(lines[:n]), config, source="validation.jsonl")


@pytest.fixture(scope="session")
def checkpoint():
    return load_checkpoint(DATA / "checkpoints" / "sva-osc-d2-s0")


@pytest.fixture(scope="session")
def run(checkpoint):
    data = sentences(checkpoint.config, 192)
    return infer(checkpoint, data, device=Device.load("ring-65nm"), chips=3, repeats=2)


@pytest.fixture(scope="session")
def report(run):
    on, off = modelled(run.setting)
    return Report(
        run=run,
        comparison=compare(run),
        cost=price(run),
        maps=attention_maps(run, telling_item(run)),
        modelled=on,
        not_modelled=off,
        remarks=("a remark that must be seen",),
        manifest=Manifest.of(run),
    )
