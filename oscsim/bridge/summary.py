"""The machine-readable result of a run; scripts rely on these names."""

import math
from typing import Any

from oscsim.bridge.compare import AnyComparison, Comparison
from oscsim.bridge.cost import Cost, attention_j, why_unpriced
from oscsim.bridge.infer import AnyRun, Run
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.language_compare import LanguageComparison
from oscsim.bridge.scope import modelled, remarks
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.tally import SettleTally, histogram_quantile

LOADED = ("couplings", "clipped", "zeroed")

ENERGY_KEYS = (
    "p10",
    "p50",
    "p90",
    "core",
    "converters",
    "system",
    "attention_nominal",
)


def summary(
    run: AnyRun, comparison: AnyComparison, cost: Cost | None
) -> dict[str, Any]:
    """Return a run as plain data, ready for JSON.

    Parameters
    ----------
    run : Run or LanguageRun
        What was run.
    comparison : Comparison or LanguageComparison
        The run beside the digital model.
    cost : Cost or None
        Joules and seconds; None gives nulls.

    Returns
    -------
    dict
        Accuracies are fractions 0..1, energies joules, times seconds.
    """
    if isinstance(run, LanguageRun) and isinstance(comparison, LanguageComparison):
        found = _text(run, comparison)
    elif isinstance(run, Run) and isinstance(comparison, Comparison):
        found = _sentences(run, comparison)
    else:
        raise TypeError("the comparison is not of this run")
    return _setting(run) | found | _hardware(run, comparison.tally, cost)


def _setting(run: AnyRun) -> dict[str, Any]:
    setting = run.setting
    chips, repeats = run.outputs.shape[:2]
    return {
        "checkpoint": run.checkpoint.name,
        "family": run.checkpoint.config.family,
        "device": setting.device.name,
        "changes": dict(setting.device.changes),
        "rung": setting.rung,
        "seed": setting.seed,
        "perturbation": (
            None if setting.perturbation is None else str(setting.perturbation)
        ),
        "readout": setting.readout,
        "update": setting.update,
        "n_tokens": int(run.existing_lengths.sum()),
        "chips": chips,
        "repeats": repeats,
    }


def _sentences(run: Run, comparison: Comparison) -> dict[str, Any]:
    return {
        "metric": comparison.metric,
        "n_items": comparison.n_items,
        "digital": comparison.digital,
        "substrate": comparison.substrate,
        "ci95": None if comparison.ci95 is None else list(comparison.ci95),
        "per_chip": [float(value) for value in comparison.per_chip],
        "difference": comparison.difference,
        "difference_standard_error": _finite(comparison.difference_error),
        "n_items_all": len(run.data),
        "digital_all": comparison.digital_all,
        "substrate_all": comparison.substrate_all,
        "ci95_all": None if comparison.ci95_all is None else list(comparison.ci95_all),
        "difference_all": comparison.difference_all,
        "difference_all_standard_error": _finite(comparison.difference_all_error),
        "agreement": comparison.agreement,
        "max_abs_error": comparison.max_abs_error,
    }


def _text(run: LanguageRun, comparison: LanguageComparison) -> dict[str, Any]:
    c, data = comparison, run.data
    return {
        "metric": c.metric,
        "data": {
            "path": data.path,
            "first_byte": data.first,
            "n_bytes": data.n_bytes,
            "md5": data.md5,
            "sha256": data.sha256,
        },
        "n_windows": c.n_windows,
        "context": data.context,
        "n_items": c.n_items,
        "digital": c.digital,
        "digital_standard_error": _finite(c.digital_error),
        "substrate": c.substrate,
        "ci95": None if c.ci95 is None else list(c.ci95),
        "per_chip": [float(value) for value in c.per_chip],
        "difference": c.difference,
        "difference_standard_error": _finite(c.difference_error),
        "digital_perplexity": _finite(c.digital_perplexity),
        "substrate_perplexity": _finite(c.perplexity),
        "agreement": c.agreement,
        "max_abs_error": c.max_abs_error,
    }


