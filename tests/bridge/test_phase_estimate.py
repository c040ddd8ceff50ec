"""Kuramoto attention is priced at what a run of one chip on the same text counts."""

import json
import math
from pathlib import Path

import pytest

from oscsim.bridge.array import dwelling
from oscsim.bridge.array_json import array_json
from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.cost import price
from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
from oscsim.bridge.infer import infer
from oscsim.bridge.judge import estimate_json
from oscsim.bridge.phase_times import phase_times
from oscsim.bridge.phases import DIGITAL_PARTS
from oscsim.bridge.text_data import read_bytes
from oscsim.errors import ComponentError, DeviceError, SpecError
from oscsim.models.phase_counting import digital_kuramoto, transformer
from oscsim.report.decoding_table import decoding_rows
from oscsim.substrate.device import Device
from tests.bridge.language import CONTEXT, language_model, prose

DATA = Path(__file__).parents[2] / "data"
RING = Device.load("ring-65nm")
READS = ("sram_read_byte", "weight_read_byte")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return prose(tmp_path_factory.mktemp("text") / "prose.txt")


def estimated(file, *, update="map", device=RING, **options):
    model = language_model("kuramoto", update=update)
    return estimate_checkpoint(model, device, data=file, **options)


def ran(file, *, update="map", device=RING, **options):
    model = language_model("kuramoto", update=update)
    text = read_bytes(file, CONTEXT)
    return infer(model, text, device=device, chips=1, repeats=1, **options)


@pytest.mark.parametrize("update", ["map", "flow"])
@pytest.mark.parametrize("slots", ["all", 1])
def test_counts_and_joules_are_those_of_a_run(file, update, slots):
    device = RING.changed(query_slots=slots)
    found = estimated(file, update=update, device=device, seed=3)
    run = ran(file, update=update, device=device, seed=3)
    assert found.subjects[0].case.counts == run.counts
    cost = price(run)
    nominal = found.subjects[0].ledger.nominal_j()
    assert nominal == pytest.approx(cost.substrate.nominal_j(), rel=1e-12)
    assert found.latency_s == cost.latency_s
    names = {one.name: one for one in found.rivals}
    for name, other in zip(
        ("same model, digital", "transformer, digital"),
        cost.rivals.values(),
        strict=True,
    ):
        mine = names[name].ledger.nominal_j()
        assert mine == pytest.approx(other.nominal_j(), rel=1e-12)
    other = estimated(file, update=update, device=device, seed=4)
    assert other.subjects[0].case.counts != run.counts, "another chip dwells otherwise"


def test_reuse_moves_the_reads_of_the_digital_part_alone(file):
    once, often = (estimated(file, reuse=r) for r in (1.0, 16.0))
    mine, again = (one.subjects[0].case.counts for one in (once, often))
    assert mine.tokens == again.tokens
    for (phase, action), number in mine.actions.items():
        reused = action in READS and (phase, action) != ("memory", "weight_read_byte")
        share = 16 if reused else 1
        assert again.actions[phase, action] == number / share, (phase, action)
    assert again == once.others[0].case.counts
    assert mine == often.others[0].case.counts
    config, n = once.shape.config, once.shape.windows
    for found, reuse in ((once, 1.0), (often, 16.0)):
        same = next(r for r in found.rivals if r.name == "same model, digital")
        assert same.case.counts == digital_kuramoto(config, n, CONTEXT, reuse=reuse)
        assert {one.reuse for one in found.rivals} == {reuse}
    assert [one.reuse for one in often.others] == [1.0, 1.0]


def test_who_is_compared_and_what_is_said(file):
    found = estimated(file)
    assert [one.name for one in found.rivals] == [
        "transformer, digital",
        "transformer, table exponential",
        "transformer, 4 bits, table exponential",
        "linear attention",
        "softmax on in-memory compute",
        "analog softmax on in-memory compute",
        "transformer on a GPU",
        "same model, digital",
        "same model, digital, table exponential",
        "same model, digital, 4 bits, table exponential",
    ]
    assert [b.name for _, b in found.pairs] == [
        "transformer, digital",
        "same model, digital",
    ]
    names = {one.name: one.ledger.nominal_j() for one in found.rivals}
    for base in ("transformer", "same model, digital"):
        full = names.get(base) or names[f"{base}, digital"]
        assert names[f"{base}, 4 bits, table exponential"] < full
        assert names[f"{base}, table exponential"] < full
    said = " ".join(found.notes)
    assert DIGITAL_PARTS in said
    assert "does not work: 8.8 bits per byte" in said
    assert "dwells of one chip (seed 0)" in said
    assert "linear attention is the transformer's" in said
    flow = " ".join(estimated(file, update="flow").notes)
    assert "8.8" not in flow
    assert "trained as the dwell" in flow


def test_the_twin_of_the_shipped_model_is_the_shipped_transformer(tmp_path):
    model, twin = (
        load_checkpoint(DATA / "checkpoints" / name)
        for name in ("kuramoto-260k", "transformer-260k")
    )
    found = estimate_checkpoint(model, RING, data=prose(tmp_path / "few", 129))
    assert found.rivals[0].case.counts == transformer(twin.config, 1, 128)
    assert "262,528 parameters" in found.rivals[0].remark


