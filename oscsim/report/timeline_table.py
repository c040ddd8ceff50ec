"""A mapped model on a terminal: passes, seconds by phase, tokens per second."""

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from oscsim.energy.timeline import PHASES, YEAR, Timeline
from oscsim.report.numbers import percent, quantity


def print_timelines(console: Console, found: Sequence[Timeline]) -> None:
    """Print one row a sweep, and what was taken as unlimited or not timed.

    Parameters
    ----------
    console : Console
        Where to print.
    found : sequence of Timeline
        From `oscsim.energy.timeline.sweeps`; of one device and model.
    """
    if not found:
        return
    device, model = found[0].mapping.device, found[0].mapping.model
    phases = [name for name in PHASES if name in found[0].seconds]
    table = Table(
        title=(
            f"{device.label}: {model.n_layers} x {model.n_heads} heads, "
            f"{model.context} tokens, d_osc {model.d_osc}, settling "
            f"{quantity(found[0].settle_s, 's')} a pass"
        )
    )
    table.add_column("sweep")
    for heading in (
        "passes",
        *phases,
        "latency",
        "tokens/s",
        "oscillators\nbusy",
        "couplers\nin use",
        "writes\nper token",
        "memory\nlasts",
    ):
        table.add_column(heading, justify="right")
    for one in found:
        mapping = one.mapping
        table.add_row(
            f"{'decode' if mapping.is_decoding else 'prefill'}, batch {mapping.batch}",
            f"{mapping.passes:,}",
            *(quantity(one.seconds[name], "s") for name in phases),
            quantity(one.latency_s, "s"),
            quantity(one.tokens_per_s, "").strip(),
            percent(mapping.oscillator_use, 0),
            percent(mapping.coupler_use, 0),
            f"{mapping.writes_per_token:,.4g}",
            _lasts(one.lifetime_s),
        )
    console.print(table)
    notes = dict.fromkeys(note for one in found for note in one.notes)
    console.print(f"{'; '.join(notes)}.", highlight=False)


def _lasts(seconds: float) -> str:
    if math.isinf(seconds):
        return "volatile"
    if seconds >= YEAR:
        return f"{seconds / YEAR:.3g} years"
    return quantity(seconds, "s")
