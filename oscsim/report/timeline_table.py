"""A mapped model on a terminal: passes, seconds by phase, tokens per second."""

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from oscsim.energy.mapping import Mapping
from oscsim.energy.overlap import OVERLAP, overlap
from oscsim.energy.timeline import YEAR, Phase, Timeline
from oscsim.report.numbers import percent, quantity

VERBS: dict[Phase, str] = {
    "projection": "project",
    "weights": "score",
    "load": "load",
    "settle": "settle",
    "read": "read",
    "value": "sum values",
    "ffn": "feed forward",
}


def print_timelines(
    console: Console, found: Sequence[Timeline], write_j: Sequence[float] = ()
) -> None:
    """Print one column a sweep, and what was taken as unlimited or not timed.

    Parameters
    ----------
    console : Console
        Where to print.
    found : sequence of Timeline
        From `oscsim.energy.timeline.sweeps`; of one device and model.
    write_j : sequence of float
        Joules per token of writing, one a sweep; not shown if empty.
    """
    if not found:
        return
    table = Table(title=sweep_title(found))
    for column, heading in enumerate(sweep_header(found)):
        table.add_column(heading, justify="right" if column else "left")
    for row in sweep_rows(found, write_j):
        table.add_row(*row)
    console.print(table)
    console.print(f"{'; '.join(sweep_notes(found))}.", highlight=False)


def sweep_title(found: Sequence[Timeline]) -> str:
    """Return what is mapped onto what, in one line."""
    device, model = found[0].mapping.device, found[0].mapping.model
    return (
        f"{device.label}: {model.n_layers} x {model.n_heads} heads, "
        f"{model.context} tokens, d_osc {model.d_osc}, settling "
        f"{quantity(found[0].settle_s, 's')} a pass"
    )


def sweep_header(found: Sequence[Timeline]) -> tuple[str, ...]:
    """Return the headings of `sweep_rows`: one column a sweep."""
    return ("sweep, batch", *(sweep_name(one) for one in found))


def sweep_rows(
    found: Sequence[Timeline], write_j: Sequence[float] = ()
) -> list[tuple[str, ...]]:
    """Return passes, seconds by phase, rates and use, one column a sweep."""
    maps = [one.mapping for one in found]
    streams = [overlap(one) for one in found]
    return [
        ("passes", *(f"{one.passes:,}" for one in maps)),
        *(
            (f"time to {VERBS[name]}", *(quantity(o.seconds[name], "s") for o in found))
            for name in found[0].seconds
        ),
        ("latency", *(quantity(one.latency_s, "s") for one in found)),
        ("tokens per second", *(_rate(one.tokens_per_s) for one in found)),
        ("if overlapped, at best", *(_rate(one.tokens_per_s) for one in streams)),
        ("busiest", *("-" if s.is_alone else s.bottleneck for s in streams)),
        ("sweeps in flight", *(f"{one.in_flight}" for one in streams)),
        ("oscillators busy", *(percent(one.oscillator_use, 1) for one in maps)),
        ("couplers in use", *(percent(one.coupler_use, 1) for one in maps)),
        ("writes per token", *(f"{one.writes_per_token:,.4g}" for one in maps)),
        *([("anchor words per token", *map(_anchors, maps))] if _reloads(maps) else []),
        *(
            [("to write, per token", *(quantity(j, "J") for j in write_j))]
            * bool(write_j)
        ),
        ("memory lasts", *(_lasts(one.lifetime_s) for one in found)),
    ]


def sweep_notes(found: Sequence[Timeline]) -> list[str]:
    """Return what was taken as unlimited and what takes no time, each once."""
    return [*dict.fromkeys(note for one in found for note in one.notes), OVERLAP]


def _rate(value: float) -> str:
    return quantity(value, "").strip()


def _reloads(maps: Sequence[Mapping]) -> bool:
    return any(one.anchor_words for one in maps)


def _anchors(one: Mapping) -> str:
    return f"{one.anchor_words / one.tokens:,.4g}"


def sweep_name(one: Timeline) -> str:
    """Return what a sweep does, and of how many sequences."""
    kind = "decode" if one.mapping.is_decoding else "prefill"
    return f"{kind}, {one.mapping.batch}"


def _lasts(seconds: float) -> str:
    if math.isinf(seconds):
        return "volatile"
    if seconds >= YEAR:
        return f"{seconds / YEAR:.3g} years"
    return quantity(seconds, "s")
