"""The pages that go with trained language models: a card each and a table of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oscsim.models.config import FixedQueryConfig
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.train.language import LanguageRecipe, Point

LanguageConfig = FixedQueryConfig | KuramotoConfig | TransformerConfig

_PAPERS = {
    "fixed-query": "Pasqualetti & Guo (2026), *Attention by synchronization*, "
    "arXiv:2606.12059",
    "kuramoto": "Nunley (2026), arXiv:2606.11585",
    "transformer": "the baseline in Nunley (2026), arXiv:2606.11585",
}

NOTICE = """Text: the first 100,000,000 bytes of an English Wikipedia dump of 2006 \
(enwik8, md5
a1fa5ffddb56f4953e226637dabbb36a), by Wikipedia's contributors, CC BY-SA 3.0."""


@dataclass(frozen=True)
class LanguageTraining:
    """How a language model came about and what it scores.

    Attributes
    ----------
    task : str
        ``"bytes"``.
    what : str
        The model in words.
    command : str
        What trains it again.
    seed : int
        Seed of initialisation and windows.
    recipe : LanguageRecipe
        Budget and optimiser.
    history : tuple of Point
        The measured curve.
    parameters, tokens : int
        Size, and bytes seen.
    validation_bpc, test_bpc : float
        Bits per byte on the first 256 KiB of the two splits.
    versions : dict of str
        Commit, and versions of Python and of the libraries.
    """

    task: str
    what: str
    command: str
    seed: int
    recipe: LanguageRecipe
    history: tuple[Point, ...]
    parameters: int
    tokens: int
    validation_bpc: float
    test_bpc: float
    versions: dict[str, str]


def describe(config: LanguageConfig) -> str:
    """Return a model's family and what distinguishes it, in one line."""
    if isinstance(config, KuramotoConfig):
        parts = [f"k {config.n_osc}", f"{config.n_layers} layers", config.bound]
        parts += [f"{config.n_heads} head" + "s" * (config.n_heads > 1)]
        parts += [] if config.update == "map" else ["trained as a flow"]
        parts += [] if config.value == "raw" else ["learned values"]
        parts += [] if config.gates else ["no gates"]
        parts += [] if config.ffn == "raw" else [f"feed-forward {config.ffn}"]
        return f"Kuramoto attention ({', '.join(parts)}, {config.phase_convention})"
    if isinstance(config, TransformerConfig):
        return (
            f"Transformer (rotary, SwiGLU; width {config.d_model}, "
            f"{config.n_layers} layers)"
        )
    size = f"width {config.d_model}, {config.n_layers} layers"
    if config.attention == "softmax":
        return f"Softmax twin of fixed-query attention ({size})"
    return (
        f"Fixed-query oscillator attention (d_osc {config.d_osc}, p = {config.p}, "
        f"{config.coupling}; {size})"
    )


def language_card(name: str, config: LanguageConfig, training: LanguageTraining) -> str:
    """Return the page of one language model, Markdown."""
    recipe = training.recipe
    versions = ", ".join(f"{key} {value}" for key, value in training.versions.items())
    points = "\n".join(
        f"| {p.step:,} | {p.tokens:,} | {p.train_bpc:.4f} | {p.validation_bpc:.4f} |"
        for p in training.history
    )
    return f"""---
license: mit
tags: [oscillator-attention, language-model, enwik8]
---

# {name}

{training.what}, {training.parameters:,} parameters. Predicts the next byte of
English Wikipedia. Model: {_PAPERS[config.family]}.
The weights are this project's own.

| first 256 KiB of | bits per byte | perplexity per byte |
|---|---|---|
| validation (from byte 90,000,000) | {training.validation_bpc:.4f} | \
{2**training.validation_bpc:.3f} |
| test (from byte 95,000,000) | {training.test_bpc:.4f} | {2**training.test_bpc:.3f} |

Windows of {recipe.context} bytes that follow each other; every byte but the first is
predicted once, from the bytes before it in its own window.

## Training

- {training.tokens:,} bytes in windows drawn uniformly from the first 90,000,000 of
  enwik8: {recipe.steps:,} steps of {recipe.batch} windows of {recipe.context}. All
  contenders of a table have this budget, and the same windows for the same seed.
- AdamW (.9, .98), learning rate {recipe.learning_rate:g} after {recipe.warmup} steps
  of warm-up, falling along a cosine to {recipe.final:g} of it, weight decay
  {recipe.weight_decay:g}, gradient norm clipped at {recipe.clip:g}, no dropout,
  float32, last step kept. Seed {training.seed}.
- Versions: {versions}.
- Reproduce, bit for bit on one machine and torch version:

      {training.command} --out {name}

{NOTICE}

| step | bytes seen | training (bits per byte) | validation, first 64 KiB |
|---|---|---|---|
{points}
"""


def language_index(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of several language models, Markdown.

    Parameters
    ----------
    records : mapping
        Content of ``training.json`` by checkpoint name.
    """
    rows = "\n".join(
        f"| `{name}` | {r['what']} | {r['parameters']:,} | {r['seed']} "
        f"| {r['tokens'] / 1e6:.1f} | {r['validation_bpc']:.4f} "
        f"| {2 ** r['validation_bpc']:.3f} | {r['test_bpc']:.4f} |"
        for name, r in records.items()
    )
    return f"""
## Language models

Next byte of English Wikipedia, trained from scratch by this project. Compare only
models of one budget and one context. Bits per byte on the first 256 KiB of
validation and test, windows of the trained context that follow each other.

| checkpoint | model | parameters | seed | bytes seen (millions) | validation (bits) | \
perplexity per byte | test (bits) |
|---|---|---|---|---|---|---|---|
{rows}

{NOTICE}
"""
