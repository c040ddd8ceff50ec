"""The section of a report that says what a token costs."""

from oscsim.bridge.cost import Cost
from oscsim.energy.ledger import TOTALS, Ledger, Total
from oscsim.report.energy_figure import energy_figure
from oscsim.report.markup import drawing, items, paragraph, table
from oscsim.report.numbers import percent, quantity, quantity_range

ESTIMATE = (
    "Every joule here is an estimate: no oscillator-attention chip has published "
    "joules per token. p10..p90 is the range that follows from the priors of the "
    "components, an assumption range and not a confidence interval."
)
UNPRICED = (
    "This run has no price: it is digital, or under a published perturbation, or its "
    "device has no energy section or no finite settling time."
)
LATENCY = "writing couplings, settling and reading; digital layers are not part of it"
LABELS: dict[Total, str] = {
    "system": "system total",
    "converters": "core + converters",
    "core": "core (oscillators, anchors, couplers)",
}


def energy(cost: Cost | None) -> str:
    """Return totals, rivals with ratios, parts and notes; system total first."""
    if cost is None:
        return paragraph(UNPRICED)
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
    parts.append("<h3>Beside its rivals, system totals</h3>")
    parts.append(_rivals(cost))
    parts.append(
        drawing(
            energy_figure(cost),
            "energy-figure",
            "Joules per token by phase, beside the rivals, and by component.",
            large=True,
        )
    )
    parts.append(_facts(cost))
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
    found = cost.substrate.range_j()
    rows = [("substrate", quantity(found.p50, "J"), quantity_range(found, "J"), "", "")]
    ratios = cost.ratios()
    for name, ledger in cost.rivals.items():
        theirs, ratio = ledger.range_j(), ratios[name]
        rows.append(
            (
                name,
                quantity(theirs.p50, "J"),
                quantity_range(theirs, "J"),
                f"{ratio.p50:.4g}",
                f"{ratio.p10:.4g}..{ratio.p90:.4g}",
            )
        )
    header = (
        "",
        "median per token",
        "p10..p90, assumption range",
        "substrate / rival",
        "p10..p90 of the ratio",
    )
    return table(header, rows, numbers=(1, 2, 3, 4)) + paragraph(
        "A ratio below 1 is in favour of the substrate. Ratios are drawn in pairs: "
        "what both have in common cancels.",
        "faint",
    )


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
