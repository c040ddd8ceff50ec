"""Bounds, sweeps and published machines as plain data for JSON."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from oscsim.bridge.array import OnArray
from oscsim.bridge.phase_times import PHASE_TIME_NOTES, PhaseSweep, PhaseTimes
from oscsim.energy.area import Area
from oscsim.energy.chip_check import CAVEAT, ChipCheck, tally
from oscsim.energy.overlap import OVERLAP, overlap
from oscsim.energy.timeline import Timeline


def array_json(found: OnArray | None) -> dict[str, Any]:
    """Return bounds of physics, sweeps and area; seconds are of a sweep.

    Empty lists and no area where nothing settles on a device.
    """
    if found is None:
        return {
            "limits": [],
            "why_no_phase_bound": "",
            "sweeps": [],
            "area": None,
        }
    limits = [asdict(limit) | {"factor": limit.factor} for limit in found.limits]
    mm2 = 0.0 if found.area is None else found.area.nominal_mm2
    timed = zip(found.timed, found.write_j, strict=True)
    sweeps = [_sweep(one, joules, mm2) for one, joules in timed]
    if found.windows is not None:
        sweeps = [_window(one, found.windows) for one in found.windows.sweeps]
    area = None if found.area is None else _area(found.area)
    return {
        "limits": limits,
        "why_no_phase_bound": found.unbound,
        "sweeps": sweeps,
        "area": area,
    }


def _area(found: Area) -> dict[str, Any]:
    return {
        "mm2": found.spread_mm2._asdict() | {"nominal": found.nominal_mm2},
        "coverage": found.coverage,
        "is_lower_bound": not found.too_large,
        "parts": [
            {
                "name": part.name,
                "number": part.number,
                "components": list(part.components),
                "nominal_mm2": part.nominal_mm2,
                "mm2": None if part.spread_mm2 is None else part.spread_mm2._asdict(),
            }
            for part in found.parts
        ],
        "notes": list(found.notes),
        "components": [part.model_dump() for part in found.components],
    }


def _sweep(one: Timeline, write_j: float, mm2: float) -> dict[str, Any]:
    mapping, stream = one.mapping, overlap(one)
    return {
        "sweep": "decode" if mapping.is_decoding else "prefill",
        "batch": mapping.batch,
        "context": mapping.model.context,
        "passes": mapping.passes,
        "seconds": dict(one.seconds),
        "latency_s": one.latency_s,
        "tokens_per_s": one.tokens_per_s,
        "overlapped": {
            "busy_s": dict(stream.busy),
            "bottleneck": stream.bottleneck,
            "interval_s": stream.interval_s,
            "tokens_per_s": stream.tokens_per_s,
            "sweeps_in_flight": stream.in_flight,
            "is_alone": stream.is_alone,
            "note": OVERLAP,
        },
        "mm2_s_per_token": mm2 / one.tokens_per_s if mm2 else None,
        "macs_per_s": one.macs_per_s,
        "ops_per_s": one.ops_per_s,
        "oscillator_use": mapping.oscillator_use,
        "coupler_use": mapping.coupler_use,
        "coupling_writes_per_token": mapping.writes_per_token,
        "anchor_words_per_token": mapping.anchor_words / mapping.tokens,
        "write_j_per_token": write_j,
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
    checks = tuple(checks)
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
            "kind": check.kind,
            "shows": check.shows,
            "not_verified": check.is_from_memory,
            "components": list(check.components),
            "sources": list(check.sources),
        }
        for check in checks
    ]
    return {"checks": rows, "tally": tally(checks), "caveat": f"this {CAVEAT}"}
