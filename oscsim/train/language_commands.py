"""The commands of ``python -m oscsim.train`` that make language models."""

# ruff: noqa: PLC0415 (help must work without torch)

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from oscsim.cli_output import writable
from oscsim.errors import SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import ModelConfig
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.train.asked import (
    MOST_BYTES,
    MOST_SEED,
    checked_config,
    new_checkpoint,
)

if TYPE_CHECKING:
    from oscsim.train.language import LanguageRecipe

app = typer.Typer()

Folder = Annotated[Path, typer.Option("--out", help="Folder to write.")]
Enwik8 = Annotated[Path, typer.Option("--enwik8", help="The complete enwik8.")]
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of the training.")]

FAMILY_BYTES = 12_000_000
"""Bytes that every model of the d_osc family sees."""

KURAMOTO_BYTES = 40_000_000
"""Bytes that a Kuramoto model and its baseline see."""


def family_recipe(tokens: int = FAMILY_BYTES) -> "LanguageRecipe":
    """Return the budget of the d_osc family and its twins."""
    from oscsim.train.language import LanguageRecipe

    return LanguageRecipe(
        steps=tokens // (16 * 64), batch=16, context=64, learning_rate=6e-3
    )


def kuramoto_recipe(tokens: int, learning_rate: float) -> "LanguageRecipe":
    """Return the budget of Kuramoto attention and its baseline."""
    from oscsim.train.language import LanguageRecipe

    return LanguageRecipe(
        steps=tokens // (16 * 128), batch=16, context=128, learning_rate=learning_rate
    )


def family_config(
    d_osc: int | None, p: Literal[1, 2, 4], d_model: int
) -> FixedQueryConfig:
    """Return a fixed-query byte model, or its softmax twin without ``d_osc``.

    Raises
    ------
    SpecError
        If there is no such model.
    """
    config = checked_config(
        "fixed-query",
        attention="softmax" if d_osc is None else "oscillator",
        task="bytes",
        vocab_size=256,
        d_model=d_model,
        n_heads=4,
        n_layers=2,
        d_ff=4 * d_model,
        d_osc=d_osc,
        max_len=64,
        n_outputs=256,
        p=1 if d_osc is None else p,
        causal=True,
        padding_idx=None,
        trained_length=64,
    )
    return cast("FixedQueryConfig", config)


def kuramoto_config(n_osc: int, n_layers: int, **switches: Any) -> KuramotoConfig:
    """Return a Kuramoto attention byte model, by default the one that ships.

    Parameters
    ----------
    n_osc, n_layers : int
        Phases per token, and layers.
    **switches
        Other fields of `oscsim.models.kuramoto_config.KuramotoConfig`.

    Raises
    ------
    SpecError
        If they contradict each other.
    """
    config = checked_config(
        "kuramoto",
        task="bytes",
        vocab_size=256,
        n_osc=n_osc,
        n_layers=n_layers,
        d_ff=None if switches.get("ffn") == "off" else 8 * n_osc // 3,
        max_len=128,
        **{"n_heads": 4, **switches},
    )
    return cast("KuramotoConfig", config)


@app.command("bytes")
def bytes_(
    out: Folder,
    enwik8: Enwik8,
    d_osc: Annotated[
        int | None, typer.Option(min=2, help="Components; the softmax twin without.")
    ] = None,
    p: Annotated[
        int | None,
        typer.Option(help="Exponent of the read-out: 1 (if absent), 2 or 4."),
    ] = None,
    d_model: Annotated[int, typer.Option(min=4, help="Width.")] = 64,
    seed: Seed = 0,
    tokens: Annotated[
        int, typer.Option(min=1024, max=MOST_BYTES, help="Bytes seen.")
    ] = FAMILY_BYTES,
) -> None:
    """Train one fixed-query byte model, or its softmax twin."""
    from oscsim.train.fixed_query import FixedQueryModel

    if p is not None and d_osc is None:
        raise SpecError(
            f"--p {p} is the exponent of oscillators' read-out, which the softmax twin "
            "has not: give --d-osc too, or leave --p out"
        )
    p = 1 if p is None else p
    if p not in (1, 2, 4):
        raise SpecError(f"--p must be 1, 2 or 4, got {p}")
    config = family_config(d_osc, p, d_model)
    command = f"python -m oscsim.train bytes --enwik8 enwik8 --seed {seed}"
    command += f" --tokens {tokens} --d-model {d_model}"
    command += f" --d-osc {d_osc} --p {p}" if d_osc is not None else ""
    _train(
        out,
        enwik8,
        lambda: FixedQueryModel(config),
        config,
        family_recipe(tokens),
        seed,
        command,
    )


