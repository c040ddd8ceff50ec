"""Windows of Kuramoto attention on a device: seconds and tokens per second."""

from rich.console import Console
from rich.table import Table

from oscsim.bridge.phase_times import PHASE_TIME_NOTES, PhaseTimes, Step
from oscsim.report.numbers import quantity

HEADER = ("sweep, batch", "prefill, 1", "decode, 1")
VERBS: dict[Step, str] = {"load": "load", "dwell": "dwell", "read": "read"}


def print_phase_times(console: Console, found: PhaseTimes) -> None:
    """Print a window read and a token decoded, and what is not timed."""
    table = Table(title=window_title(found))
    for column, heading in enumerate(HEADER):
        table.add_column(heading, justify="right" if column else "left")
    for row in window_rows(found):
        table.add_row(*row)
    console.print(table)
    console.print(f"{'; '.join(PHASE_TIME_NOTES)}.", highlight=False)


def window_title(found: PhaseTimes) -> str:
    """Return what is timed, in one line."""
    who = "one set of oscillators in turn" if found.in_turn else "all tokens together"
    return f"Kuramoto attention: {found.n_layers} layers, {found.context} tokens, {who}"


def window_rows(found: PhaseTimes) -> list[tuple[str, ...]]:
    """Return seconds by step, latency and rate, under `HEADER`."""
    return [
        *(
            (f"time to {word}", *(quantity(s.seconds[step], "s") for s in found.sweeps))
            for step, word in VERBS.items()
        ),
        ("latency", *(quantity(one.latency_s, "s") for one in found.sweeps)),
        (
            "tokens per second",
            *(quantity(one.tokens_per_s, "").strip() for one in found.sweeps),
        ),
        ("writes per token", *(f"{found.coupling_writes:,.4g}" for _ in found.sweeps)),
    ]
