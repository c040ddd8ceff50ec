"""The command of ``python -m oscsim.train`` that ablates Kuramoto attention."""

# ruff: noqa: PLC0415 (help must work without torch)

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from oscsim.cli_output import writable
from oscsim.errors import SpecError
from oscsim.train.ablations import (
    VARIANTS,
    Ablation,
    Budget,
    read_table,
    write_table,
)
from oscsim.train.asked import MOST_BYTES
from oscsim.train.language_commands import (
    Enwik8,
    Seed,
    kuramoto_config,
    kuramoto_recipe,
)

app = typer.Typer()

ABLATION_BYTES = 3_000_000
"""Bytes that every variant sees: a small budget, the same for all."""


@app.command()
def ablations(
    out: Annotated[Path, typer.Option("--out", help="Table to write, .csv.")],
    enwik8: Enwik8,
    seed: Seed = 0,
    tokens: Annotated[
        int, typer.Option(min=2048, max=MOST_BYTES, help="Bytes seen.")
    ] = ABLATION_BYTES,
    n_osc: Annotated[int, typer.Option(min=1, help="Phases per token.")] = 64,
    layers: Annotated[int, typer.Option(min=1, help="Layers.")] = 4,
    learning_rate: Annotated[float, typer.Option(help="Peak rate.")] = 1e-2,
) -> None:
    """Train Kuramoto attention and its ablations one after the other.

    A variant that the table holds is not trained again, and one that was
    stopped goes on from its last point.
    """
    from oscsim.train.kuramoto import KuramotoModel
    from oscsim.train.language_fit import fitted
    from oscsim.train.publish import versions

    if out.suffix != ".csv":
        raise SpecError(f"--out {out} is no table: give a name that ends in .csv")
    recipe = kuramoto_recipe(tokens, learning_rate)
    budget = Budget(recipe.tokens, seed, learning_rate, n_osc, layers)
    rows = read_table(out, budget)
    with writable(out.parent):
        for variant in VARIANTS[len(rows) :]:
            config = kuramoto_config(n_osc, layers, **variant.switches)
            commit = versions()["commit"]
            state = out.with_name(f"{out.stem}.{variant.name}.partial")
            found = fitted(
                variant.name,
                enwik8,
                partial(KuramotoModel, config),
                recipe,
                seed,
                config.model_dump(mode="json"),
                state,
            )
            rows.append(
                Ablation(
                    variant.name,
                    found.parameters,
                    found.validation_bpc,
                    found.test_bpc,
                    budget,
                    commit,
                )
            )
            write_table(out, rows)
            state.unlink(missing_ok=True)
            typer.echo(f"{variant.name}: {found.validation_bpc:.4f} bits per byte")
