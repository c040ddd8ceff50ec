"""Which cells of a sweep have a price, and what is said of the others."""

import json

import numpy as np
import pytest

from oscsim.design.baselines import SAME
from oscsim.design.latency import Latencies
from oscsim.design.pareto import pareto, unpriced_reasons
from oscsim.design.rule import fit_rule
from oscsim.design.rule_json import rule_json
from oscsim.design.run import sweep
from oscsim.design.store_file import open_store
from oscsim.design.table import read_table
from oscsim.design.unpriced import (
    NO_MAP,
    NO_TIME,
    NOT_KEPT,
    OWN,
    StoredReasons,
    reasons,
    why_no_price,
)
from oscsim.design.work import Task, work
from tests.design.specs import DATA, small

BYTES = {
    "data": None,
    "checkpoints": [str(DATA / "checkpoints" / "bytes-osc-d2-p4")],
    "windows": 2,
    "device": "ring-65nm",
}


def done(ready, number):
    return work(ready.subjects, Task(ready.cells[number], 0, 1))


def test_a_device_of_layers_that_are_alike_is_priced_as_the_whole_device(tmp_path):
    """The same cell, by its digest: nothing digital, or every layer of its own."""
    plain = small(tmp_path, **BYTES, axes={"weight_bits": [5]})
    none = small(tmp_path, **BYTES, axes={"digital": ["none", "layer0"]})
    (subject,) = none.subjects.values()
    layers = range(subject.checkpoint.config.n_layers)
    own = small(
        tmp_path,
        **BYTES,
        axes={f"layer{n}.weight_bits": [5] for n in layers},
    )
    assert none.cells[0].digest == plain.cells[0].digest == own.cells[0].digest
    three = small(
        tmp_path,
        **BYTES,
        axes={f"layer{n}.weight_bits": [3] for n in layers},
    )
    changed = small(tmp_path, **BYTES, axes={"weight_bits": [3]})
    assert three.cells[0].digest == changed.cells[0].digest
    assert three.cells[0].digest != plain.cells[0].digest


def test_digital_layers_cost_what_digital_layers_cost(tmp_path):
    """From all on the substrate to none, whose joules are those of the baseline."""
    ready = small(tmp_path, **BYTES, axes={"digital": ["none"]})
    (subject,) = ready.subjects.values()
    n_layers = subject.checkpoint.config.n_layers
    every = ["+".join(f"layer{n}" for n in range(k)) for k in range(1, n_layers + 1)]
    ready = small(tmp_path, **BYTES, axes={"digital": ["none", *every]})
    joules = np.array([done(ready, k).joules for k in range(len(ready.cells))])
    path = tmp_path / "layers.sqlite"
    sweep(ready, path, workers=1)
    with open_store(path) as store:
        table = read_table(store)
    (content,) = table.subjects.values()
    assert joules[-1] == pytest.approx(content["baselines"][SAME], rel=1e-12)
    steps = np.diff(joules[:, 1])
    assert (np.abs(steps) > 1e-3 * joules[0, 1]).all(), "a layer costs something"
    latencies = Latencies(ready.subjects)
    seconds = [latencies.of(cell) for cell in ready.cells]
    whole = seconds[0]
    assert seconds == pytest.approx(
        [whole * (1 - k / n_layers) for k in range(n_layers + 1)], rel=1e-12
    )
    assert unpriced_reasons(table) == {}
    assert all(cell.joules is not None for cell in table.cells)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"device": "ring-65nm", "axes": {"adc_bits": [8]}}, ""),
        ({"device": "ring-65nm", "axes": {"digital": ["layer0"]}}, ""),
        ({**BYTES, "axes": {"digital": ["layer0.head0"]}}, OWN),
        (
            {
                **BYTES,
                "axes": {"digital": ["+".join(f"layer0.head{n}" for n in range(4))]},
            },
            "",
        ),
        ({**BYTES, "axes": {"layer0.adc_bits": [6]}}, OWN),
        (
            {"device": "ring-65nm", "axes": {"adc_bits": [12]}},
            "adc_bits is above 8, the most that a law of its price covers",
        ),
        (
            {"device": "ring-65nm", "axes": {"adc_bits": [12], "weight_bits": [12]}},
            " and ".join(
                f"{field} is above 8, the most that a law of its price covers"
                for field in ("adc_bits", "weight_bits")
            ),
        ),
        ({"device": "ideal", "rung": "noisy", "axes": {"diffusion": [0.1]}}, NO_MAP),
        (
            {"device": "ring-65nm", "rung": "ideal", "axes": {"digital": ["none"]}},
            NO_TIME,
        ),
    ],
)
def test_a_cell_says_why_it_has_no_price_before_and_after_it_is_run(
    changed, why, tmp_path
):
    ready = small(tmp_path, chips=1, **changed)
    (cell,) = ready.cells
    assert why_no_price(cell) == why
    assert reasons(ready.cells) == ({why: 1} if why else {})
    path = tmp_path / "one.sqlite"
    sweep(ready, path, workers=1)
    with open_store(path) as store:
        table = read_table(store)
        (content,) = table.subjects.values()
        kept = StoredReasons(store.device, ready.spec.rung)
        said = kept.of(cell.digest, cell.point, content["config"])
    assert said == (why or NOT_KEPT)
    (found,) = table.cells
    assert (found.joules is None) == bool(why)
    assert found.why_unpriced == why
    shown = rule_json(fit_rule(table), (), (), pareto(table))
    assert shown["unpriced_reasons"] == ({why: 1} if why else {})
    json.dumps(shown, allow_nan=False)


def test_couplings_without_bits_have_no_price_of_bits(tmp_path):
    """Continuous couplings would cost as much as those of the preset's 5 bits."""
    ready = small(tmp_path, axes={"weight_bits": ["none", 5]}, device="ring-65nm")
    free, own = ready.cells
    assert why_no_price(free) == "weight_bits is none, and its price is one of bits"
    assert why_no_price(own) == ""
    path = tmp_path / "none.sqlite"
    sweep(ready, path, workers=1)
    with open_store(path) as store:
        cells = read_table(store).cells
    assert [cell.joules is None for cell in cells] == [True, False]
