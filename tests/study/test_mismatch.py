"""Static and redrawn coupling errors by position, beside NumPy's draws."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.infer import infer
from oscsim.bridge.language import bits_of
from oscsim.bridge.passes import in_float64
from oscsim.bridge.text_data import read_bytes
from oscsim.errors import DataError, DeviceError, SpecError
from oscsim.models.fixed_query import Pass, forward
from oscsim.study import mismatch as module
from oscsim.study.mismatch import mismatch_by_context
from oscsim.study.mismatch_table import MismatchByContext
from oscsim.substrate.device import Device
from tests.bridge.language import CONTEXT, language_model, prose

DATA = Path(__file__).parents[2] / "data"
BINS = (2, 5, CONTEXT)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Six windows, the last of which is the first again."""
    found = read_bytes(prose(tmp_path_factory.mktemp("text") / "prose"), CONTEXT, 6)
    again = [0, 1, 2, 3, 4, 0]
    return replace(found, ids=found.ids[again], targets=found.targets[again])


@pytest.fixture(scope="module")
def study(text):
    return mismatch_by_context(
        language_model(), text, strengths=(0.0, 0.5), last=BINS, chips=30, seed=2
    )


def test_no_mismatch_costs_nothing(study):
    np.testing.assert_allclose(study.lost[:, 0], 0.0, atol=1e-9)


def test_only_static_errors_treat_equal_windows_alike(study):
    static, redrawn = study.lost[:, 1]
    np.testing.assert_allclose(static[:, 0], static[:, 5], atol=1e-12)
    assert (np.abs(redrawn[:, 0] - redrawn[:, 5]) > 1e-6).mean() > 0.6
    by_chip = study.lost[:, 1].mean(axis=2).std(axis=1, ddof=1)
    assert (by_chip[0, 1:] > by_chip[1, 1:]).all(), "redraws average over windows"


@pytest.mark.parametrize("is_static", [True, False])
def test_losses_are_those_of_numpy(study, text, is_static):
    """Mean size of a window's change, 40 draws by hand; twice the strength fails."""
    model, rng = language_model(), np.random.default_rng(1)
    weights = in_float64(model.weights)

    def by_hand(s):
        def settle(drive, counts):
            shape = drive.coupling.shape
            error = np.exp(s * rng.normal(size=shape[1:] if is_static else shape))
            h = np.matmul(drive.coupling * error, drive.anchors)
            return h / np.linalg.norm(h, axis=-1, keepdims=True)

        out = forward(weights, model.config, text.ids, run=Pass(settle))
        bits = bits_of(out, text.targets)
        binned = np.stack([bits[:, 2:5].mean(axis=1), bits[:, 5:].mean(axis=1)], -1)
        return np.abs(binned - study.digital[:, 1:]).mean(axis=0)

    ours = np.abs(study.lost[0 if is_static else 1, 1]).mean(axis=1)[:, 1:]

    def score(s):
        theirs = np.array([by_hand(s) for _ in range(40)])
        spread = np.sqrt(ours.var(axis=0, ddof=1) / 30 + theirs.var(axis=0) / 40)
        return np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / spread

    assert score(0.5).max() < 4
    assert score(1.0).max() > 4


def test_bins_are_means_of_positions(study, text):
    device = Device.load("ideal").changed(coupling_mismatch=0.5)
    run = infer(language_model(), text, device=device, chips=1, repeats=1, seed=2)
    lost = run.bits[0, 0] - run.digital
    for b, (first, last) in enumerate(zip(study.first, study.last, strict=True)):
        expected = lost[:, first - 1 : last].mean(axis=1)
        np.testing.assert_allclose(study.lost[0, 1, 0, :, b], expected, rtol=1e-12)
    assert study.first == (1, 3, 6)


def test_a_single_anchor_cannot_turn(text):
    only = mismatch_by_context(
        language_model(), text, strengths=(0.5,), last=(1, 2), chips=1
    )
    np.testing.assert_allclose(only.turn[:, 0], 0.0, atol=1e-7)
    assert (only.turn[:, 1] > 0.001).all()
    np.testing.assert_allclose(only.effective[:, 0], 1.0)
    np.testing.assert_allclose(only.aligned[:, 0], 1.0)
    assert (only.effective[:, 1] > 1.0).all()
    assert np.isnan([row.chip_deviation for row in only.rows()]).all()


def made():
    """Loss = chip + window + bin: every standard error is known."""
    chip = np.array([-0.3, 0.3])[:, None, None]
    window = np.array([-0.2, 0.0, 0.2])[:, None]
    lost = 1.0 + chip + window + np.array([0.0, -0.5])
    return MismatchByContext(
        checkpoint="made",
        strengths=np.array([0.5]),
        last=(2, 4),
        digital=np.zeros((3, 2)),
        lost=np.stack([lost, lost - 0.25])[:, None],
        turn=np.array([[0.1, 0.2], [0.3, 0.6]]),
        effective=np.ones((2, 2)),
        aligned=np.ones((2, 2)),
        seed=0,
    )


