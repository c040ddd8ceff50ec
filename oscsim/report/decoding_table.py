"""Decoding token by token, as rows of a table."""

from collections.abc import Sequence

from oscsim.bridge.decoding import Step
from oscsim.energy.ledger import Range
from oscsim.report.numbers import percent, quantity

DECODING_HEADER = (
    "decoding / rival",
    "substrate",
    "rival",
    "system",
    "won",
    "attention",
    "won",
)
DECODING = (
    "Decoding, one query a head and reuse 1: all anchors that a query sees run for it "
    "alone. Substrate and the same model, done digitally, at their cheaper read-out "
    "where it can be factored. "
    "Medians per token and ratios (p10..p90) of the system total and of the "
    "attention stage; won: share of the draws in which the substrate costs less."
)
SHORT = {
    "digital softmax": "softmax",
    "transformer, digital": "transformer",
    "same model, digital": "same model",
    "same oscillator model, digital": "same model",
    "same oscillator model, digital, read-out factored": "same model, factored",
}


def decoding_rows(steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """Return one row a step and rival, under `DECODING_HEADER`."""
    return [
        (
            f"{one.context:.4g} tokens ({one.name}) / {SHORT[found.rival.name]}",
            quantity(one.subject.ledger.range_j().p50, "J"),
            quantity(found.rival.ledger.range_j().p50, "J"),
            ratio_of(found.system),
            percent(found.system_won, 0),
            ratio_of(found.attention),
            percent(found.attention_won, 0),
        )
        for one in steps
        for found in one.against
    ]


def ratio_of(found: Range) -> str:
    """Return ``p50 (p10..p90)`` of a ratio, four digits so that parity shows."""
    return f"{found.p50:.4g} ({found.p10:.4g}..{found.p90:.4g})"
