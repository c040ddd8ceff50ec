"""An energy estimate, and the component library, as tables on a terminal."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oscsim.bridge.cost import attention_j
from oscsim.bridge.estimate import Estimate, Scenario
from oscsim.bridge.judge import Judgement, Reading
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Component, Library
from oscsim.energy.measured import UNEQUAL
from oscsim.report.decoding_table import (
    DECODING,
    DECODING_HEADER,
    decoding_rows,
    ratio_of,
)
from oscsim.report.energy_figure import GROUPS, PHASES, by_group, by_phase
from oscsim.report.energy_section import ESTIMATE, LABELS, NOMINAL
from oscsim.report.numbers import percent, quantity, quantity_range

SHOWN = 6


def print_estimate(
    console: Console, estimate: Estimate, judged: tuple[Judgement, ...]
) -> None:
    """Print totals beside the rivals, phases, components, and what decides."""
    console.print(Text.assemble((estimate.title, "bold"), f": {headline(estimate)}"))
    banner = estimate.subjects[0].ledger.banner
    if banner:
        console.print(Text(f"Beware: {banner}.", style="bold"))
    console.print(_totals(estimate))
    if estimate.device is not None:
        console.print(_three(estimate.subjects[0]))
    if estimate.steps:
        console.print(_decoding(estimate))
    console.print(_phases(estimate))
    console.print(_components(estimate))
    for one in judged:
        said = f"{one.subject.name} / {one.rival.name}: "
        console.print(Text.assemble((said, "bold"), f"{ratios(one)}."))
        console.print(_judged(one))
    for note in (*remarks(estimate), *qualities(estimate)):
        console.print(f"- {note}", highlight=False)
    console.print(f"{NOMINAL} {ESTIMATE}", highlight=False)


def headline(estimate: Estimate) -> str:
    """Return what is priced, in one line."""
    shape = estimate.shape
    tokens = f"{len(shape.lengths)} x {shape.rows / len(shape.lengths):.3g} tokens"
    layers = "layer" if shape.n_layers == 1 else "layers"
    heads = "head" if shape.n_heads == 1 else "heads"
    sizes = f"{shape.n_layers} {layers}, {shape.n_heads} {heads}, width {shape.d_model}"
    if estimate.device is None:
        return f"{sizes}, {tokens}, digital logic at {estimate.node_nm} nm"
    kind = (
        f"d_osc {shape.d_osc}, {shape.coupling}"
        if isinstance(shape, Shape)
        else f"{shape.d_model} phases a token"
    )
    return (
        f"{sizes}, {kind}, {tokens}, on {estimate.device.label}, digital logic at "
        f"{estimate.node_nm} nm"
    )


def remarks(estimate: Estimate) -> list[str]:
    """Return what a reader must know: assumptions and omissions."""
    found = [*estimate.notes, *estimate.subjects[0].ledger.notes]
    found += groups(estimate)
    if estimate.latency_s is not None:
        found.append(
            f"time on the substrate: {quantity(estimate.latency_s, 's')} per token, "
            "the tokens of an item together and digital layers not included"
        )
    return found


def qualities(estimate: Estimate) -> list[str]:
    """Return what every rival is, and how accurate it was measured to be."""
    shown = estimate.rivals
    if estimate.device is None:
        shown = (*estimate.subjects, *shown)
    return [f"{one.name}: {one.remark}; {one.accuracy}" for one in shown]


def groups(estimate: Estimate) -> list[str]:
    """Return which components are drawn together, by the name of their group.

    A group of which the estimate uses one component is named, too: the causes of
    a ratio are named by groups.
    """
    members: dict[str, list[str]] = {}
    for part in estimate.components:
        if part.corr_group:
            members.setdefault(part.corr_group, []).append(part.id)
    return [
        f"{group}: drawn together are {', '.join(names)}"
        if len(names) > 1
        else f"{group}: of this group {names[0]} alone"
        for group, names in members.items()
    ]


def named(one: Scenario) -> str:
    """Return a scenario's name with its reuse."""
    return f"{one.name} (reuse {one.reuse:g})"


