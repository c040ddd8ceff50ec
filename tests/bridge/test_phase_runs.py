"""Kuramoto attention from a folder to a report: infer, rerun, generate, price."""

import json

import numpy as np
import pytest

import oscsim as osc
from oscsim import cli
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import price
from oscsim.bridge.generate import generate
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest, rerun
from oscsim.bridge.phase_cost import DIGITAL_MAP, transformer_twin
from oscsim.bridge.phases import DIGITAL_PARTS, TURNS_LOST
from oscsim.bridge.summary import summary
from oscsim.bridge.text_data import read_bytes
from oscsim.errors import DataError, DeviceError, SpecError
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    kuramoto_shapes,
    transformer_shapes,
)
from oscsim.models.phase_counting import digital_kuramoto
from oscsim.substrate.device import RUNGS, Device
from oscsim.substrate.perturb import Perturbation
from tests.bridge.language import CONTEXT, language_model, prose, written


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return read_bytes(prose(tmp_path_factory.mktemp("text") / "prose.txt"), CONTEXT)


def run(text, *, model=None, chips=2, repeats=2, **options):
    model = language_model("kuramoto") if model is None else model
    return infer(model, text, chips=chips, repeats=repeats, **options)


def test_ideal_is_digital_and_every_rung_adds_something(text):
    found = {rung: run(text, rung=rung) for rung in RUNGS}
    assert compare(found["ideal"]).max_abs_error < 1e-10
    digital = found["digital"]
    assert digital.bits.shape[:2] == (1, 1)
    np.testing.assert_array_equal(digital.bits[0, 0], digital.digital)
    assert np.abs(found["device"].bits - digital.bits).max() > 1e-3
    flowed = run(text, rung="ideal", update="flow")
    assert compare(flowed).max_abs_error > 1e-3
    assert DIGITAL_PARTS in found["device"].warnings
    assert DIGITAL_PARTS not in digital.warnings


def test_a_model_trained_as_a_flow_flows_and_loses_nothing_by_it(text):
    model = language_model("kuramoto", update="flow")
    ideal = run(text, model=model, rung="ideal")
    assert ideal.setting.update == "flow"
    assert compare(ideal).max_abs_error < 1e-10
    assert run(text, model=model, rung="digital").setting.update == "map"
    assert run(text).setting.update == "map"
    assert compare(run(text, model=model, rung="ideal", update="map")).max_abs_error < (
        1e-10
    )
    mapped = compare(run(text, rung="digital")).digital
    assert mapped != compare(ideal).digital
    rivals = price(run(text, model=model, device="ring-65nm")).rivals
    assert (
        rivals[DIGITAL_MAP].nominal_j()
        > price(run(text)).rivals[DIGITAL_MAP].nominal_j()
    )


