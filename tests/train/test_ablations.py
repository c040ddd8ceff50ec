"""Ablations of Kuramoto attention: every switch acts, and a stopped table goes on."""

import csv

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.train.ablations import (
    COLUMNS,
    VARIANTS,
    Ablation,
    Budget,
    read_table,
    write_table,
)

BUDGET = Budget(tokens=2048, seed=0, learning_rate=0.01, n_osc=4, layers=1)
ROWS = [
    Ablation("base", 100, 2.5, 2.25, BUDGET, "abc"),
    Ablation("value-linear", 120, 2.75, 2.125, BUDGET, "abd"),
]


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_differences_are_to_the_base_and_the_published_ones_stand_apart(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, ROWS)
    base, linear = table(path)
    assert (base["validation_minus_base"], base["published_minus_base_bpc"]) == (
        "0.0",
        "",
    )
    assert linear["validation_minus_base"] == "0.25"
    assert linear["test_minus_base"] == "-0.125"
    assert linear["published_minus_base_bpc"] == "0.25"
    assert read_table(path, BUDGET) == ROWS
    assert read_table(tmp_path / "none.csv", BUDGET) == []


def test_only_what_was_published_is_called_so():
    published = {v.name: v.published for v in VARIANTS if v.published is not None}
    assert published == {"value-linear": 0.25, "no-ffn": 0.27, "no-gates": 0.09}


def test_tables_of_something_else_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, ROWS)
    with pytest.raises(SpecError, match=r"tokens=2048.*asked for was.*tokens=4096"):
        read_table(path, BUDGET._replace(tokens=4096))
    write_table(path, ROWS[1:])
    with pytest.raises(SpecError, match="holds value-linear: not the first variants"):
        read_table(path, BUDGET)
    header = ",".join(COLUMNS)
    for text in (
        "variant,parameters\nbase,many\n",
        "name,score\n",
        "",
        header.replace("commit", "sha") + "\n",
        header + '\nbase,"1\n',
        header + "\nbase,many\n",
    ):
        path.write_text(text)
        with pytest.raises(SpecError, match="no table of ablations"):
            read_table(path, BUDGET)
        assert path.read_text() == text
    path.write_text(header + "\n")
    assert read_table(path, BUDGET) == []


torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from typer.testing import CliRunner  # noqa: E402

from oscsim.train import language_fit  # noqa: E402
from oscsim.train.commands import app  # noqa: E402
from oscsim.train.kuramoto import KuramotoModel  # noqa: E402
from oscsim.train.language_commands import kuramoto_config  # noqa: E402


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A tiny budget on a short text; one thread only while it runs."""
    words = np.frombuffer(b"the oscillators settle ", np.uint8)
    monkeypatch.setattr(language_fit, "read_enwik8", lambda *_: np.tile(words, 60))
    threads = torch.get_num_threads()
    asked = ["ablations", "--enwik8", "text", "--out", str(tmp_path / "t.csv")]
    yield [*asked, "--tokens", "4096", "--n-osc", "4", "--layers", "1"]
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def run(asked):
    return CliRunner().invoke(app, asked, catch_exceptions=False)


def test_every_variant_differs_from_the_base_by_its_switch(asked, tmp_path):
    assert run(asked).exit_code == 0
    rows = {row["variant"]: row for row in table(tmp_path / "t.csv")}
    assert list(rows) == [variant.name for variant in VARIANTS]
    size = {name: int(row["parameters"]) for name, row in rows.items()}
    k, d_ff = 4, 10
    assert size["value-linear"] - size["base"] == 4 * k * k
    assert size["base"] - size["no-ffn"] == 3 * k * d_ff + k
    assert size["base"] - size["no-gates"] == 4 * k * k
    assert size["base"] - size["omega-zero"] == k
    assert size["base"] == size["bound-norm"] == size["unwrapped"]
    bits = {name: float(row["validation_bits"]) for name, row in rows.items()}
    wrapped = {bits[name] for name in bits if name != "unwrapped"}
    assert len(wrapped) == len(VARIANTS) - 1
    assert not list(tmp_path.glob("*.partial"))


def test_the_phases_of_the_unwrapped_variant_keep_their_turns():
    """Two updates turn no phase over: the table cannot tell, the model can."""
    theta = torch.full((1, 1, 4), 6.0)
    turned = []
    (unwrapped,) = (v for v in VARIANTS if v.name == "unwrapped")
    for variant in (VARIANTS[0], unwrapped):
        torch.manual_seed(0)
        model = KuramotoModel(kuramoto_config(4, 1, **variant.switches))
        turned.append(model.layers[0](theta).detach().numpy())
    np.testing.assert_allclose(turned[1] - turned[0], 2 * np.pi, rtol=1e-6)


def test_what_is_done_is_not_trained_again(asked, tmp_path, monkeypatch):
    path, trained = tmp_path / "t.csv", []
    whole = language_fit.fitted

    def counted(name, *arguments):
        trained.append(name)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return whole(name, *arguments)

    monkeypatch.setattr(language_fit, "fitted", counted)
    run(asked)
    assert [row["variant"] for row in table(path)] == ["base", "value-linear"]
    first = path.read_text()
    assert run(asked).exit_code == 0
    assert trained[3:] == [variant.name for variant in VARIANTS[2:]]
    assert path.read_text().startswith(first)


def test_a_name_that_is_no_table_is_refused(asked):
    with pytest.raises(SpecError, match=r"--out here is no table"):
        run([*asked, "--out", "here"])
