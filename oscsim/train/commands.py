"""The commands of ``python -m oscsim.train``."""

# ruff: noqa: PLC0415 (help must work without torch)

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oscsim.bridge.datasets import TokenSet, parse_sva
from oscsim.command_line import (
    WRONG_REQUEST,
    complain,
    make_streams_safe,
    run_app,
)
from oscsim.models.config import FixedQueryConfig
from oscsim.train import ablation_commands, digit_commands, language_commands
from oscsim.train import sva as grammar
from oscsim.train.asked import (
    MOST_EPOCHS,
    MOST_SEED,
    new_checkpoint,
    output_folder,
)
from oscsim.train.progress import training_progress

if TYPE_CHECKING:
    from oscsim.train.fit import Epoch

NAME = "oscsim.train"

INTERRUPTION = (
    "interrupted: if there is a .partial file, the same command goes on from it"
)

NO_TORCH = (
    "training needs torch: make install EXTRAS=torch in a checkout, "
    "or pip install 'oscsim[torch]'"
)

app = typer.Typer(
    help="Train the checkpoints that ship and write the files tests compare with.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.add_typer(language_commands.app)
app.add_typer(digit_commands.app)
app.add_typer(ablation_commands.app)

Folder = Annotated[Path, typer.Option("--out", help="Folder to write.")]


@app.command()
def sva(
    out: Folder,
    kind: Annotated[
        Literal["osc", "softmax"], typer.Option(help="Which attention.")
    ] = "osc",
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="Seed of the training.")
    ] = 0,
    epochs: Annotated[
        int, typer.Option(min=1, max=MOST_EPOCHS, help="Passes over the data.")
    ] = 20,
) -> None:
    """Train one subject-verb agreement model and write its checkpoint."""
    from oscsim.train.card import Training
    from oscsim.train.fit import Recipe, fit, sva_config
    from oscsim.train.publish import versions, write_checkpoint

    with new_checkpoint(out):
        started_with = versions()
        config, recipe = sva_config(kind), Recipe(epochs=epochs)
        train = _sentences("train", config)
        validation = grammar.generate(grammar.SIZES["validation"], 1)
        with training_progress() as progress:
            task = progress.add_task(f"{kind} seed {seed}", total=epochs, note="")

            def advance(epoch: "Epoch") -> None:
                note = f"loss {epoch.train_loss:.3f} hard {epoch.hard_accuracy:.4f}"
                progress.update(task, advance=1, note=note)

            model, history = fit(
                config,
                train,
                _encode(validation, config, "validation"),
                seed=seed,
                recipe=recipe,
                on_epoch=advance,
            )
        training = Training(
            kind=kind,
            seed=seed,
            recipe=recipe,
            history=tuple(history),
            parameters=sum(p.numel() for p in model.parameters()),
            sentences=len(train),
            tokens=int(train.lengths.sum()) * epochs,
            ceiling=grammar.ceiling(validation),
            hard_ceiling=grammar.ceiling(list(filter(grammar.is_hard, validation))),
            versions=started_with,
        )
        write_checkpoint(out, model, training)
    typer.echo(
        f"{out}: hard accuracy {history[-1].hard_accuracy:.4f}, "
        f"all {history[-1].accuracy:.4f}"
    )


@app.command()
def data(out: Folder) -> None:
    """Write the bundled sentences: validation and calibration."""
    with output_folder(out):
        validation = grammar.generate(grammar.SIZES["validation"], 1)
        grammar.write_json_lines(out / "validation.jsonl", validation)
        grammar.write_json_lines(out / "calibration.jsonl", grammar.generate(256, 0))
    typer.echo(f"{out}: validation.jsonl, calibration.jsonl")


@app.command()
def index(folder: Annotated[Path, typer.Argument(help="data/checkpoints")]) -> None:
    """Write the table of the checkpoints in a folder to its README."""
    from oscsim.train.publish import write_index

    typer.echo(f"{write_index(folder)}: written")


@app.command()
def golden(out: Folder) -> None:
    """Write outputs of small random models for tests that run without torch."""
    from oscsim.train.golden import write_golden

    with output_folder(out):
        typer.echo(f"{write_golden(out)}: written")


def main() -> None:
    """Run a command and exit with its code."""
    make_streams_safe()
    sys.exit(run())


def run(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code.

    As of `oscsim.command_line.run_app`; missing torch is a wrong request.
    """
    try:
        return run_app(app, NAME, arguments, INTERRUPTION)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return complain(NAME, NO_TORCH, WRONG_REQUEST)


def _sentences(split: str, config: FixedQueryConfig) -> TokenSet:
    sentences = grammar.generate(grammar.SIZES[split], grammar.SEEDS[split])
    return _encode(sentences, config, split)


def _encode(
    sentences: list[grammar.Sentence], config: FixedQueryConfig, split: str
) -> TokenSet:
    text = grammar.to_json_lines(sentences)
    return parse_sva(text.encode(), config, source=f"generated {split} set")
