"""The pages that go with trained checkpoints: a card each and a table of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from oscsim.train.fit import Epoch, Recipe

_PAPER = "Pasqualetti & Guo (2026), *Attention by synchronization*, arXiv:2606.12059"

_WHAT = {
    "osc": "Fixed-query oscillator attention (d_osc 2, p = 1, softplus)",
    "softmax": "The softmax twin of fixed-query oscillator attention",
}


@dataclass(frozen=True)
class Training:
    """How a checkpoint came about and what it scores.

    Attributes
    ----------
    kind : str
        ``"osc"`` or ``"softmax"``.
    seed : int
        Seed of initialisation, order and dropout.
    recipe : Recipe
        Optimiser and schedule.
    history : tuple of Epoch
        One entry an epoch; the last is the checkpoint's score.
    parameters, sentences, tokens : int
        Size of the model and of the training set; ids seen over all epochs.
    ceiling, hard_ceiling : float
        Expected accuracy of a reader who knows the grammar, on the
        validation set and on its hard sentences.
    versions : dict of str
        Commit, and versions of Python and of the libraries.
    """

    kind: str
    seed: int
    recipe: Recipe
    history: tuple[Epoch, ...]
    parameters: int
    sentences: int
    tokens: int
    ceiling: float
    hard_ceiling: float
    versions: dict[str, str]


def card(name: str, training: Training) -> str:
    """Return the page of one checkpoint, Markdown."""
    recipe, last = training.recipe, training.history[-1]
    versions = ", ".join(f"{key} {value}" for key, value in training.versions.items())
    epochs = "\n".join(
        f"| {i} | {e.train_loss:.4f} | {e.validation_loss:.4f} "
        f"| {_percent(e.hard_accuracy)} | {_percent(e.accuracy)} |"
        for i, e in enumerate(training.history, start=1)
    )
    return f"""---
license: mit
tags: [oscillator-attention, subject-verb-agreement]
---

# {name}

{_WHAT[training.kind]}, {training.parameters:,} parameters.
Does the verb agree with the subject? One logit, read at the verb; above 0 means
that it agrees. Model and recipe: {_PAPER} (config G).
The weights are this project's own.

| validation (4,000 sentences, seed 1) | accuracy (%) | ceiling (%) |
|---|---|---|
| hard | {_percent(last.hard_accuracy)} | {_percent(training.hard_ceiling)} |
| all | {_percent(last.accuracy)} | {_percent(training.ceiling)} |

The ceiling is the expected score of a reader who knows the grammar and has no
preference where *fish* and *deer* hide their number. On hard sentences a model can
pass it, by luck or by giving them the number that the other noun has not.

## Training

- Data: {training.sentences:,} generated sentences (seed 0), epochs: {recipe.epochs},
  tokens seen: {training.tokens:,}.
- AdamW, learning rate {recipe.learning_rate:g} falling to 0 along a cosine by step,
  weight decay {recipe.weight_decay:g}, batch {recipe.batch}, gradient norm clipped at
  {recipe.clip:g}, dropout {recipe.dropout:g}, binary cross-entropy at the verb, last
  epoch kept.
- Padded positions are left out of the read-out. Seed {training.seed}.
- Versions: {versions}.
- Reproduce, bit for bit on one machine and torch version:

      python -m oscsim.train sva --kind {training.kind} --seed {training.seed} \
--epochs {recipe.epochs} --out {name}

| epoch | training loss | validation loss | hard (%) | all (%) |
|---|---|---|---|---|
{epochs}
"""


def index_page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of several checkpoints, Markdown.

    Parameters
    ----------
    records : mapping
        Content of ``training.json`` by checkpoint name.
    """
    rows = "\n".join(
        f"| `{name}` | {_attention(record['kind'])} | {record['seed']} "
        f"| {_percent(record['history'][-1]['hard_accuracy'])} "
        f"| {_percent(record['history'][-1]['accuracy'])} |"
        for name, record in records.items()
    )
    first = next(iter(records.values()))
    return f"""# Trained checkpoints

Subject-verb agreement: the smallest published model (config G: d_model 32, 1 head,
1 layer, d_ff 64, d_osc 2) and its softmax twin, trained from scratch by this project
on sentences that it generates. The published weights are not included. Padded
positions are left out of the read-out (`mask_readout` true).

| checkpoint | attention | seed | hard accuracy (%) | accuracy (%) |
|---|---|---|---|---|
{rows}

Mean and standard deviation over seeds (%):

| attention | seeds | hard | all |
|---|---|---|---|
{_summary(records, "osc")}
{_summary(records, "softmax")}

Measured on the 4,000 sentences of `data/datasets/sva/validation.jsonl`; *hard* are
those with a second noun of the other number before the verb. A reader who knows the
grammar scores {_percent(first["hard_ceiling"])} on hard and \
{_percent(first["ceiling"])} on all sentences on average, because
*fish* and *deer* do not show their number. Every seed is kept, good or bad: the
published softmax runs spread as widely (92.11 ± 7.87 on hard sentences over five
seeds, oscillator 97.38 ± 0.33, on other sentences of the same grammar).

Each folder holds `model.safetensors` (float32), `config.json`, `training.json`
(recipe, loss by epoch, versions) and a card with the command that reproduces it.
This page: `python -m oscsim.train index data/checkpoints`.

Source: weights and data are this project's own, MIT licence. Model and recipe:
{_PAPER}.
"""


def _summary(records: Mapping[str, Mapping[str, Any]], kind: str) -> str:
    last = [r["history"][-1] for r in records.values() if r["kind"] == kind]
    cells = (
        _spread([epoch[key] for epoch in last]) for key in ("hard_accuracy", "accuracy")
    )
    return f"| {_attention(kind)} | {len(last)} | {' | '.join(cells)} |"


def _spread(values: list[float]) -> str:
    if len(values) < 2:
        return "-"
    return f"{_percent(mean(values))} ± {_percent(stdev(values))}"


def _attention(kind: str) -> str:
    return "oscillator" if kind == "osc" else kind


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"