@app.command()
def kuramoto(
    out: Folder,
    enwik8: Enwik8,
    seed: Seed = 0,
    tokens: Annotated[
        int, typer.Option(min=2048, max=MOST_BYTES, help="Bytes seen.")
    ] = KURAMOTO_BYTES,
    n_osc: Annotated[int, typer.Option(min=1, help="Phases per token.")] = 64,
    layers: Annotated[int, typer.Option(min=1, help="Layers.")] = 4,
    heads: Annotated[
        int, typer.Option(min=1, help="Attention matrices per layer; 1 as published.")
    ] = 4,
    bound: Annotated[
        Literal["coord", "norm", "unit"], typer.Option(help="Bound of an update.")
    ] = "coord",
    value: Annotated[
        Literal["raw", "linear"], typer.Option(help="What is averaged.")
    ] = "raw",
    gates: Annotated[bool, typer.Option(help="Metric that depends on tokens.")] = True,
    ffn: Annotated[
        Literal["raw", "lift", "off"], typer.Option(help="Feed-forward block.")
    ] = "raw",
    update: Annotated[
        Literal["map", "flow"], typer.Option(help="Published step, or a dwell.")
    ] = "map",
    phase_convention: Annotated[
        Literal["wrapped", "unwrapped"], typer.Option(help="Phases modulo 2 pi.")
    ] = "wrapped",
    learning_rate: Annotated[float, typer.Option(help="Peak rate.")] = 1e-2,
) -> None:
    """Train one Kuramoto attention byte model."""
    from oscsim.train.kuramoto import KuramotoModel

    config = kuramoto_config(
        n_osc,
        layers,
        n_heads=heads,
        bound=bound,
        value=value,
        gates=gates,
        ffn=ffn,
        update=update,
        phase_convention=phase_convention,
    )
    command = (
        f"python -m oscsim.train kuramoto --enwik8 enwik8 --seed {seed} --tokens "
        f"{tokens} --n-osc {n_osc} --layers {layers} --heads {heads} --bound {bound} "
        f"--value {value} "
        f"--{'' if gates else 'no-'}gates --ffn {ffn} --update {update} "
        f"--phase-convention "
        f"{phase_convention} --learning-rate {learning_rate:g}"
    )
    recipe = kuramoto_recipe(tokens, learning_rate)
    _train(out, enwik8, lambda: KuramotoModel(config), config, recipe, seed, command)


@app.command()
def transformer(
    out: Folder,
    enwik8: Enwik8,
    seed: Seed = 0,
    tokens: Annotated[
        int, typer.Option(min=2048, max=MOST_BYTES, help="Bytes seen.")
    ] = KURAMOTO_BYTES,
    d_model: Annotated[int, typer.Option(min=8, help="Width.")] = 64,
    layers: Annotated[int, typer.Option(min=1, help="Layers.")] = 5,
    d_ff: Annotated[int, typer.Option(min=1, help="Feed-forward width.")] = 153,
    learning_rate: Annotated[float, typer.Option(help="Peak rate.")] = 5e-3,
) -> None:
    """Train the transformer that Kuramoto attention is compared with."""
    from oscsim.train.transformer import TransformerModel

    config = checked_config(
        "transformer",
        task="bytes",
        vocab_size=256,
        d_model=d_model,
        n_layers=layers,
        n_heads=4,
        d_ff=d_ff,
        max_len=128,
    )
    command = (
        f"python -m oscsim.train transformer --enwik8 enwik8 --seed {seed} --tokens "
        f"{tokens} --d-model {d_model} --layers {layers} --d-ff {d_ff} "
        f"--learning-rate {learning_rate:g}"
    )
    recipe = kuramoto_recipe(tokens, learning_rate)
    _train(
        out,
        enwik8,
        lambda: TransformerModel(cast("TransformerConfig", config)),
        config,
        recipe,
        seed,
        command,
    )


def _train(
    out: Path,
    enwik8: Path,
    make_model: Callable[[], Any],
    config: ModelConfig,
    recipe: "LanguageRecipe",
    seed: int,
    command: str,
) -> None:
    from oscsim.train.language_card import LanguageTraining, describe
    from oscsim.train.language_fit import fitted
    from oscsim.train.publish import versions, write_checkpoint

    named = out if out.name not in ("", "..") else out.resolve()
    with new_checkpoint(out), writable(named.parent):
        started_with = versions()
        state = named.with_name(f"{named.name}.partial")
        identity = config.model_dump(mode="json")
        found = fitted(named.name, enwik8, make_model, recipe, seed, identity, state)
        training = LanguageTraining(
            task="bytes",
            what=describe(config),
            command=command,
            seed=seed,
            recipe=recipe,
            history=found.history,
            parameters=found.parameters,
            tokens=recipe.tokens,
            validation_bpc=found.validation_bpc,
            test_bpc=found.test_bpc,
            versions=started_with,
        )
        write_checkpoint(out, found.model, training)
        state.unlink(missing_ok=True)
    typer.echo(f"{out}: {training.validation_bpc:.4f} bits per byte on validation")
