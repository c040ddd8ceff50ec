"""What ``python -m oscsim.train`` refuses: one sentence, an exit code, no files."""

import json
from pathlib import Path

import numpy as np
import pytest

from oscsim.bridge.digit_data import DigitSet
from oscsim.errors import EvaluationError, SpecError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from oscsim.train import ablation_commands, language_fit  # noqa: E402
from oscsim.train.commands import run  # noqa: E402
from oscsim.train.digit_fit import fit_digits  # noqa: E402
from oscsim.train.digits import DigitRecipe, digits_config  # noqa: E402
from oscsim.train.fit import Recipe, fit, sva_config  # noqa: E402
from oscsim.train.fixed_query import FixedQueryModel  # noqa: E402
from oscsim.train.language import LanguageRecipe, fit_language  # noqa: E402
from oscsim.train.language_commands import family_config  # noqa: E402
from tests.train.test_fit import sentences  # noqa: E402

TEXT = np.tile(np.frombuffer(b"the oscillators settle ", np.uint8), 60)
SMALL = {
    "bytes": ("--tokens", "1024", "--d-model", "8"),
    "kuramoto": ("--tokens", "2048", "--n-osc", "4", "--layers", "1"),
    "transformer": ("--tokens", "2048", "--d-model", "8", "--layers", "1"),
}


@pytest.fixture(autouse=True)
def _short_text(monkeypatch):
    monkeypatch.setattr(language_fit, "read_enwik8", lambda *_: TEXT)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def ask(tmp_path, capsys):
    """Run a command into ``m`` and return its code and its only line of complaint."""

    def asked(command: str, *options: str, out: str | Path = "m") -> tuple[int, str]:
        given = ["--enwik8", "text"] if command in (*SMALL, "ablations") else []
        given += ["--out", str(tmp_path / out), *SMALL.get(command, ()), *options]
        code = run([command, *given])
        err = capsys.readouterr().err
        assert err.count("\n") <= 1
        return code, err.removeprefix("oscsim.train: ").rstrip("\n")

    return asked


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        ("kuramoto", "--bound norm --update flow", "update 'flow' needs bound 'coord'"),
        ("kuramoto", "--value linear --update flow", "'flow' needs value 'raw'"),
        ("kuramoto", "--heads 3", "n_heads = 3 does not divide n_osc = 4"),
        ("kuramoto", "--layers 1001", "n_layers: Input should be less than or equal"),
        ("kuramoto", f"--n-osc {10**12}", "ask for a smaller model"),
        ("transformer", "--d-model 12", "d_model = 12 must be a multiple of twice"),
        ("transformer", f"--d-ff {10**12}", "ask for a smaller model"),
        ("bytes", "--d-model 6", "n_heads = 4 does not divide d_model = 6"),
        ("bytes", "--d-osc 100000000", "d_osc: Input should be less than or equal"),
        ("bytes", "--p 4", "--p 4 is the exponent of oscillators' read-out"),
        ("bytes", "--d-osc 2 --p 3", "--p must be 1, 2 or 4, got 3"),
        ("digits", "--kind softmax --d-osc 8", "--d-osc 8 belongs to oscillators"),
        ("kuramoto", "--learning-rate nan", "learning_rate must be finite and above 0"),
        ("kuramoto", "--learning-rate inf", "learning_rate must be finite and above 0"),
        ("transformer", "--learning-rate 0", "above 0, got 0"),
        ("ablations", "--learning-rate -1", "above 0, got -1"),
        ("bytes", f"--tokens {10**30}", "Invalid value for '--tokens'"),
        ("kuramoto", f"--seed {2**32}", "Invalid value for '--seed'"),
        ("sva", f"--seed {2**32}", "Invalid value for '--seed'"),
        ("digits", "--seed -1", "Invalid value for '--seed'"),
        ("sva", f"--epochs {10**400}", "Invalid value for '--epochs'"),
        ("sva", "--kind lohe", "Invalid value for '--kind'"),
        ("sva", "--unknown 1", "No such option: --unknown"),
    ],
)
def test_contradictions_and_absurd_numbers(ask, tmp_path, command, options, sentence):
    out = "t.csv" if command == "ablations" else "m"
    code, told = ask(command, *options.split(), out=out)
    assert (code, sentence in told) == (2, True), told
    assert not list(tmp_path.iterdir())


def test_the_largest_seed_is_none_too_large(ask):
    assert ask("bytes", "--seed", str(2**32 - 1)) == (0, "")