def _hardware(run: AnyRun, tally: SettleTally, cost: Cost | None) -> dict[str, Any]:
    on, off = modelled(run.setting)
    return {
        "oscillators": tally.oscillators,
        "undriven": tally.undriven,
        "unsettled": tally.unsettled,
        "read_error_rad": {
            "p50": _finite(histogram_quantile(tally.error_histogram, 0.5)),
            "p90": _finite(histogram_quantile(tally.error_histogram, 0.9)),
        },
        "unlocked": tally.unlocked,
        "dwells_cut": tally.cut,
        "strongly_driven": tally.strongly_driven,
        "couplings": tally.couplings,
        "couplings_clipped": tally.clipped,
        "couplings_zeroed": tally.zeroed,
        "layers": _layers(run, tally),
        "readout_clipped": tally.adc_clipped,
        "energy_j_per_token": _energy(cost),
        "rivals_j_per_token": _rivals(cost),
        "latency_s_per_token": None if cost is None else cost.latency_s,
        "nodes": None if cost is None else cost.pairing,
        "modelled": on,
        "not_modelled": off,
        "warnings": warnings_of(run, cost),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _layers(run: AnyRun, tally: SettleTally) -> list[dict[str, Any]]:
    """Return how every layer was scaled into its range, and what that lost."""
    if not tally.by_layer:
        return []
    config = run.checkpoint.config
    if isinstance(config, KuramotoConfig):
        return [
            {
                **{name: tally.by_layer[n, name] for name in LOADED},
                "map_update_rms_rad": tally.rms(n, "moved"),
                "gap_to_map_rms_rad": tally.rms(n, "gap"),
            }
            for n in range(config.n_layers)
        ]
    return [
        {
            "full_scale": [float(value) for value in full_scale],
            **{name: tally.by_layer[n, name] for name in LOADED},
        }
        for n, full_scale in enumerate(run.full_scale)
    ]


def warnings_of(run: AnyRun, cost: Cost | None) -> list[str]:
    """Return everything that a reader of a run must know before its numbers."""
    found = list(run.warnings)
    found += remarks(run)
    if run.interrupted:
        found.append(f"interrupted after {len(run.outputs)} of {run.chips_asked} chips")
    if len(run.outputs) == 1 and run.setting.rung != "digital":
        one = "chip" if run.setting.perturbation is None else "redraw"
        found.append(f"one {one} gives no interval over {one}s")
    undriven = sum(tally.undriven for tally in run.tallies)
    if undriven:
        kept = "random start, where the digital model reads 0"
        if isinstance(run.checkpoint.config, KuramotoConfig):
            kept = "phase: every weight of theirs was lost"
        found.append(f"{undriven:,} oscillators had no drive and kept their {kept}")
    changes = run.setting.device.changes
    if changes:
        found.append(
            f"{', '.join(changes)} changed: prices and the other numbers of "
            f"{run.setting.device.name} are kept as they are"
        )
    if cost is None:
        found.append(why_unpriced(run.setting))
    else:
        found += [*cost.substrate.notes]
        if cost.left_out:
            found.append(f"rival left out: {cost.left_out}")
        if cost.substrate.banner:
            found.append(cost.substrate.banner)
    return found


def _energy(cost: Cost | None) -> dict[str, float | None]:
    if cost is None:
        return dict.fromkeys(ENERGY_KEYS)
    ledger = cost.substrate
    low, middle, high = ledger.range_j("system")
    return {
        "p10": low,
        "p50": middle,
        "p90": high,
        "core": ledger.per_token_j("core"),
        "converters": ledger.per_token_j("converters"),
        "system": ledger.per_token_j("system"),
        "attention_nominal": attention_j(ledger),
    }


def _rivals(cost: Cost | None) -> dict[str, dict[str, float]]:
    if cost is None:
        return {}
    ratios = cost.ratios()
    return {
        name: {
            **dict(zip(("p10", "p50", "p90"), ledger.range_j("system"), strict=True)),
            "substrate_over_rival_p10": ratios[name].p10,
            "substrate_over_rival_p50": ratios[name].p50,
            "substrate_over_rival_p90": ratios[name].p90,
            "attention_nominal": attention_j(ledger),
        }
        for name, ledger in cost.rivals.items()
    }
