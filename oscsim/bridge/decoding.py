"""Joules of decoding token by token, where all anchors run for every query."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from oscsim.bridge.scenario import Pricer, Scenario, on_substrate
from oscsim.energy.baselines import (
    Shape,
    digital_oscillator,
    digital_oscillator_factored,
    digital_softmax,
)
from oscsim.energy.factoring import Factoring
from oscsim.energy.ledger import Range
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import SAME, SOFTMAX, Rival
from oscsim.energy.uncertainty import share_won
from oscsim.substrate.device import Device


class Against(NamedTuple):
    """A subject beside one rival.

    Attributes
    ----------
    rival : Scenario
        What it is judged by.
    system, attention : Range
        The subject's joules over the rival's: system totals, attention stages.
    system_won, attention_won : float
        Share of the draws in which the subject costs less.
    """

    rival: Scenario
    system: Range
    system_won: float
    attention: Range
    attention_won: float


@dataclass(frozen=True)
class Step:
    """One token decoded, at some context, memory read once per use.

    Attributes
    ----------
    name : str
        At which context.
    context : float
        Tokens that the query sees, on the average.
    subject : Scenario
        The substrate at its cheaper read-out, factored or not.
    against : tuple of Against
        Its softmax twin, and the same model done digitally, as cheaply; of
        Kuramoto attention the transformer, and the same model.
    """

    name: str
    context: float
    subject: Scenario
    against: tuple[Against, ...]


def decoding_steps(
    shape: Shape,
    device: Device,
    factors: Factoring,
    prices: Prices,
    digital: Prices,
    pricer: Pricer,
    *,
    unit_anchors: bool,
) -> tuple[Step, ...]:
    """Price the mean step over the items of a causal model, and one at full context.

    One query a head and sequence, so every anchor that it sees is on for it
    alone: in a prefill the anchors serve all queries of a pass. Counts of a step
    are those of `oscsim.energy.mapping.map_attention` with ``is_decoding``.

    Parameters
    ----------
    shape : Shape
        The model and the lengths of its items; every position gives an output.
    device : Device
        Where oscillators settle.
    factors : Factoring
        Which sums factor.
    prices, digital : Prices
        Of the device with the logic beside it, and of that logic alone.
    pricer : Pricer
        Library and draws.
    unit_anchors : bool
        As `oscsim.energy.substrate.substrate`.

    Returns
    -------
    tuple of Step
        Empty for a model that is not causal.
    """
    if not shape.causal:
        return ()
    every = [k for n in shape.lengths for k in range(1, n + 1)]
    found = []
    for name, lengths in (
        ("mean of all steps", every),
        ("full context", [max(shape.lengths)]),
    ):
        step = replace(shape, lengths=lengths, head_rows=None, is_decoding=True)
        mine = on_substrate(
            step, device, factors, prices, 1.0, unit_anchors=unit_anchors
        )
        same = [
            Rival(
                "same oscillator model, digital",
                digital_oscillator(step),
                digital,
                SAME,
            )
        ]
        if factors.readout:
            folded = digital_oscillator_factored(step)
            label = "same oscillator model, digital, read-out factored"
            same.append(Rival(label, folded, digital, SAME))
        softmax = Rival("digital softmax", digital_softmax(step), digital, SOFTMAX)
        subject = cheapest([pricer.price(one, 1.0) for one in mine])
        theirs = (
            pricer.price(softmax, 1.0),
            cheapest([pricer.price(one, 1.0) for one in same]),
        )
        beside = tuple(against(subject, rival, pricer) for rival in theirs)
        found.append(Step(name, sum(lengths) / len(lengths), subject, beside))
    return tuple(found)


def cheapest(found: list[Scenario] | tuple[Scenario, ...]) -> Scenario:
    """Return the scenario of the smallest nominal system total."""
    return min(found, key=lambda one: one.ledger.nominal_j())


def decoding_json(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Return decoding steps as plain data; energies in J per token."""
    return [
        {
            "step": one.name,
            "context": one.context,
            "subject": one.subject.name,
            "j_per_token": _joules(one.subject),
            "rivals": [
                {
                    "name": found.rival.name,
                    "j_per_token": _joules(found.rival),
                    "system": found.system._asdict() | {"share_won": found.system_won},
                    "attention": found.attention._asdict()
                    | {"share_won": found.attention_won},
                }
                for found in one.against
            ],
        }
        for one in steps
    ]


def _joules(one: Scenario) -> dict[str, float]:
    return one.ledger.range_j()._asdict() | {"nominal": one.ledger.nominal_j()}


def against(subject: Scenario, rival: Scenario, pricer: Pricer) -> Against:
    """Return a subject beside one rival, with paired draws."""
    mine, other = (pricer.attention(one) for one in (subject, rival))
    return Against(
        rival,
        subject.ledger.ratio(rival.ledger),
        share_won(subject.ledger, rival.ledger),
        mine.ratio(other),
        share_won(mine, other),
    )
