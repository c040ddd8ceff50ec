"""The sections of a report that say what hardware it was, and how to repeat it."""

import math

from oscsim.bridge.manifest import Manifest
from oscsim.bridge.setting import Setting
from oscsim.energy.prices import Prices
from oscsim.report.markup import items, paragraph, table
from oscsim.substrate.device import (
    CHARACTERISTICS,
    DIGITAL_RATES,
    SIZES,
    Device,
)
from oscsim.substrate.provenance import required_unit

ABSENT = "not set: does nothing"
CHOICE = "a choice of the description"
CHOICES = (
    "oscillator",
    "time_unit",
    "range_limit",
    "start",
    "query_slots",
    "weak_coupling",
)
SKIPPED = ("name", "description", "provenance", "energy", "changes")


def device(setting: Setting) -> str:
    """Return every field of the device with its source, and its prices."""
    kind = setting.device
    rows = _fields(setting)
    idle = [k for k, row in enumerate(rows) if row[3] == ABSENT or row[4] == "no"]
    header = ("field", "value", "unit", "source", "acts in this run", "confidence")
    parts = [paragraph(f"{kind.label}. {kind.description}")]
    parts.append(table(header, rows, idle=idle))
    parts.append("<h3>Prices</h3>")
    parts.append(_prices(kind))
    return "\n".join(parts)


def _fields(setting: Setting) -> list[tuple[str, ...]]:
    kind = setting.device
    rows: list[tuple[str, ...]] = []
    for name in Device.model_fields:
        if name in SKIPPED:
            continue
        value, source = getattr(kind, name), kind.provenance.get(name)
        unit = source.unit if source else unit_of(kind, name)
        if name in kind.changes:
            said = f"changed: {kind.changes[name]}"
        elif source is not None:
            said = source.source
        elif name in CHOICES:
            said = CHOICE
        elif value == Device.model_fields[name].default:
            said = ABSENT
        else:
            said = "given without a source"
        acts = _acts(setting, name)
        confidence = source.confidence if source else ""
        rows.append((name, _shown(value), unit, said, acts, confidence))
    return rows


def _acts(setting: Setting, name: str) -> str:
    """Return whether a field sets a result of a run; empty for one that is not set."""
    kind, acting = setting.device, setting.acting_device
    takes_time = math.isfinite(acting.settle_time)
    always = {
        "oscillator": True,
        "time_unit": True,
        "query_slots": True,
        "start": takes_time,
        "weak_coupling": kind.frequency_hz is not None,
        "range_limit": "range_limit" in acting.imperfections,
        "write_time": takes_time and acting.energy is not None,
        "read_time": takes_time and acting.energy is not None,
        **dict.fromkeys(SIZES, takes_time and acting.energy is not None),
        **dict.fromkeys(DIGITAL_RATES, False),
    }
    if name == "winding_counter":  # asked for where it cannot act, it is refused
        acts = "yes" if name in kind.changes else "in models trained with turns"
        return acts if kind.winding_counter else ""
    if name in CHARACTERISTICS and _shown(getattr(kind, name)) in ("-", "0"):
        return ""
    if name in always or name in CHARACTERISTICS:
        return "yes" if always.get(name, True) else "no"
    if name in kind.imperfections:
        return "yes" if name in acting.imperfections else "no"
    return ""


def unit_of(kind: Device, name: str) -> str:
    """Return the unit of a field of a device, empty if it has none."""
    unit = required_unit(name, kind.oscillator, kind.time_unit)
    return "rad" if unit is None and name == "readout_noise" else unit or ""


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "infinite" if math.isinf(value) else f"{value:.6g}"
    return str(value)


def _prices(kind: Device) -> str:
    if kind.energy is None:
        return paragraph("The device has no energy section.")
    nodes = (
        f"{_oscillators(kind.energy.oscillator_node_nm)}, digital logic at "
        f"{kind.energy.digital_node_nm} nm."
    )
    return paragraph(nodes) + table(
        ("action", "product of components, or a sum of products"),
        [
            (action, " + ".join(" × ".join(product) for product in products))
            for action, products in Prices.of_device(kind).terms.items()
            if action in kind.energy.prices
        ],
    )


def _oscillators(node: int | None) -> str:
    return "Oscillators of no node" if node is None else f"Oscillators at {node} nm"


def repeat(manifest: Manifest) -> str:
    """Return seed, digests, versions and the command that repeats the run."""
    command = (
        "<p>The file <code>run.toml</code> beside this page holds everything that "
        "determines the run. <code>oscsim rerun run.toml</code> repeats it bit for "
        "bit on the same machine and versions.</p>"
    )
    one = "chips" if manifest.perturb is None else "redraws"
    draws = [
        ("seed", str(manifest.seed)),
        (one, f"{manifest.chips_done} of {manifest.chips}"),
        ("repeats", str(manifest.repeats)),
        ("perturbation", manifest.perturb or "none"),
    ]
    rows = [
        ("rung", manifest.rung),
        *([("read-out", "in prefix sums")] if manifest.readout == "prefix" else ()),
        *([("update", "flow")] if manifest.update == "flow" else ()),
        *([("full scale", "by row")] if manifest.ranging == "row" else ()),
        *([("windows", _windows(manifest))] if manifest.windows else ()),
        *(draws if manifest.rung != "digital" else ()),
        ("checkpoint", manifest.checkpoint),
        ("checkpoint, sha256", manifest.checkpoint_sha256),
        ("data", manifest.data),
        ("data, sha256", manifest.data_sha256),
        (f"{_digested(manifest)}, sha256", manifest.logits_sha256),
    ]
    rows += [(f"given: {key}", str(value)) for key, value in manifest.config.items()]
    versions = items(f"{name} {found}" for name, found in manifest.versions.items())
    return command + table(("", "value"), rows) + "<h3>Versions</h3>" + versions


def _windows(manifest: Manifest) -> str:
    length = "" if manifest.context is None else f" of {manifest.context} bytes"
    return f"{manifest.windows}{length}"


def _digested(manifest: Manifest) -> str:
    return "logits" if manifest.windows is None else "bits per token"
