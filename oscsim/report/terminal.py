"""Results as tables on a terminal."""

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.compare import Comparison
from oscsim.bridge.cost import Cost, attention_j
from oscsim.bridge.infer import Run
from oscsim.bridge.scope import modelled
from oscsim.bridge.summary import warnings_of
from oscsim.energy.ledger import Total
from oscsim.report.numbers import percent, quantity, quantity_range
from oscsim.study.ladder import Ladder
from oscsim.substrate.device import Device


def print_run(
    console: Console, run: Run, comparison: Comparison, cost: Cost | None
) -> None:
    """Print a run: accuracy, what happened on the chips, energy, limits."""
    setting = run.setting
    where = f"{setting.device.name}, rung {setting.rung}"
    if setting.perturbation is not None:
        where = f"ideal substrate, {setting.perturbation}"
    console.print(
        Text.assemble(
            (run.checkpoint.name, "bold"),
            f" on {where}: {comparison.chips} chips x {run.logits.shape[1]} repeats, "
            f"{len(run.data)} sentences, seed {setting.seed}",
        )
    )
    console.print(_accuracy_table(comparison))
    if comparison.tally.oscillators:
        console.print(_tally_table(comparison))
    if cost is not None:
        _print_cost(console, cost)
    on, off = modelled(setting)
    _print_lines(console, "Modelled", on or ["nothing but the digital model"])
    _print_lines(console, "Not modelled", off)
    _print_lines(console, "Note", warnings_of(run, cost))


def _accuracy_table(comparison: Comparison) -> Table:
    table = Table(title=None)
    table.add_column("accuracy")
    for heading in ("digital", "substrate", "95 % over chips"):
        table.add_column(heading, justify="right")
    table.add_row(
        f"{comparison.metric.replace('_', ' ')} ({comparison.n_items} sentences)",
        percent(comparison.digital),
        percent(comparison.substrate),
        (
            "-"
            if comparison.ci95 is None
            else f"{percent(comparison.ci95[0])} .. {percent(comparison.ci95[1])}"
        ),
    )
    table.add_row(
        "all sentences",
        percent(comparison.digital_all),
        percent(comparison.substrate_all),
        "",
    )
    table.add_row("same decision", "", percent(comparison.agreement), "")
    table.add_row("largest |logit error|", "", f"{comparison.max_abs_error:.3g}", "")
    return table


def _tally_table(comparison: Comparison) -> Table:
    tally = comparison.tally
    table = Table()
    table.add_column("on the chips")
    table.add_column("count", justify="right")
    table.add_column("share", justify="right")
    for name, part, whole in (
        ("oscillators not settled to 0.01 rad", tally.unsettled, tally.oscillators),
        ("oscillators out of lock", tally.unlocked, tally.oscillators),
        ("drives beyond weak coupling", tally.strongly_driven, tally.oscillators),
        ("couplings clipped to full scale", tally.clipped, tally.couplings),
        ("couplings lost below half an LSB", tally.zeroed, tally.couplings),
        ("read-outs out of range", tally.adc_clipped, tally.reads),
    ):
        table.add_row(name, f"{part:,} of {whole:,}", _share(part, whole))
    return table