@pytest.mark.parametrize("update", ["map", "flow"])
def test_threads_and_a_second_run_give_the_same_bits(text, update, tmp_path):
    one, two = (run(text, update=update, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.bits, two.bits)
    assert len(set(one.bits.mean(axis=(2, 3)).ravel())) == 4


def test_a_record_repeats_the_flow_bit_for_bit(tmp_path):
    model = osc.load_checkpoint(written(tmp_path / "model", "kuramoto"))
    data = prose(tmp_path / "prose.txt")
    asked = {"chips": 2, "repeats": 1, "update": "flow", "windows": 3, "context": 7}
    first = infer(model, data, ranging="row", **asked)
    assert np.any(first.bits != infer(model, data, **asked).bits)
    manifest = Manifest.of(first)
    assert (manifest.update, manifest.ranging) == ("flow", "row")
    assert (manifest.windows, manifest.context) == (3, 7)
    manifest.save(tmp_path / "run.toml")
    again = rerun(Manifest.load(tmp_path / "run.toml"))
    np.testing.assert_array_equal(first.bits, again.bits)


def test_dwells_are_priced_beside_the_digital_map_and_a_transformer(text):
    found = run(text)
    cost = price(found)
    config = found.checkpoint.config
    n = len(text)
    assert found.digital_counts == digital_kuramoto(config, n, CONTEXT)
    assert set(cost.rivals) > {DIGITAL_MAP}
    assert any(name.startswith("transformer, ") for name in cost.rivals)
    assert cost.substrate.per_token_j("core") > 0
    busy = sum(tally.busy for tally in found.tallies) / found.counts.tokens
    assert cost.latency_s == busy > 0
    assert found.counts.tokens == 4 * n * CONTEXT
    assert price(run(text, rung="digital")) is None
    assert price(run(text, device="ideal")) is None


def test_the_twin_has_nearly_as_many_parameters():
    config = KuramotoConfig(vocab_size=256, n_osc=64, n_layers=4, d_ff=171, max_len=128)
    twin = transformer_twin(config)
    assert (twin.n_layers, twin.d_model, twin.n_heads, twin.d_ff) == (5, 64, 4, 154)
    sizes = [
        sum(int(np.prod(shape)) for shape in shapes.values())
        for shapes in (kuramoto_shapes(config), transformer_shapes(twin))
    ]
    assert abs(sizes[1] / sizes[0] - 1) < 0.003
    odd = transformer_twin(config.model_copy(update={"n_osc": 7, "n_layers": 1}))
    assert (odd.d_model, odd.n_heads) == (6, 1)


def test_a_summary_says_what_the_dwells_did(text):
    found = run(
        text, update="flow", device=Device.load("ring-65nm").changed(settle_time=1e-8)
    )
    comparison, cost = compare(found), price(found)
    said = json.loads(json.dumps(summary(found, comparison, cost)))
    assert said["update"] == "flow"
    assert 0 < said["dwells_cut"] < said["oscillators"]
    for number, layer in enumerate(said["layers"]):
        assert layer["gap_to_map_rms_rad"] == comparison.tally.rms(number, "gap") > 0
        assert layer["map_update_rms_rad"] > 0


def test_lost_turns_are_reported_with_their_cost(text):
    model = language_model("kuramoto", phase_convention="unwrapped")
    lost = run(text, model=model, rung="ideal")
    said = [w for w in lost.warnings if "without a winding counter" in w]
    assert len(said) == 1
    bits = compare(lost)
    assert (
        f"{bits.substrate:.3f} bits per token instead of {bits.digital:.3f}"
        in (said[0])
    )
    counting = Device.load("ring-65nm").changed(winding_counter=True)
    kept = run(text, model=model, rung="ideal", device=counting)
    assert compare(kept).max_abs_error < 1e-10
    assert not [w for w in kept.warnings if "without a winding counter" in w]


def test_a_chip_writes_text():
    model = language_model("kuramoto")
    ideal = generate(model, "the cat", rung="ideal", n_bytes=8)
    assert ideal.chip == ideal.digital
    on_chip = generate(model, "the cat", n_bytes=8, device="ring-65nm")
    assert len(on_chip.chip) == 8
    assert DIGITAL_PARTS in on_chip.warnings
    assert TURNS_LOST not in on_chip.warnings
    unwrapped = language_model("kuramoto", phase_convention="unwrapped")
    assert TURNS_LOST in generate(unwrapped, "the cat", n_bytes=1).warnings


def test_the_command_line_runs_and_reports_a_flow(tmp_path, capsys):
    model = str(written(tmp_path / "model", "kuramoto"))
    data = ["--data", str(prose(tmp_path / "prose.txt")), "--windows", "2"]
    fast = ["--chips", "1", "--repeats", "1"]
    out = ["--update", "flow", "--out", str(tmp_path / "out")]
    assert cli.run(["infer", model, *data, *fast, *out]) == 0
    assert "layer 1: update less the map" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "dwells cut short by the settling time" in page
    assert "layer 1: update less the map" in page
    assert "gates, scores, softmax" in page
    assert cli.run(["ladder", model, *data, *fast]) == 0


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (
            {"model": "oscillator", "update": "flow"},
            SpecError,
            "an update as flow is what Kuramoto attention does on a chip",
        ),
        ({"update": "flow", "rung": "digital"}, SpecError, "at rung digital"),
        ({"update": "jump"}, SpecError, "unknown update 'jump': one of map, flow"),
        ({"device": "sphere-generic"}, DeviceError, "needs phases"),
        (
            {"model": "kuramoto", "changes": {"value": "linear"}},
            SpecError,
            "no coupling of oscillators does",
        ),
        (
            {
                "perturbation": Perturbation("state", 0.1),
                "device": "ideal",
                "rung": "ideal",
            },
            SpecError,
            "published perturbations are of fixed-query attention",
        ),
        (
            {"device": Device.load("ring-65nm").changed(winding_counter=True)},
            DeviceError,
            "winding_counter cannot act: the model was trained",
        ),
        (
            {
                "model": "oscillator",
                "device": Device.load("sphere-generic").changed(winding_counter=True),
            },
            DeviceError,
            "only Kuramoto attention carries phases",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(text, options, error, said):
    options = dict(options)
    kind = options.pop("model", "kuramoto")
    model = language_model(kind, **options.pop("changes", {}))
    with pytest.raises(error, match=said):
        run(text, model=model, **options)


def test_a_window_longer_than_the_chip_is_refused(tmp_path):
    longer = read_bytes(prose(tmp_path / "prose.txt"), CONTEXT + 1)
    assert run(longer, rung="digital").bits.size
    with pytest.raises(DataError, match=r"longer than the 12 rows of oscillators"):
        run(longer)
