"""How sure a comparison is: sensitivities, extremes and price curves of a ratio."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from oscsim.bridge.cost import attention_j
from oscsim.bridge.decoding import decoding_json
from oscsim.bridge.estimate import Estimate, Scenario
from oscsim.energy.baselines import Shape
from oscsim.energy.ledger import TOTALS, Ledger, Range, account
from oscsim.energy.uncertainty import (
    Case,
    Curve,
    Extremes,
    Sensitivity,
    attention_case,
    extremes,
    price_curve,
    sensitivities,
    share_won,
)

__all__ = ["Judgement", "Reading", "attention_case", "estimate_json", "judge"]

POINTS = 15
BELOW, ABOVE = 30.0, 10.0
"""Curves run from the nominal price over the first to it times the second."""


@dataclass(frozen=True)
class Reading:
    """A ratio, and what it hangs on.

    Attributes
    ----------
    ratio : Range
        p10, p50 and p90: an assumption range.
    nominal : float
        With every component at its stated value.
    won : float
        Share of the draws in which the subject costs less.
    sensitivities : tuple of Sensitivity
        The largest swing first.
    extremes : Extremes
        Every cause at an end of its range.
    exponential, mac : Curve
        The ratio against the price of a digital exponential and of a digital
        multiply-accumulate.
    """

    ratio: Range
    nominal: float
    won: float
    sensitivities: tuple[Sensitivity, ...]
    extremes: Extremes
    exponential: Curve
    mac: Curve


@dataclass(frozen=True)
class Judgement:
    """One subject beside one rival.

    Attributes
    ----------
    subject, rival : Scenario
        Ratios are the first's joules over the second's.
    system, attention : Reading
        Of the system total, which is the headline; of the attention stage
        alone with its cache, without overheads.
    """

    subject: Scenario
    rival: Scenario
    system: Reading
    attention: Reading


def judge(estimate: Estimate, *, n_draws: int = 256) -> tuple[Judgement, ...]:
    """Look into the comparisons of an estimate.

    Parameters
    ----------
    estimate : Estimate
        From `oscsim.bridge.estimate.estimate`.
    n_draws : int
        Draws at each point of a curve.
    """
    return tuple(
        Judgement(
            subject,
            rival,
            _reading(estimate, subject.case, rival.case, n_draws),
            _reading(
                estimate,
                attention_case(subject.case),
                attention_case(rival.case),
                n_draws,
            ),
        )
        for subject, rival in estimate.pairs
    )


def _reading(estimate: Estimate, subject: Case, rival: Case, n_draws: int) -> Reading:
    library, seed = estimate.library, estimate.seed

    def curve(component: str) -> Curve:
        value = library[component].value
        values = value * np.geomspace(1 / BELOW, ABOVE, POINTS)
        return price_curve(
            subject, rival, library, component, values, n_draws=n_draws, seed=seed
        )

    mine, other = (
        account(*case, library, estimate.n_draws, seed) for case in (subject, rival)
    )
    node = f"dig{estimate.node_nm}"
    return Reading(
        ratio=mine.ratio(other),
        nominal=mine.nominal_j() / other.nominal_j(),
        won=share_won(mine, other),
        sensitivities=sensitivities(
            subject, rival, library, n_draws=estimate.n_draws, seed=seed
        ),
        extremes=extremes(subject, rival, library),
        exponential=curve(f"{node}.exp"),
        mac=curve(f"{node}.int8_mac"),
    )


def estimate_json(
    estimate: Estimate, judged: tuple[Judgement, ...] = ()
) -> dict[str, Any]:
    """Return an estimate as plain data; energies in J per token, times in s."""
    device = estimate.device
    return {
        "title": estimate.title,
        "shape": _sizes(estimate),
        "device": None if device is None else device.name,
        "node_nm": estimate.node_nm,
        "seed": estimate.seed,
        "n_draws": estimate.n_draws,
        "latency_s_per_token": estimate.latency_s,
        "ranges": "p10..p90 of the priors of the components: assumption ranges",
        "scenarios": [_scenario(estimate, one) for one in estimate.scenarios],
        "decoding": decoding_json(estimate.steps),
        "judgements": [_judgement(one) for one in judged],
        "notes": list(estimate.notes),
        "components": [part.model_dump() for part in estimate.components],
    }


def _sizes(estimate: Estimate) -> dict[str, Any]:
    """Return sizes; what only fixed-query oscillators have is None elsewhere."""
    shape = estimate.shape
    settles = isinstance(shape, Shape) and estimate.device is not None
    family = "fixed-query" if isinstance(shape, Shape) else shape.config.family
    return {
        "family": family,
        "layers": shape.n_layers,
        "heads": shape.n_heads,
        "d_model": shape.d_model,
        "d_ff": shape.d_ff,
        **{
            name: getattr(shape, name) if settles else None
            for name in ("d_osc", "coupling", "power")
        },
        "causal": shape.causal,
        "outputs": shape.n_outputs,
        "items": len(shape.lengths),
        "tokens": shape.rows,
    }


def _scenario(estimate: Estimate, one: Scenario) -> dict[str, Any]:
    ratios = {}
    for k, subject in enumerate(estimate.subjects):
        ratio, won = estimate.judged(one, k)
        ratios[subject.name] = ratio._asdict() | {"share_won": won}
    ledger = one.ledger
    return {
        "name": one.name,
        "remark": one.remark,
        "accuracy": one.accuracy,
        "reuse": one.reuse,
        "j_per_token": {
            total: ledger.range_j(total)._asdict()
            | {"nominal": ledger.nominal_j(total)}
            for total in TOTALS
        },
        "attention_nominal_j": attention_j(ledger),
        "by_phase_and_action_j": _nested(ledger),
        "by_component_j": ledger.by_component,
        "untrusted_share": ledger.untrusted_share,
        "banner": ledger.banner or None,
        "notes": list(ledger.notes),
        "subject_over_this": ratios,
    }


def _nested(ledger: Ledger) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (phase, action), joules in ledger.joules.items():
        found.setdefault(phase, {})[action] = joules
    return found


def _judgement(one: Judgement) -> dict[str, Any]:
    return {
        "subject": one.subject.name,
        "rival": one.rival.name,
        "system": _read(one.system),
        "attention": _read(one.attention),
    }


def _read(one: Reading) -> dict[str, Any]:
    return {
        "ratio": one.ratio._asdict() | {"nominal": one.nominal},
        "share_won": one.won,
        "sensitivities": [s._asdict() for s in one.sensitivities],
        "worst": one.extremes.worst,
        "best": one.extremes.best,
        "worst_ends": dict(one.extremes.worst_ends),
        "curves": {
            name: {
                "component": curve.component,
                "values": curve.values.tolist(),
                "nominal": curve.nominal.tolist(),
                "p10": curve.low.tolist(),
                "p90": curve.high.tolist(),
                "crossings": list(curve.crossings),
            }
            for name, curve in (("exponential", one.exponential), ("mac", one.mac))
        },
    }
