"""The recipe on a few sentences, and what a run leaves on disk."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.datasets import TokenSet, parse_sva
from oscsim.errors import SpecError
from oscsim.train import sva as grammar

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from typer.testing import CliRunner  # noqa: E402

from oscsim.train import commands  # noqa: E402
from oscsim.train import fit as fit_module  # noqa: E402
from oscsim.train.commands import app  # noqa: E402
from oscsim.train.fit import Recipe, evaluate, fit, sva_config  # noqa: E402
from oscsim.train.publish import write_index  # noqa: E402

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def restore_torch():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def sentences(n: int, seed: int, kind: str = "osc") -> TokenSet:
    text = grammar.to_json_lines(grammar.generate(n, seed))
    return parse_sva(text.encode(), sva_config(kind), source="memory")


def weights(kind: str = "osc", seed: int = 0, **recipe: float):
    model, history = fit(
        sva_config(kind),
        sentences(200, 0),
        sentences(100, 1),
        seed=seed,
        recipe=Recipe(epochs=2, **recipe),
    )
    return model.state_dict(), history


def equal(a, b) -> bool:
    return all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", ["osc", "softmax"])
def test_a_seed_gives_the_same_bits_and_another_does_not(kind: str) -> None:
    first, history = weights(kind)
    again, history_again = weights(kind)
    assert equal(first, again)
    assert history == history_again
    assert not equal(first, weights(kind, seed=1)[0])


def test_the_recipe_is_applied() -> None:
    """Each number of the recipe changes the weights."""
    base, _ = weights()
    for change in (
        {"batch": 50},
        {"learning_rate": 1e-3},
        {"weight_decay": 0.1},
        {"clip": 1e-3},
        {"dropout": 0.0},
    ):
        assert not equal(base, weights(**change)[0]), change


def test_the_learning_rate_falls_to_zero_along_a_cosine_by_step(monkeypatch) -> None:
    rates = []
    step = torch.optim.AdamW.step

    def recorded(self, *args, **kwargs):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", recorded)
    weights()
    n = 2 * 4
    expected = [
        2.5e-4 * (1 + float(torch.cos(torch.tensor(torch.pi * i / n))))
        for i in range(n)
    ]
    assert rates == pytest.approx(expected, rel=1e-5)


def test_loss_falls_and_the_positions_tensor_stays() -> None:
    config = sva_config("osc")
    train = sentences(64, 0)
    recipe = Recipe(epochs=60, learning_rate=5e-3, dropout=0.0)
    model, history = fit(config, train, train, seed=0, recipe=recipe)
    assert history[-1].train_loss < 0.3 < 0.6 < history[0].train_loss
    assert history[-1].accuracy > 0.9
    assert evaluate(model, train, train_loss=0.0).accuracy == history[-1].accuracy
    fresh = fit(config, train, train, seed=0, recipe=Recipe(epochs=1))[0]
    assert torch.equal(
        fresh.state_dict()["pos_enc.pe"], model.state_dict()["pos_enc.pe"]
    )


def test_epochs_are_reported_as_they_end() -> None:
    seen = []
    data = sentences(64, 0)
    recipe = Recipe(epochs=3)
    _, history = fit(
        sva_config("osc"), data, data, seed=0, recipe=recipe, on_epoch=seen.append
    )
    assert seen == history
    assert len(seen) == 3


def test_every_epoch_sees_every_sentence_once_in_a_new_order(monkeypatch) -> None:
    seen = []
    forward = fit_module.verb_logits

    def recorded(model, ids, positions):
        if model.training:
            seen.extend(map(tuple, ids.tolist()))
        return forward(model, ids, positions)

    monkeypatch.setattr(fit_module, "verb_logits", recorded)
    weights()
    once = sorted(map(tuple, sentences(200, 0).ids.tolist()))
    first, second = seen[:200], seen[200:]
    assert sorted(first) == sorted(second) == once
    assert first != second


def test_wrong_requests() -> None:
    with pytest.raises(SpecError, match="epochs must be at least 1, got 0"):
        Recipe(epochs=0)
    with pytest.raises(SpecError, match="kind must be 'osc' or 'softmax', got 'lohe'"):
        sva_config("lohe")


def test_configurations_are_config_g() -> None:
    osc, twin = sva_config("osc"), sva_config("softmax")
    assert (osc.d_model, osc.n_heads, osc.n_layers, osc.d_ff) == (32, 1, 1, 64)
    assert (osc.d_osc, osc.max_len, osc.p, osc.coupling) == (2, 50, 1, "softplus")
    assert (osc.trained_length, osc.vocab_size, osc.n_outputs) == (9, 169, 1)
    assert osc.mask_readout
    same = osc.model_dump() | {"attention": "softmax", "d_osc": None}
    assert twin.model_dump() == same


@pytest.fixture
def small(monkeypatch) -> None:
    sizes = {"train": 128, "validation": 100, "test": 10}
    monkeypatch.setattr(grammar, "SIZES", sizes)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["osc", "softmax"])
def test_a_run_writes_a_checkpoint_with_its_card(tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"sva-{kind}"
    arguments = ["sva", "--kind", kind, "--seed", "3", "--epochs", "2"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "hard accuracy" in result.output
    names = {path.name for path in out.iterdir()}
    assert names == {"model.safetensors", "config.json", "training.json", "README.md"}
    checkpoint = load_checkpoint(out)
    assert checkpoint.config == sva_config(kind)
    assert checkpoint.warnings == ()
    record = json.loads((out / "training.json").read_text())
    train = sentences(128, 0)
    assert record["tokens"] == 2 * int(train.lengths.sum())
    assert record["seed"] == 3
    assert len(record["history"]) == 2
    card = (out / "README.md").read_text()
    accuracy = f"{100 * record['history'][-1]['hard_accuracy']:.2f}"
    assert f"| hard | {accuracy} |" in card
    assert f"--kind {kind} --seed 3 --epochs 2 --out sva-{kind}" in card
    assert record["versions"]["commit"] in card
    assert torch.__version__ in card


@pytest.mark.usefixtures("small")
def test_a_run_again_writes_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        out = tmp_path / name / "m"
        arguments = ["sva", "--epochs", "1", "--out", str(out)]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        files.append({p.name: p.read_bytes() for p in out.iterdir()})
    assert files[0] == files[1]


def test_bundled_data_and_golden_commands(tmp_path: Path) -> None:
    for command in ("data", "golden"):
        result = CliRunner().invoke(app, [command, "--out", str(tmp_path / command)])
        assert result.exit_code == 0, result.output
    for name in ("validation.jsonl", "calibration.jsonl"):
        bundled = ROOT / "data" / "datasets" / "sva" / name
        assert (tmp_path / "data" / name).read_bytes() == bundled.read_bytes()
    assert (tmp_path / "golden" / "fixed_query.npz").is_file()


def run_main(monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["oscsim.train", *arguments])
    with pytest.raises(SystemExit) as caught:
        commands.main()
    return int(caught.value.code or 0), capsys.readouterr().err


def test_wrong_requests_are_one_sentence_and_exit_2(
    tmp_path, monkeypatch, capsys
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    code, text = run_main(monkeypatch, capsys, "sva", "--out", str(file))
    assert (code, text) == (
        2,
        f"oscsim.train: --out {file} is a file: give a folder\n",
    )
    code, text = run_main(monkeypatch, capsys, "index", str(tmp_path))
    assert (code, text) == (
        2,
        f"oscsim.train: no folder in {tmp_path} holds a training.json\n",
    )
    for wrong in (["--kind", "lohe"], ["--epochs", "0"], ["--seed", "-1"]):
        arguments = ["sva", "--out", str(tmp_path / "m"), *wrong]
        assert run_main(monkeypatch, capsys, *arguments)[0] == 2
    assert not (tmp_path / "m").exists()


def test_the_table_of_bundled_checkpoints_is_up_to_date(tmp_path: Path) -> None:
    bundled = ROOT / "data" / "checkpoints"
    for path in bundled.glob("*/training.json"):
        (tmp_path / path.parent.name).mkdir()
        (tmp_path / path.parent.name / path.name).write_bytes(path.read_bytes())
    readme = write_index(tmp_path)
    assert readme.read_text() == (bundled / "README.md").read_text()
    assert readme.read_text().count("| `sva-") == 10


def test_a_table_of_one_has_no_spread(tmp_path: Path) -> None:
    source = ROOT / "data" / "checkpoints" / "sva-osc-d2-s0" / "training.json"
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "training.json").write_bytes(source.read_bytes())
    text = write_index(tmp_path).read_text()
    assert "| oscillator | 1 | - | - |" in text
    assert "| softmax | 0 | - | - |" in text


def test_the_commit_is_unknown_outside_a_checkout(monkeypatch) -> None:
    from oscsim.train.publish import versions

    commit = versions()["commit"]
    assert commit == "unknown" or len(commit) >= 12
    monkeypatch.setitem(os.environ, "PATH", "")
    assert versions()["commit"] == "unknown"


@pytest.mark.slow
def test_a_bundled_checkpoint_is_reproduced(tmp_path: Path) -> None:
    """Bit for bit with the torch version on its card, else to its accuracy."""
    bundled = ROOT / "data" / "checkpoints" / "sva-osc-d2-s0"
    out = tmp_path / bundled.name
    assert CliRunner().invoke(app, ["sva", "--out", str(out)]).exit_code == 0
    new, old = (json.loads((p / "training.json").read_text()) for p in (out, bundled))
    hard = new["history"][-1]["hard_accuracy"]
    assert hard == pytest.approx(old["history"][-1]["hard_accuracy"], abs=0.02)


def test_recipe_of_the_bundled_checkpoints_is_the_published_one() -> None:
    for path in (ROOT / "data" / "checkpoints").glob("sva-*/training.json"):
        recipe = Recipe(**json.loads(path.read_text())["recipe"])
        assert recipe == Recipe()
        assert recipe != replace(recipe, epochs=19)