def _totals(estimate: Estimate) -> Table:
    letters = "ab"[: len(estimate.subjects)]
    said = [
        f"{k}: {one.name}" for k, one in zip(letters, estimate.subjects, strict=True)
    ]
    table = Table(
        caption=f"{', '.join(said)}; system totals per token, median and ratio "
        "(p10..p90); reuse: uses of one byte read from memory, and tokens between "
        "two stores of running sums; won: share of the draws in which the row costs "
        f"more; †: {UNEQUAL}, see below",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("")
    for heading in ("reuse", "median"):
        table.add_column(heading, justify="right")
    for letter in letters:
        table.add_column(f"{letter} / row", justify="right")
        table.add_column("won", justify="right")
    table.add_column("attention\n(nominal)", justify="right")
    for one in estimate.scenarios:
        cells: list[str] = []
        for k, subject in enumerate(estimate.subjects):
            ratio, won = estimate.judged(one, k)
            is_self = one.name == subject.name
            cells += ["", ""] if is_self else [ratio_of(ratio), percent(won, 0)]
        mark = " †" if UNEQUAL in one.accuracy else ""
        table.add_row(
            Text(one.name + mark, style="bold" if one in estimate.subjects else ""),
            f"{one.reuse:g}",
            quantity(one.ledger.range_j().p50, "J"),
            *cells,
            quantity(attention_j(one.ledger), "J"),
            end_section=one in (estimate.subjects[-1], estimate.rivals[-1]),
        )
    return table


def _decoding(estimate: Estimate) -> Table:
    table = Table(caption=DECODING, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column, heading in enumerate(DECODING_HEADER):
        table.add_column(heading, justify="right" if column else "left")
    for row in decoding_rows(estimate.steps):
        table.add_row(*row)
    return table


def _three(subject: Scenario) -> Table:
    table = Table(caption=f"three totals of {named(subject)}")
    for heading in ("", "median", "p10 .. p90", "nominal"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for total, label in LABELS.items():
        spread = subject.ledger.range_j(total)
        table.add_row(
            label,
            quantity(spread.p50, "J"),
            quantity_range(spread, "J"),
            quantity(subject.ledger.nominal_j(total), "J"),
        )
    return table


def _phases(estimate: Estimate) -> Table:
    shown: list[Scenario] = []
    for pair in estimate.pairs:
        shown += [one for one in pair if one not in shown]
    table = Table(caption="nominal, by phase; shares of the system total")
    table.add_column("phase")
    for one in shown:
        table.add_column(one.name, justify="right")
    parts = [by_phase(one.ledger) for one in shown]
    for phase, (label, _, _) in PHASES.items():
        if not any(found.get(phase) for found in parts):
            continue
        table.add_row(label, *(_share(found.get(phase, 0.0), found) for found in parts))
    table.add_section()
    table.add_row("sum", *(quantity(sum(found.values()), "J") for found in parts))
    return table


def _share(joules: float, found: dict[str, float]) -> str:
    total = sum(found.values())
    return f"{quantity(joules, 'J')} {percent(joules / total, 1):>7}"


def _components(estimate: Estimate) -> Table:
    subject = estimate.subjects[0]
    table = Table(caption=f"{named(subject)} by component, nominal")
    for heading in ("component", "part of", "confidence", "J per token", "share"):
        right = heading in ("J per token", "share")
        table.add_column(heading, justify="right" if right else "left")
    total = subject.ledger.nominal_j()
    parts = sorted(by_group(subject.ledger).items(), key=lambda item: -item[1])
    for group in GROUPS:
        for (found, name), joules in parts:
            if found == group:
                word = estimate.library[name].confidence
                shares = (quantity(joules, "J"), percent(joules / total))
                table.add_row(name, group, word, *shares)
    return table


def _judged(one: Judgement) -> Table:
    reading = one.attention
    table = Table(caption=f"of the attention stage; {crossings(reading)}")
    for heading in ("what the ratio hangs on", "rank correlation", "at p10", "at p90"):
        table.add_column(heading, justify="left" if "ratio" in heading else "right")
    for cause in reading.sensitivities[:SHOWN]:
        table.add_row(
            cause.cause,
            f"{cause.rank_correlation:+.2f}",
            f"{cause.at_low:.4g}",
            f"{cause.at_high:.4g}",
        )
    return table


def ratios(one: Judgement) -> str:
    """Return the ratio of the system totals and of the attention stage."""
    said = []
    for name, found in (("system total", one.system), ("attention", one.attention)):
        ends = found.extremes
        said.append(
            f"{name} nominal {found.nominal:.4g}, assumption range "
            f"{found.ratio.p10:.4g}..{found.ratio.p90:.4g}, smaller in "
            f"{percent(found.won, 0)} of the draws, {ends.best:.4g} to "
            f"{ends.worst:.4g} with every cause at an end of its range"
        )
    return "; ".join(said)


def crossings(one: Reading) -> str:
    """Return at which prices of an exponential and of a product the ratio is 1."""
    said = []
    for name, curve in (("exponential", one.exponential), ("MAC", one.mac)):
        low, high = curve.values[0], curve.values[-1]
        found = " and ".join(f"{value:.3g} pJ" for value in curve.crossings)
        where = (
            f"crosses 1 at {found}"
            if found
            else f"does not cross 1 between {low:.2g} and {high:.2g} pJ"
        )
        said.append(f"the curve {where} ({name}, {curve.component})")
    return "; ".join(said)


def library_rows(library: Library, text: str = "") -> list[Component]:
    """Return the components that hold a text in id, action, source or any word.

    Parameters
    ----------
    library : Library
        The components.
    text : str
        Looked for in every field, whatever its case; empty for all.
    """
    wanted = text.lower()
    return [
        part
        for part in library.components.values()
        if wanted in " ".join(map(str, part.model_dump().values())).lower()
    ]


def print_library(console: Console, parts: list[Component]) -> None:
    """Print components, one row each, with their sources."""
    table = Table(caption=f"{len(parts)} components; low .. high are p10 and p90")
    for heading in ("component", "value", "low .. high", "unit", "node", "confidence"):
        right = heading in ("value", "low .. high", "node")
        table.add_column(heading, justify="right" if right else "left")
    table.add_column("source", overflow="fold")
    for part in parts:
        table.add_row(
            part.id,
            f"{part.value:g}",
            f"{part.low:g} .. {part.high:g}",
            unit_of_price(part),
            f"{part.node_nm} nm" if part.node_nm else "any",
            part.confidence,
            part.source,
        )
    console.print(table)


def unit_of_price(part: Component) -> str:
    """Return a component's unit, for an energy with what it is spent on."""
    return part.unit if part.unit != "pJ" else f"pJ/{part.per}"
