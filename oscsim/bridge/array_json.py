"""Bounds, sweeps and published machines as plain data for JSON."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from oscsim.bridge.array import OnArray
from oscsim.bridge.phase_times import PHASE_TIME_NOTES, PhaseSweep, PhaseTimes
from oscsim.energy.timeline import Timeline
from oscsim.energy.validation import CAVEAT, ChipCheck


def array_json(found: OnArray | None) -> dict[str, Any]:
    """Return bounds of physics and sweeps; seconds are of a sweep.

    Empty lists where nothing settles on a device.
    """
    if found is None:
        return {"limits": [], "sweeps": []}
    limits = [asdict(limit) | {"factor": limit.factor} for limit in found.limits]
    sweeps = [_sweep(one) for one in found.timed]
    if found.windows is not None:
        sweeps = [_window(one, found.windows) for one in found.windows.sweeps]
    return {"limits": limits, "sweeps": sweeps}


def _sweep(one: Timeline) -> dict[str, Any]:
    mapping = one.mapping
    return {
        "sweep": "decode" if mapping.is_decoding else "prefill",
        "batch": mapping.batch,
        "context": mapping.model.context,
        "passes": mapping.passes,
        "seconds": dict(one.seconds),
        "latency_s": one.latency_s,
        "tokens_per_s": one.tokens_per_s,
        "oscillator_use": mapping.oscillator_use,
        "coupler_use": mapping.coupler_use,
        "coupling_writes_per_token": mapping.writes_per_token,
        "lifetime_s": one.lifetime_s if math.isfinite(one.lifetime_s) else None,
        "notes": list(one.notes),
    }


def _window(one: PhaseSweep, windows: PhaseTimes) -> dict[str, Any]:
    return {
        "sweep": "decode" if one.is_decoding else "prefill",
        "batch": 1,
        "context": windows.context,
        "seconds": dict(one.seconds),
        "latency_s": one.latency_s,
        "tokens_per_s": one.tokens_per_s,
        "coupling_writes_per_token": windows.coupling_writes,
        "notes": list(PHASE_TIME_NOTES),
    }


def validation_json(checks: Iterable[ChipCheck]) -> dict[str, Any]:
    """Return predictions beside published figures, each named as what it is."""
    rows = [
        {
            "machine": check.chip,
            "figure": check.quantity,
            "unit": check.unit,
            "model": check.predicted,
            "model_p10_p50_p90": None if check.spread is None else list(check.spread),
            "published": check.published,
            "published_is_upper_bound": check.is_bound,
            "ratio": check.ratio,
            "is_beyond_3": check.is_beyond,
            "cause": check.cause,
            "note": check.note,
            "not_verified": check.is_from_memory,
            "components": list(check.components),
            "sources": list(check.sources),
        }
        for check in checks
    ]
    return {"checks": rows, "caveat": f"this {CAVEAT}"}