def test_errors_hold_chips_and_windows():
    by_chip = 0.3 * np.sqrt(2) / np.sqrt(2)
    by_window = 0.2 / np.sqrt(3)
    rows = made().rows()
    assert [(r.kind, r.first, r.last) for r in rows] == [
        ("static", 1, 2),
        ("static", 3, 4),
        ("redrawn", 1, 2),
        ("redrawn", 3, 4),
    ]
    assert [r.loss for r in rows] == pytest.approx([1.0, 0.5, 0.75, 0.25])
    assert [r.error for r in rows] == pytest.approx([np.hypot(by_chip, by_window)] * 4)
    assert [r.gained for r in rows] == pytest.approx([0.0, 0.5, 0.0, 0.5])
    assert [r.gained_error for r in rows] == pytest.approx([0.0] * 4, abs=1e-12)
    assert rows[0].chip_deviation == pytest.approx(0.3 * np.sqrt(2))
    assert rows[1].turn == pytest.approx(0.4 * np.sqrt(np.exp(0.25) - 1))
    difference, error = made().static_minus_redrawn()
    np.testing.assert_allclose(difference, [[0.25, 0.25]])
    np.testing.assert_allclose(error, [[np.sqrt(2) * by_chip] * 2])


def test_to_xarray_has_names(study):
    found = study.to_xarray()
    cell = found.lost.sel(kind="redrawn", strength=0.5, last=5).isel(chip=3, window=1)
    assert float(cell) == study.lost[1, 1, 3, 1, 1]
    assert found.turn.attrs["units"] == "rad"
    assert found.attrs["checkpoint"] == "oscillator"


def test_progress_counts_runs(text):
    seen = []
    mismatch_by_context(
        language_model(),
        text,
        strengths=(0.1,),
        last=BINS,
        chips=1,
        progress=lambda *x: seen.append(x),
    )
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_an_interrupted_run_stops_the_study(text, monkeypatch):
    def halfway(*args, **kwargs):
        run = infer(*args, **kwargs)
        return replace(run, chips_asked=run.chips_asked + 1)

    monkeypatch.setattr(module, "infer", halfway)
    with pytest.raises(KeyboardInterrupt):
        mismatch_by_context(language_model(), text, last=BINS, chips=1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"strengths": ()}, SpecError, "got 0 strengths"),
        ({"strengths": (-0.1,)}, SpecError, "finite and >= 0, got -0.1"),
        ({"strengths": (11.0,)}, DeviceError, "coupling_mismatch"),
        ({"last": ()}, SpecError, r"rising positions in 1..12, got \[\]"),
        ({"last": (4, 4)}, SpecError, r"got \[4, 4\]"),
        ({"last": (0, 4)}, SpecError, r"got \[0, 4\]"),
        ({"last": (4, 13)}, SpecError, r"got \[4, 13\]"),
        ({"chips": 0}, SpecError, "chips must be .* got 0"),
        ({"seed": -1}, SpecError, "seed must be .* got -1"),
    ],
)
def test_wrong_requests(text, change, error, message):
    with pytest.raises(error, match=message):
        mismatch_by_context(language_model(), text, **{"last": BINS} | change)


def test_models_that_have_no_driven_oscillators_are_refused(text):
    with pytest.raises(SpecError, match="softmax has no driven oscillators"):
        mismatch_by_context(language_model("softmax"), text, last=BINS)
    with pytest.raises(DataError, match="vocabulary of 40"):
        mismatch_by_context(language_model(vocab_size=40), text, last=BINS)


def test_the_committed_table_is_what_its_readme_says():
    """More anchors never help; static and redrawn differ in spread, not in mean."""
    with (DATA / "benchmarks" / "mismatch-context.csv").open() as file:
        rows = list(csv.DictReader(file))
    last = [row for row in rows if row["last"] == "64"]
    scores = {
        (row["checkpoint"], row["kind"], row["strength"]): float(row["gained"])
        / float(row["gained_error"])
        for row in last
    }
    assert max(scores.values()) < 3
    for (name, _, s), score in scores.items():
        if s == "0.5":
            assert (score < -3.2) == (name != "bytes-osc-d8-p4")
    half = len(rows) // 4 // 2
    for start in range(0, len(rows), 2 * half):
        static, redrawn = rows[start : start + half], rows[start + half :][:half]
        for one, other in zip(static, redrawn, strict=True):
            assert (one["kind"], other["kind"]) == ("static", "redrawn")
            apart = float(one["loss"]) - float(other["loss"])
            spread = np.hypot(float(one["error"]), float(other["error"]))
            assert abs(apart) < 3 * spread
    turn = {(row["checkpoint"], row["last"]): float(row["turn"]) for row in rows}
    assert all(turn[name, "64"] > turn[name, "8"] for name, _ in turn)