def _print_cost(console: Console, cost: Cost) -> None:
    table = Table(caption=f"{cost.pairing}; p10..p90 are ranges of assumptions")
    table.add_column("energy per token")
    table.add_column("median", justify="right")
    table.add_column("p10 .. p90", justify="right")
    table.add_column("substrate / rival", justify="right")
    table.add_column("attention stage\n(nominal)", justify="right")
    ledger = cost.substrate
    labels: dict[Total, str] = {
        "system": "substrate, system total",
        "converters": "  core + converters",
        "core": "  core (oscillators, anchors, couplers)",
    }
    for total, label in labels.items():
        spread = ledger.range_j(total)
        table.add_row(
            Text(label, style="bold" if total == "system" else ""),
            quantity(spread.p50, "J"),
            quantity_range(spread, "J"),
            "",
            quantity(attention_j(ledger), "J") if total == "system" else "",
        )
    ratios = cost.ratios()
    for name, rival in cost.rivals.items():
        spread = rival.range_j("system")
        ratio = ratios[name]
        table.add_row(
            name,
            quantity(spread.p50, "J"),
            quantity_range(spread, "J"),
            f"{ratio.p50:.2f} ({ratio.p10:.2f} .. {ratio.p90:.2f})",
            quantity(attention_j(rival), "J"),
        )
    console.print(table)
    console.print(
        f"Time on the substrate: {quantity(cost.latency_s, 's')} per token. "
        "No oscillator-attention chip has published joules per token: "
        "these are estimates.",
        highlight=False,
    )


def print_ladder(console: Console, result: Ladder) -> None:
    """Print one row a rung."""
    table = Table(
        title=f"{result.device.name}: {result.chips} chips x {result.repeats} "
        f"repeats, seed {result.seed}"
    )
    for heading in ("rung", "accuracy", "95 % over chips", "same decision"):
        table.add_column(heading, justify="left" if heading == "rung" else "right")
    table.add_column("decisions changed\nfrom rung below", justify="right")
    table.add_column("rms logit change\nfrom rung below", justify="right")
    table.add_column("not settled", justify="right")
    for step in result.steps:
        found = step.comparison
        interval = found.ci95
        table.add_row(
            step.rung,
            percent(found.substrate),
            (
                "-"
                if interval is None
                else f"{percent(interval[0])} .. {percent(interval[1])}"
            ),
            percent(found.agreement),
            percent(step.decisions_changed),
            f"{step.rms_change:.3g}",
            _share(found.tally.unsettled, found.tally.oscillators),
        )
    console.print(table)


def print_devices(console: Console, devices: list[Device]) -> None:
    """Print the presets, one line each."""
    table = Table()
    table.add_column("device")
    table.add_column("d_osc")
    table.add_column("description")
    for device in devices:
        single = device.oscillator in ("ring", "lc")
        table.add_row(device.name, "2" if single else "any", device.description)
    console.print(table)


def print_device(console: Console, device: Device) -> None:
    """Print every number of one device with its source."""
    console.print(Text.assemble((device.name, "bold"), f": {device.description}"))
    table = Table()
    for heading in ("field", "value", "unit", "confidence", "source"):
        table.add_column(heading)
    for name, value in device.model_dump(exclude={"provenance", "energy"}).items():
        if name in ("name", "description") or value is None:
            continue
        origin = device.provenance.get(name)
        cells = (
            ("", "", "")
            if origin is None
            else (
                origin.unit,
                origin.confidence,
                origin.source,
            )
        )
        table.add_row(name, f"{value:g}" if _is_number(value) else str(value), *cells)
    console.print(table)
    if device.energy is not None:
        prices = Table(title="prices (products of components)")
        prices.add_column("action")
        prices.add_column("components")
        for action, ids in device.energy.prices.items():
            prices.add_row(action, " x ".join(ids))
        console.print(prices)


def print_checkpoint(console: Console, checkpoint: Checkpoint) -> None:
    """Print what a checkpoint is."""
    table = Table(title=checkpoint.name, show_header=False)
    table.add_column("field")
    table.add_column("value")
    for key, value in checkpoint.describe().items():
        if isinstance(value, dict):
            for inner, entry in value.items():
                table.add_row(f"{key}.{inner}", str(entry))
        else:
            table.add_row(key, str(value))
    console.print(table)


def _print_lines(console: Console, heading: str, lines: list[str]) -> None:
    if lines:
        console.print(Text.assemble((f"{heading}: ", "bold"), "; ".join(lines) + "."))


def _is_number(value: object) -> bool:
    return isinstance(value, float) and not math.isnan(value)


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "-"