@pytest.mark.parametrize(
    ("first", "then", "difference"),
    [
        ("bytes --d-osc 2", "bytes --d-osc 2 --p 4", "another model (p 1, asked for"),
        ("bytes --d-osc 2", "bytes", "another model (attention 'oscillator'"),
        ("kuramoto", "kuramoto --update flow", "(update 'map', asked for was 'flow')"),
        ("kuramoto", "transformer", "another model (family 'kuramoto'"),
        ("bytes", "bytes --seed 4", "another seed (0, asked for was 4)"),
        ("bytes", "bytes --tokens 2048", "another recipe (steps 1, asked for was 2)"),
    ],
)
def test_a_stopped_run_is_not_gone_on_with_as_another(
    ask, tmp_path, monkeypatch, first, then, difference
):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(language_fit, "bits_per_byte", stop)
        code, told = ask(*first.split())
    assert code == 130
    assert "the same command goes on from it" in told
    state = (tmp_path / "m.partial").read_bytes()
    code, told = ask(*then.split())
    assert (code, difference in told) == (2, True), told
    assert [p.name for p in tmp_path.iterdir()] == ["m.partial"]
    assert (tmp_path / "m.partial").read_bytes() == state
    assert ask(*first.split()) == (0, "")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def make():
    return FixedQueryModel(family_config(2, 1, 8))


def recipe(**changes):
    fields = {"steps": 6, "batch": 2, "context": 16, "learning_rate": 1e-2}
    return LanguageRecipe(**(fields | {"points": 3} | changes))


def trained(state=None, *, model=make, **changes):
    asked = recipe(**changes)
    return fit_language(
        model, TEXT, TEXT, asked, seed=1, identity={"p": 1}, state=state
    )


def test_what_a_run_is_changes_no_bit_of_it(tmp_path):
    plain, history = fit_language(make, TEXT, TEXT, recipe(), seed=1)
    named, again = trained(tmp_path / "s")
    assert history == again
    for name, tensor in plain.state_dict().items():
        assert torch.equal(tensor, named.state_dict()[name]), name


def without(content, name):
    return {key: value for key, value in content.items() if key != name}


