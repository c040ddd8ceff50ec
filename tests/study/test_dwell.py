"""Map and flow in one table, from a random model on short text."""

import pytest

import oscsim as osc
from oscsim.errors import SpecError
from oscsim.study.dwell import dwell_rows
from oscsim.substrate.device import Device
from tests.bridge.language import prose, written

RING = Device.load("ring-65nm")


def test_every_form_is_a_row_of_the_same_windows(tmp_path):
    model = osc.load_checkpoint(written(tmp_path / "model", "kuramoto"))
    text = osc.read_bytes(prose(tmp_path / "prose.txt"), model.config.max_len, 4)
    seen = []
    rows = dwell_rows(model, text, RING, chips=2, seed=3, on_row=seen.append)
    assert seen == rows
    digital, ideal, frozen, rotating, *real = rows
    assert (digital.on, digital.difference) == ("digital", 0.0)
    assert abs(ideal.difference) < 1e-12
    assert ideal.agreement == 1.0
    assert [row.self_term for row in (frozen, rotating)] == ["frozen", "co-rotating"]
    assert frozen.bits != rotating.bits
    assert [(row.update, row.self_term, row.ranging) for row in real] == [
        (update, self_term, ranging)
        for ranging in ("fixed", "row")
        for update, self_term in (
            ("map", "-"),
            ("flow", "frozen"),
            ("flow", "co-rotating"),
        )
    ]
    assert len({row.bits for row in rows[2:]}) == 8
    for row in rows:
        assert row.bits == pytest.approx(digital.bits + row.difference, abs=1e-12)
    again = osc.infer(
        model, text, device=RING, chips=2, repeats=1, seed=3, ranging="row"
    )
    assert osc.compare(again).substrate == rows[7].bits


def test_only_kuramoto_attention_dwells(tmp_path):
    model = osc.load_checkpoint(written(tmp_path / "model", "oscillator"))
    text = osc.read_bytes(prose(tmp_path / "prose.txt"), model.config.max_len, 2)
    with pytest.raises(SpecError, match="is a fixed-query model: only Kuramoto"):
        dwell_rows(model, text, RING)
