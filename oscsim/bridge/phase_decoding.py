"""Joules of decoding Kuramoto attention token by token."""

from collections.abc import Callable

from oscsim.bridge.decoding import Step, against
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.scenario import Pricer
from oscsim.counts import Counts
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import SAME, Rival
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.models.phase_counting import count_body, digital_kuramoto, transformer
from oscsim.substrate.tally import SettleTally

ON_CHIP = ("load", "settle", "readout")
"""Phases of the computation that oscillators and converters do."""


def phase_steps(
    run: LanguageRun,
    config: KuramotoConfig,
    twin: TransformerConfig,
    prices: Prices,
    digital: Prices,
    pricer: Pricer,
) -> tuple[Step, ...]:
    """Price the mean step of a run's windows, and the last one, at full context.

    Each token dwells alone, so the copies of the earlier phases run for its own
    longest dwell, ``sum_t t max_k dwell_tk`` for each of the k oscillators: in a
    prefill one set of copies serves all tokens of a window for the longest dwell
    of all. Everything else of the mean step is what the prefill does. The last
    step does what a window has beyond one that is a token shorter.

    Parameters
    ----------
    run : LanguageRun
        Of Kuramoto attention on a device in seconds, one chip and one repeat.
    config : KuramotoConfig
        The model.
    twin : TransformerConfig
        The transformer beside it.
    prices, digital : Prices
        Of the device with the logic beside it, and of that logic alone.
    pricer : Pricer
        Library and draws.

    Notes
    -----
    Valid for windows that are read whole, all of one length, and reuse 1.
    """
    windows, time = len(run.data), run.data.context
    (tally,) = run.tallies

    def step(
        name: str,
        context: float,
        mine: Counts,
        counted: Callable[[Callable[[int], Counts]], Counts],
    ) -> Step:
        subject = pricer.price(Rival("substrate", mine, prices, SAME), 1.0)
        softmax = counted(lambda n: transformer(twin, windows, n))
        same = counted(lambda n: digital_kuramoto(config, windows, n))
        theirs = (
            Rival("transformer, digital", softmax, digital, "another model"),
            Rival("same model, digital", same, digital, SAME),
        )
        beside = (pricer.price(one, 1.0) for one in theirs)
        found = tuple(against(subject, one, pricer) for one in beside)
        return Step(name, context, subject, found)

    def body(n: int) -> Counts:
        counts = Counts()
        count_body(counts, config, windows, n)
        return counts

    def last(count: Callable[[int], Counts]) -> Counts:
        return _beyond(count(time), count(time - 1))

    every, full = body(time), last(body)
    for (phase, action), number in run.counts.actions.items():
        if phase not in ON_CHIP:
            continue
        copies = config.n_osc * tally.held
        every.add(phase, action, copies if action == "anchor_s" else number)
        # tokens are read alike; what else is on the chip follows the context
        if phase == "readout":
            full.add(phase, action, number / time)
    _settle_last(full, config, run, tally)
    return (
        step("mean of all steps", (time + 1) / 2, every, lambda count: count(time)),
        step("full context", time, full, last),
    )


def _settle_last(
    counts: Counts, config: KuramotoConfig, run: LanguageRun, tally: SettleTally
) -> None:
    """Record loading and dwell of the last token of each window."""
    windows, time, k = len(run.data), run.data.context, config.n_osc
    oscillators = config.n_layers * windows * k
    on = tally.last_dwell + oscillators * run.setting.acting_device.read_time
    counts.add("load", "coupling_write", oscillators * (time + 1))
    counts.add("settle", "oscillator_s", on)
    counts.add("settle", "coupler_s", time * on)
    counts.add("settle", "anchor_s", k * time * tally.last_longest)


def _beyond(long: Counts, short: Counts) -> Counts:
    """Return what one tally has beyond another."""
    found = Counts(tokens=long.tokens - short.tokens)
    for (phase, action), number in long.actions.items():
        found.add(phase, action, number - short.actions[phase, action])
    return found
