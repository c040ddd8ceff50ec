"""The sections of a report that say what hardware it was, and how to repeat it."""

import math

from oscsim.bridge.manifest import Manifest
from oscsim.bridge.setting import Setting
from oscsim.report.markup import items, paragraph, table
from oscsim.substrate.device import Device

UNITS = {
    "frequency_hz": "Hz",
    "weak_coupling": "ratio",
    "coupling_max": "rad/s",
    "weight_bits": "bit",
    "anchor_bits": "bit",
    "coupling_mismatch": "relative",
    "coupling_offset": "full scales",
    "anchor_mismatch": "rad",
    "anchor_gain_mismatch": "relative",
    "frequency_mismatch": "relative",
    "frequency_offset": "rad/s",
    "stuck_off": "fraction",
    "stuck_on": "fraction",
    "settle_time": "s",
    "diffusion": "rad^2/s",
    "adc_bits": "bit",
    "write_time": "s",
    "read_time": "s",
}
MODEL_UNITS = {
    "settle_time": "model time",
    "diffusion": "rad^2 per model time",
    "frequency_offset": "rad per model time",
}
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
    parts = [paragraph(f"{kind.name}. {kind.description}")]
    parts.append(table(header, rows, idle=idle))
    parts.append("<h3>Prices</h3>")
    parts.append(_prices(kind))
    return "\n".join(parts)


def _fields(setting: Setting) -> list[tuple[str, ...]]:
    kind = setting.device
    acting = setting.acting_device.imperfections
    rows: list[tuple[str, ...]] = []
    for name in Device.model_fields:
        if name in SKIPPED:
            continue
        value, source = getattr(kind, name), kind.provenance.get(name)
        unit = source.unit if source else unit_of(kind, name)
        if source is not None:
            said = source.source
        elif name in CHOICES:
            said = CHOICE
        elif value == Device.model_fields[name].default:
            said = ABSENT
        elif name in kind.changes:
            said = f"changed: {kind.changes[name]}"
        else:
            said = "given without a source"
        acts = ""
        if name in kind.imperfections:
            acts = "yes" if name in acting and setting.rung != "digital" else "no"
        confidence = source.confidence if source else ""
        rows.append((name, _shown(value), unit, said, acts, confidence))
    return rows


def unit_of(kind: Device, name: str) -> str:
    """Return the unit of a field of a device, empty if it has none."""
    if kind.time_unit == "model" and name in MODEL_UNITS:
        return MODEL_UNITS[name]
    if name == "readout_noise":
        return "per component" if kind.oscillator == "sphere" else "rad"
    return UNITS.get(name, "")


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
        f"Oscillators at {kind.energy.oscillator_node_nm} nm, digital logic at "
        f"{kind.energy.digital_node_nm} nm."
    )
    return paragraph(nodes) + table(
        ("action", "product of components"),
        [(action, " × ".join(ids)) for action, ids in kind.energy.prices.items()],
    )


def repeat(manifest: Manifest) -> str:
    """Return seed, digests, versions and the command that repeats the run."""
    command = (
        "<p>The file <code>run.toml</code> beside this page holds everything that "
        "determines the run. <code>oscsim rerun run.toml</code> repeats it bit for "
        "bit on the same machine and versions.</p>"
    )
    rows = [
        ("seed", str(manifest.seed)),
        ("rung", manifest.rung),
        ("chips", f"{manifest.chips_done} of {manifest.chips}"),
        ("repeats", str(manifest.repeats)),
        ("perturbation", manifest.perturb or "none"),
        ("checkpoint", manifest.checkpoint),
        ("checkpoint, sha256", manifest.checkpoint_sha256),
        ("data", manifest.data),
        ("data, sha256", manifest.data_sha256),
        ("logits, sha256", manifest.logits_sha256),
    ]
    rows += [(f"given: {key}", str(value)) for key, value in manifest.config.items()]
    versions = items(f"{name} {found}" for name, found in manifest.versions.items())
    return command + table(("", "value"), rows) + "<h3>Versions</h3>" + versions
