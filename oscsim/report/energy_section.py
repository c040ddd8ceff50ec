"""The section of a report that says what a token costs."""

from oscsim.bridge.cost import Cost, attention_j
from oscsim.energy.components import Component
from oscsim.energy.ledger import TOTALS, Ledger, Total
from oscsim.report.energy_figure import energy_figure
from oscsim.report.markup import drawing, items, paragraph, table
from oscsim.report.numbers import (
    difference_range,
    percent,
    quantity,
    quantity_range,
)

ESTIMATE = (
    "Every joule here is an estimate: no oscillator-attention chip has published "
    "joules per token. p10..p90 is the range that follows from the priors of the "
    "components, an assumption range and not a confidence interval."
)
NOMINAL = (
    "Nominal: every component at its stated value, as parts, bars and points of "
    "figures. Median: of the sums over draws of all priors, as the totals and ratios. "
    "They differ where priors are skewed."
)
LATENCY = (
    "writing couplings, settling and reading, the tokens of a sentence together; "
    "digital layers are not part of it"
)
LABELS: dict[Total, str] = {
    "system": "system total",
    "converters": "core + converters",
    "core": "core (oscillators, anchors, couplers)",
}


def energy(cost: Cost | None) -> str:
    """Return totals, rivals, parts, components and notes, or nothing without cost."""
    if cost is None:
        return ""
    substrate = cost.substrate
    parts = [paragraph(ESTIMATE)]
    if substrate.has_banner:
        parts.append(paragraph(substrate.banner, "note"))
    found = substrate.range_j()
    parts.append(
        f"<p><strong>System total: {quantity(found.p50, 'J')} per token</strong>, "
        f"assumption range {quantity_range(found, 'J')} (p10..p90).</p>"
    )
    parts.append(
        table(
            ("substrate", "median per token", "p10..p90, assumption range", "nominal"),
            [_total(substrate, total) for total in reversed(TOTALS)],
            numbers=(1, 2, 3),
        )
    )
    parts.append(paragraph(NOMINAL, "faint"))
    parts.append("<h3>Beside its rivals, system totals</h3>")
    parts.append(_rivals(cost))
    parts.append(
        drawing(
            energy_figure(cost),
            "energy-figure",
            "Nominal joules per token by phase beside the rivals, of the attention "
            "stage alone, and by component of the substrate; diamonds and whiskers are "
            "medians and p10..p90 of the system totals.",
            large=True,
        )
    )
    parts.append(_facts(cost))
    parts.append("<h3>Components used, by the substrate or a rival</h3>")
    parts.append(_components(cost.components))
    return "\n".join(parts)


def _total(ledger: Ledger, total: Total) -> tuple[str, str, str, str]:
    found = ledger.range_j(total)
    return (
        LABELS[total],
        quantity(found.p50, "J"),
        quantity_range(found, "J"),
        quantity(ledger.nominal_j(total), "J"),
    )


def _rivals(cost: Cost) -> str:
    mine = cost.substrate
    rows = [
        (
            "substrate",
            quantity(mine.range_j().p50, "J"),
            quantity_range(mine.range_j(), "J"),
            "",
            "",
            "",
            quantity(attention_j(mine), "J"),
        )
    ]
    ratios, differences = cost.ratios(), cost.differences()
    for name, ledger in cost.rivals.items():
        theirs, ratio = ledger.range_j(), ratios[name]
        rows.append(
            (
                name,
                quantity(theirs.p50, "J"),
                quantity_range(theirs, "J"),
                f"{ratio.p50:.4g}",
                f"{ratio.p10:.4g}..{ratio.p90:.4g}",
                difference_range(differences[name], "J"),
                quantity(attention_j(ledger), "J"),
            )
        )
    header = (
        "",
        "median per token",
        "p10..p90, assumption range",
        "substrate / rival",
        "p10..p90 of the ratio",
        "substrate - rival, median (p10..p90)",
        "attention stage, nominal",
    )
    said = paragraph(
        "A ratio below 1 is in favour of the substrate. Ratios and differences are "
        "drawn in pairs: what both have in common cancels. The attention stage goes "
        "from the couplings or scores to the mixed values, the part that oscillators "
        "change, and stores keys and values; projections, feed-forward blocks and "
        "overheads are not in it.",
        "faint",
    )
    if cost.left_out:
        said += paragraph(f"Rival left out: {cost.left_out}.")
    return table(header, rows, numbers=range(1, 7)) + said


def _components(used: tuple[Component, ...]) -> str:
    header = ("component", "value", "low..high", "unit", "node", "confidence", "source")
    rows = [
        (
            part.id,
            f"{part.value:g}",
            f"{part.low:g}..{part.high:g}",
            part.unit if part.unit != "pJ" else f"pJ per {part.per}",
            f"{part.node_nm} nm" if part.node_nm else "any",
            part.confidence,
            part.source,
        )
        for part in used
    ]
    return table(header, rows, numbers=(1, 2)) + paragraph(
        "low and high are the 10th and 90th percentile of the prior.", "faint"
    )


def sentences(cost: Cost | None) -> set[str]:
    """Return what this section says itself and a list of warnings need not repeat."""
    if cost is None:
        return set()
    said = {*cost.substrate.notes, cost.substrate.banner}
    return said | {f"rival left out: {cost.left_out}"}


def _facts(cost: Cost) -> str:
    rows = [
        (
            "time on the substrate",
            f"{quantity(cost.latency_s, 's')} per token",
            LATENCY,
        ),
        ("nodes", cost.pairing, "nothing is extrapolated between nodes"),
        (
            "assumed or from memory",
            percent(cost.substrate.untrusted_share, 1),
            "share of the nominal system total",
        ),
    ]
    notes = ""
    if cost.substrate.notes:
        notes = "<h3>Notes of the ledger</h3>" + items(cost.substrate.notes)
    return table(("", "value", "meaning"), rows) + notes