DAMAGES = {
    "no torch file": lambda path, _: path.write_bytes(b"no"),
    "empty": lambda path, _: path.write_bytes(b""),
    "half": lambda path, _: path.write_bytes(path.read_bytes()[:2000]),
    "a folder": lambda path, _: (path.unlink(), path.mkdir()),
    "a list": lambda path, _: torch.save([1, 2], path),
    **{
        f"no {name}": lambda path, c, name=name: torch.save(without(c, name), path)
        for name in ("recipe", "seed", "model", "optimiser", "draw", "history")
    },
    "other keys": lambda path, c: torch.save(c | {"model": {"x": c["draw"]}}, path),
    "no moments": lambda path, c: torch.save(c | {"optimiser": {}}, path),
    "no points": lambda path, c: torch.save(c | {"history": []}, path),
    "points too late": lambda path, c: torch.save(
        c | {"history": [c["history"][0] | {"step": 7}]}, path
    ),
    "other draws": lambda path, c: torch.save(c | {"draw": {"a": 1}}, path),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_named(tmp_path, damage):
    path = tmp_path / "run.partial"
    trained(path)
    DAMAGES[damage](path, torch.load(path, weights_only=True))
    with pytest.raises(SpecError, match=r"run\.partial is no state .* remove it"):
        trained(path)


def test_a_state_that_does_not_say_its_model_is_refused(tmp_path):
    path = tmp_path / "run.partial"
    trained(path)
    torch.save(without(torch.load(path, weights_only=True), "identity"), path)
    with pytest.raises(SpecError, match=r"does not say which model .* remove it"):
        trained(path)


@pytest.mark.parametrize(
    "command", ["kuramoto", "transformer", "kuramoto --bound norm"]
)
def test_a_diverged_training_is_no_success(ask, tmp_path, command):
    code, told = ask(*command.split(), "--learning-rate", "1e30", "--tokens", "81920")
    assert code == 1
    assert told.startswith("training diverged at step ")
    assert "learning rate 1e+30" in told
    assert not (tmp_path / "m").exists()


class Failing(torch.nn.Module):
    """Logits that stop being numbers from one call in training on."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(256))
        self.left = last

    def forward(self, ids):
        self.left -= self.training
        scale = 1.0 if self.left >= 0 else float("nan")
        return scale * self.weight.expand(*ids.shape, 256)


def test_divergence_is_told_at_its_step_and_leaves_the_last_good_state(tmp_path):
    path = tmp_path / "run.partial"
    with pytest.raises(EvaluationError, match=r"at step 4, learning rate 0\.01"):
        trained(path, model=lambda: Failing(3))
    kept = torch.load(path, weights_only=True)
    assert kept["history"][-1]["step"] == 2
    assert torch.isfinite(kept["model"]["weight"]).all()
    trained(tmp_path / "other", model=lambda: Failing(6))


def test_the_training_of_sentences_stops_too():
    few = sentences(64, 0)
    asked = {"seed": 0, "recipe": Recipe(epochs=2, batch=8, learning_rate=1e30)}
    with pytest.raises(EvaluationError, match="training diverged at step"):
        fit(sva_config("osc"), few, few, **asked)
    with pytest.raises(SpecError, match="seed must be a whole number"):
        fit(sva_config("osc"), few, few, seed=2**32)


def test_the_training_of_digits_stops_too():
    rng = np.random.default_rng(0)
    few = DigitSet(
        inputs=rng.normal(size=(32, 5, 13)),
        labels=np.arange(32) % 10,
        lengths=np.full(32, 5),
        sha256="",
        path="memory",
    )
    config = digits_config("osc")
    asked = {"seed": 0, "recipe": DigitRecipe(batch=8, learning_rate=1e30)}
    with pytest.raises(EvaluationError, match="training diverged at step"):
        fit_digits(config, few, few, **asked)
    with pytest.raises(SpecError, match="seed must be a whole number"):
        fit_digits(config, few, few, seed=2**32)


@pytest.mark.parametrize("name", ["learning_rate", "clip", "final", "weight_decay"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_recipe_of_no_numbers_is_refused(name, value):
    with pytest.raises(SpecError, match=f"{name} must be finite"):
        recipe(**{name: value})


def test_a_recipe_without_end_or_seed_is_refused():
    with pytest.raises(SpecError, match="steps must be at most 4294967296"):
        recipe(steps=2**32 + 1)
    assert recipe(final=0.0, weight_decay=0.0).final == 0
    for seed in (-1, 2**32, 1.5):
        with pytest.raises(SpecError, match="seed must be a whole number"):
            fit_language(make, TEXT, TEXT, recipe(), seed=seed)


@pytest.mark.parametrize("command", [*SMALL, "sva", "digits"])
@pytest.mark.parametrize("name", ["model.safetensors", "README.md"])
def test_a_checkpoint_is_not_written_over(ask, tmp_path, command, name):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / name).write_text("mine")
    code, told = ask(command)
    assert code == 2
    assert told.endswith(f"m holds {name} already: give a new folder, or remove it")
    assert (tmp_path / "m" / name).read_text() == "mine"
    assert len(list((tmp_path / "m").iterdir())) == 1


def test_an_empty_folder_and_the_present_one_are_fine(ask, tmp_path, monkeypatch):
    (tmp_path / "m").mkdir()
    monkeypatch.chdir(tmp_path / "m")
    assert ask("bytes", "--out", ".") == (0, "")
    assert (tmp_path / "m" / "model.safetensors").is_file()
    assert ask("bytes", "--out", "/")[1].startswith("--out / has no name")


@pytest.mark.parametrize(
    "command", [*SMALL, "sva", "digits", "data", "golden", "digit-data --wheel w"]
)
def test_a_file_in_the_way_is_told(ask, tmp_path, command):
    (tmp_path / "m").write_text("mine")
    code, told = ask(*command.split())
    assert (code, told) == (2, f"--out {tmp_path / 'm'} is a file: give a folder")
    code, told = ask(*command.split(), out="m/below")
    assert code == 2
    assert "m/below: Not a directory; choose another folder" in told
    assert (tmp_path / "m").read_text() == "mine"


def test_a_table_below_a_file_is_told_before_training(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(ablation_commands, "VARIANTS", ())
    (tmp_path / "m").write_text("mine")
    code, told = ask("ablations", out="m/t.csv")
    assert code == 2
    assert told.startswith("cannot write into")


def test_an_error_of_the_system_is_one_sentence(ask, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(language_fit, "fitted", full)
    told = "the output could not be written: No space left on device"
    assert ask("bytes") == (1, told)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        "[]",
        "3",
        '{"task": "bytes"}',
        '{"task": "digits", "kind": "osc"}',
        '{"kind": "osc", "seed": 1, "history": []}',
        "\udcff",
    ],
)
def test_a_record_that_is_none_is_named(tmp_path, capsys, text):
    path = tmp_path / "broken" / "training.json"
    path.parent.mkdir()
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert run(["index", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"oscsim.train: {path} is no record of a training")
    assert not (tmp_path / "README.md").exists()


def test_a_record_with_nan_or_that_is_a_folder_is_named(ask, tmp_path, capsys):
    assert ask("bytes") == (0, "")
    path = tmp_path / "m" / "training.json"
    record = json.loads(path.read_text())
    assert run(["index", str(tmp_path)]) == 0
    path.write_text(json.dumps(record | {"test_bpc": float("nan")}))
    assert run(["index", str(tmp_path)]) == 2
    path.unlink()
    path.mkdir()
    assert run(["index", str(tmp_path)]) == 2
    assert f"{path} cannot be read: Is a directory" in capsys.readouterr().err


def test_without_a_command_help_and_one_line(capsys):
    assert run([]) == 2
    assert capsys.readouterr().err.rstrip("\n").endswith("oscsim.train: name a command")
