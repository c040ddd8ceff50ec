"""Results as tables on a terminal."""

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.compare import AnyComparison, Comparison
from oscsim.bridge.cost import Cost, attention_j
from oscsim.bridge.counted import counted, gaps
from oscsim.bridge.infer import AnyRun, Run
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.language_compare import LanguageComparison
from oscsim.bridge.scope import modelled
from oscsim.bridge.summary import warnings_of
from oscsim.energy.ledger import Total
from oscsim.energy.prices import Prices
from oscsim.report.device_section import unit_of
from oscsim.report.numbers import (
    bits,
    difference_of,
    percent,
    quantity,
    quantity_range,
)
from oscsim.study.ladder import Ladder
from oscsim.substrate.device import SINGLE_PHASE, Device
from oscsim.substrate.tally import histogram_quantile


def print_run(
    console: Console, run: AnyRun, comparison: AnyComparison, cost: Cost | None
) -> None:
    """Print a run: accuracy or bits, what happened on the chips, energy, limits."""
    setting = run.setting
    draws = (
        f"{_many(comparison.chips, 'chip')} x "
        f"{_many(run.outputs.shape[1], 'repeat')}, seed {setting.seed}"
    )
    where = f"{setting.device.label}, rung {setting.rung}: {draws}"
    if setting.perturbation is not None:
        where = f"ideal substrate, {setting.perturbation}: {draws}"
    elif setting.rung == "digital":
        where = "the digital model alone"
    if isinstance(run, LanguageRun):
        windows = _many(len(run.data), "window")
        sentences = f"{windows} of {run.data.context} bytes"
    else:
        sentences = _many(len(run.data), run.data.noun)
    console.print(
        Text.assemble((run.checkpoint.name, "bold"), f" on {where}, {sentences}")
    )
    if isinstance(comparison, LanguageComparison):
        console.print(_bits_table(comparison))
    elif isinstance(run, Run):
        console.print(_accuracy_table(comparison, run.data.noun))
    if isinstance(run, LanguageRun):
        console.print(f"Text: {run.data.label}.", highlight=False)
    if comparison.tally.oscillators:
        console.print(_tally_table(run, comparison))
    if cost is not None:
        _print_cost(console, cost)
    on, off = modelled(setting)
    _print_lines(console, "Modelled", on or ["nothing but the digital model"])
    _print_lines(console, "Not modelled", off)
    _print_lines(console, "Note", warnings_of(run, cost))


def _accuracy_table(comparison: Comparison, noun: str) -> Table:
    table = Table()
    table.add_column("accuracy")
    for heading in ("digital", "substrate", "95 % over chips"):
        table.add_column(heading, justify="right")
    table.add_column(
        f"substrate - digital\n(± standard error\nover {noun}s)", justify="right"
    )
    c = comparison
    table.add_row(
        f"{c.metric.replace('_', ' ')} ({c.n_items} {noun}s)",
        percent(c.digital),
        percent(c.substrate),
        _interval(c.ci95),
        _gained(c.difference, c.difference_error),
    )
    table.add_row(
        f"all {noun}s",
        percent(c.digital_all),
        percent(c.substrate_all),
        _interval(c.ci95_all),
        _gained(c.difference_all, c.difference_all_error),
    )
    table.add_row(f"same decision, all {noun}s", "", percent(c.agreement), "", "")
    table.add_row("largest |logit error|", "", f"{c.max_abs_error:.3g}", "", "")
    return table


def _bits_table(comparison: LanguageComparison) -> Table:
    table = Table()
    table.add_column("text")
    for heading in ("digital", "substrate", "95 % over chips"):
        table.add_column(heading, justify="right")
    table.add_column(
        "substrate - digital\n(± standard error\nover windows)", justify="right"
    )
    c = comparison
    table.add_row(
        f"bits per byte ({c.n_items:,} bytes)",
        bits(c.digital, c.digital_error),
        bits(c.substrate),
        "-" if c.ci95 is None else " .. ".join(map(bits, c.ci95)),
        bits(c.difference, c.difference_error, sign="+"),
    )
    table.add_row(
        "perplexity per byte",
        f"{c.digital_perplexity:.4f}",
        f"{c.perplexity:.4f}",
        "",
        difference_of(c.perplexity, c.digital_perplexity),
    )
    table.add_row("same most probable byte", "", percent(c.agreement), "", "")
    table.add_row("largest |logit error|", "", f"{c.max_abs_error:.3g}", "", "")
    return table


