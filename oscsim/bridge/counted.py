"""What was counted on the chips, in the same words wherever it is shown."""

import math
from typing import NamedTuple

from oscsim.bridge.infer import AnyRun
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.tally import SettleTally


class Counted(NamedTuple):
    """One count of a run.

    Attributes
    ----------
    what : str
        In words.
    number : int or None
        How many; None where the run does not check it.
    total : int
        Out of how many.
    """

    what: str
    number: int | None
    total: int


def gaps(run: AnyRun, tally: SettleTally) -> tuple[tuple[str, str], ...]:
    """Return, by layer of Kuramoto attention, how far updates were from the map's.

    Root mean squares (rad): of the difference between the update that a chip
    made and the trained map's in the same field, and of the latter.
    """
    config = run.checkpoint.config
    if not isinstance(config, KuramotoConfig) or not tally.oscillators:
        return ()
    return tuple(
        (
            f"layer {n}: update less the map's, map's (rms, rad)",
            f"{tally.rms(n, 'gap'):.3g}, {tally.rms(n, 'moved'):.3g}",
        )
        for n in range(config.n_layers)
    )


def counted(run: AnyRun, tally: SettleTally) -> tuple[Counted, ...]:
    """Return the counts of a run; those it could not make have no number.

    Parameters
    ----------
    run : Run
        Says what acted.
    tally : SettleTally
        Of one chip or of all together.
    """
    device = run.setting.acting_device
    acting = device.imperfections
    finite = math.isfinite(device.settle_time)
    detuned = {"frequency_mismatch", "frequency_offset"} & set(acting)
    by_phase = device.has_phase(run.checkpoint.d_osc or 2)
    limited = "range_limit" in acting or device.weight_bits is not None
    converted = device.adc_bits is not None and not by_phase
    n = tally.oscillators
    pulled = isinstance(run.checkpoint.config, KuramotoConfig)
    rows = (
        ("oscillators without any drive", tally.undriven, n, True),
        (
            "drive too weak for 0.01 rad within the settling time",
            tally.unsettled,
            n,
            finite and not pulled,
        ),
        *([("dwells cut short by the settling time", tally.cut, n, finite)] * pulled),
        (
            "detuned beyond the drive (out of lock)",
            tally.unlocked,
            n,
            bool(detuned) and (pulled or run.checkpoint.d_osc == 2),
        ),
        (
            "driven beyond weak coupling, outside the phase model",
            tally.strongly_driven,
            n,
            device.frequency_hz is not None,
        ),
        ("couplings clipped to full scale", tally.clipped, tally.couplings, limited),
        (
            "couplings lost below half a step",
            tally.zeroed,
            tally.couplings,
            device.weight_bits is not None,
        ),
        ("read-outs clipped", tally.adc_clipped, tally.reads, converted),
    )
    return tuple(
        Counted(what, number if checked else None, total)
        for what, number, total, checked in rows
    )