@pytest.mark.parametrize(
    "name", sorted(p.stem for p in (DATA / "devices").glob("*.toml"))
)
def test_a_preset_is_priced_or_refused_as_a_run_on_it_is(file, name):
    device = Device.load(name)
    if name == "sphere-generic":
        said = r"read component by component: Kuramoto attention needs phases"
        for refused in (ran, estimated):
            with pytest.raises(DeviceError, match=said):
                refused(file, device=device)
        return
    run = ran(file, device=device)
    if price(run) is None:
        with pytest.raises(ComponentError, match=r"ideal has no energy section"):
            estimated(file, device=device)
        return
    assert estimated(file, device=device).subjects[0].case.counts == run.counts


def test_a_window_and_a_token_take_the_time_of_the_closed_form(file):
    """In turn, a window takes as long as its tokens decoded one after the other."""
    run = ran(file, rung="ideal")
    together = phase_times(run)
    in_turn = phase_times(ran(file, rung="ideal", device=RING.changed(query_slots=1)))
    for one in (together, in_turn):
        assert one.decoding.seconds["load"] == 2 * RING.write_time
        assert one.decoding.seconds["read"] == 2 * RING.read_time
        assert one.prefill.seconds["load"] == pytest.approx(
            2 * CONTEXT * RING.write_time
        )
        total = math.fsum(one.prefill.seconds.values())
        assert one.prefill.tokens_per_s == pytest.approx(CONTEXT / total)
    token = together.decoding.latency_s
    assert in_turn.decoding.latency_s == pytest.approx(token, rel=1e-12)
    assert in_turn.prefill.latency_s == pytest.approx(CONTEXT * token, rel=1e-12)
    assert together.prefill.latency_s < in_turn.prefill.latency_s
    (tally,) = run.tallies
    longest = tally.longest / run.counts.tokens
    assert together.decoding.seconds["dwell"] == pytest.approx(longest)
    mean = 2 * tally.dwell / tally.oscillators
    assert mean < longest < 8 * mean


def test_numbers_as_json(file):
    found = estimated(file)
    array = dwelling(RING, found.windows, found.library)
    assert not any("settling" in limit.name for limit in array.limits)
    data = json.loads(
        json.dumps(estimate_json(found) | array_json(array), allow_nan=False)
    )
    assert data["shape"]["family"] == "kuramoto"
    assert data["shape"]["coupling"] is None
    prefill, decode = data["sweeps"]
    assert (prefill["sweep"], decode["sweep"]) == ("prefill", "decode")
    latency = data["latency_s_per_token"]
    assert prefill["latency_s"] == pytest.approx(CONTEXT * latency)
    assert prefill["tokens_per_s"] == pytest.approx(1 / latency)
    assert any("not timed" in note for note in decode["notes"])


def test_what_is_refused(file):
    with pytest.raises(SpecError, match=r"has oscillators: give a device, got None"):
        estimated(file, device=None)
    with pytest.raises(SpecError, match=r"reuse must be >= 1 .*got 0.5"):
        estimated(file, reuse=0.5)
    with pytest.raises(ComponentError, match=r"for 28 nm.*one of 7, 45"):
        estimated(file, node_nm=28)
    timeless = RING.model_copy(update={"time_unit": "model"})
    with pytest.raises(SpecError, match=r"ring-65nm is in model units"):
        estimated(file, device=timeless)
    with pytest.raises(DeviceError, match=r"tiles cannot act"):
        estimated(file, device=RING.changed(tiles=2))


def test_decoding_runs_the_copies_for_each_token_alone(file):
    found = estimated(file)
    mean, full = found.steps
    assert (mean.context, full.context) == ((CONTEXT + 1) / 2, CONTEXT)
    prefill, in_turn = (
        ran(file, device=RING.changed(query_slots=slots)).counts for slots in ("all", 1)
    )
    mine = mean.subject.case.counts
    # one oscillator in turn is another draw of mismatch: its dwells differ a little
    assert dict(mine.actions) == pytest.approx(dict(in_turn.actions), rel=0.01)
    assert mine.total("anchor_s") > 2 * prefill.total("anchor_s")
    windows, model = found.shape.windows, found.shape.config
    same = digital_kuramoto(model, windows, CONTEXT)
    assert mean.against[1].rival.case.counts == same
    assert [one.rival.name for one in mean.against] == [
        "transformer, digital",
        "same model, digital",
    ]
    said = estimate_json(found)["decoding"]
    assert [one["context"] for one in said] == [mean.context, full.context]
    assert decoding_rows(found.steps)[0][0].endswith("/ transformer")


def test_the_last_token_costs_its_own_dwell_and_all_the_pairs_it_sees(file):
    device = RING.changed(settle_time=1e-12)
    found = estimated(file, device=device)
    windows, model = found.shape.windows, found.shape.config
    rows, on = windows * model.n_layers * model.n_osc, 1e-12 + device.read_time
    for step, tokens, seen in (
        (found.steps[0], CONTEXT, CONTEXT * (CONTEXT + 1) / 2),
        (found.steps[1], 1, CONTEXT),
    ):
        counts = step.subject.case.counts
        assert counts.tokens == windows * tokens
        for action, expected in {
            "oscillator_s": rows * tokens * on,
            "coupler_s": rows * seen * on,
            "anchor_s": rows * seen * 1e-12,
            "coupling_write": rows * (seen + tokens),
            "state_read": 2 * rows * tokens,
        }.items():
            assert counts.total(action) == pytest.approx(expected, rel=1e-9), action
        softmax, same = (one.rival.case.counts for one in step.against)
        assert softmax.tokens == same.tokens == windows * tokens
        heads = windows * model.n_layers * model.n_heads
        assert same.actions["weights", "exp"] == heads * seen