def _interval(found: tuple[float, float] | None) -> str:
    return "-" if found is None else f"{percent(found[0])} .. {percent(found[1])}"


def _gained(difference: float, error: float) -> str:
    said = f"{100 * difference:+.2f}"
    return f"{said} ± {100 * error:.2f}" if math.isfinite(error) else said


def _tally_table(run: AnyRun, comparison: AnyComparison) -> Table:
    table = Table()
    table.add_column("on the chips")
    table.add_column("count", justify="right")
    table.add_column("share", justify="right")
    for what, number, total in counted(run, comparison.tally):
        if number is None:
            table.add_row(what, "not checked", "-")
        else:
            table.add_row(what, f"{number:,} of {total:,}", _share(number, total))
    for what, size in gaps(run, comparison.tally):
        table.add_row(what, size, "")
    errors = comparison.tally.error_histogram
    if not errors.any():
        return table
    middle, high = (histogram_quantile(errors, q) for q in (0.5, 0.9))
    table.add_row(
        "angle between state and drive when read (rad)",
        f"median {middle:.2g}",
        f"p90 {high:.2g}",
    )
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
        f"Time on the substrate: {quantity(cost.latency_s, 's')} per token, the "
        "tokens of a sentence together and digital layers not included. "
        "No oscillator-attention chip has published joules per token: "
        "these are estimates.",
        highlight=False,
    )


def print_ladder(console: Console, result: Ladder) -> None:
    """Print one row a rung."""
    table = Table(
        title=f"{result.device.label}: {_many(result.chips, 'chip')} x "
        f"{_many(result.repeats, 'repeat')}, seed {result.seed}"
    )
    is_text = isinstance(result.steps[0].comparison, LanguageComparison)
    metric = result.steps[0].comparison.metric.replace("_", " ")
    same = "most probable byte" if is_text else "decision"
    for heading in ("rung", metric, "95 % over chips", f"same {same}\n(all)"):
        table.add_column(heading, justify="left" if heading == "rung" else "right")
    table.add_column(f"{same}s changed\nfrom rung below", justify="right")
    changed = "bits" if is_text else "logit"
    table.add_column(f"rms {changed} change\nfrom rung below", justify="right")
    table.add_column("drive too weak\nto settle", justify="right")
    for step in result.steps:
        found = step.comparison
        if isinstance(found, LanguageComparison):
            score, interval = bits(found.substrate), "-"
            if found.ci95 is not None:
                interval = " .. ".join(map(bits, found.ci95))
        else:
            score, interval = percent(found.substrate), _interval(found.ci95)
        table.add_row(
            step.rung,
            score,
            interval,
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
        single = device.oscillator in SINGLE_PHASE
        table.add_row(device.name, "2" if single else "any", device.description)
    console.print(table)


def print_device(console: Console, device: Device) -> None:
    """Print every number of one device with its source."""
    console.print(Text.assemble((device.name, "bold"), f": {device.description}"))
    table = Table()
    for heading in ("field", "value", "unit", "confidence", "source"):
        table.add_column(heading)
    hidden = {"provenance", "energy", "changes", "name", "description"}
    for name, value in device.model_dump(exclude=hidden).items():
        if value is None:
            continue
        origin = device.provenance.get(name)
        cells = (
            (unit_of(device, name), "", "")
            if origin is None
            else (origin.unit, origin.confidence, origin.source)
        )
        table.add_row(name, f"{value:g}" if _is_number(value) else str(value), *cells)
    console.print(table)
    if device.energy is not None:
        prices = Table(title="prices (products of components, and sums of such)")
        prices.add_column("action")
        prices.add_column("components")
        for action, products in Prices.of(device.energy.prices).terms.items():
            sums = " + ".join(" x ".join(product) for product in products)
            prices.add_row(action, sums)
        for part, ids in device.energy.areas.items():
            prices.add_row(f"area of one {part}", " x ".join(ids))
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


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "-"
