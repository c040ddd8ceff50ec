"""A device that gives a model's own oscillators the time that they need."""

from pathlib import Path

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.infer import infer, reads_text
from oscsim.bridge.language import LanguageRun
from oscsim.energy.settling import settle_quantile
from oscsim.errors import DeviceError, SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.substrate.device import Device

WINDOWS = 16
"""Windows of a language model that are read; sentences and clips all are."""
LONG = 1e6
"""Time (s) after which every driven oscillator of any device has settled."""


def own_settling(
    checkpoint: Checkpoint,
    device: Device,
    q: float,
    *,
    data: str | Path | None = None,
    seed: int = 0,
) -> tuple[Device, str]:
    """Return a device whose settling time is a quantile of a model's own.

    The digital model runs on its items; every oscillator's |h| and a random start
    give the time in which it comes within 0.01 rad of h, and their quantile
    replaces ``settle_time``. Couplings are as trained, neither quantised nor
    mismatched: a coarse quantiser removes the weakest drives, and the quantile of
    those that are left is smaller.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query model with oscillators.
    device : Device
        In seconds.
    q : float
        Share of the oscillators that have settled by then.
    data : str or Path, optional
        Items; the bundled ones by default, 16 windows of them for a language model.
    seed : int
        Seed of the starts.

    Returns
    -------
    Device
        Prices and times then follow the new settling time.
    str
        What was run, in a sentence.

    Raises
    ------
    SpecError
        If ``q`` is not in (0, 1), or the model has no oscillators that settle.
    DeviceError
        If the device is in model units, or so many oscillators have no drive that
        the quantile is infinite.
    """
    if not 0 < q < 1:
        raise SpecError(f"the settling quantile must be in (0, 1), got {q:g}")
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig) or config.d_osc is None:
        raise SpecError(
            f"{checkpoint.name} has no oscillators that settle: a settling quantile is "
            "of fixed-query oscillator attention"
        )
    if device.time_unit != "s":
        raise DeviceError(f"device {device.name} is in model units: no seconds")
    run = infer(
        checkpoint,
        data,
        device=device.changed(settle_time=LONG),
        rung="finite",
        chips=1,
        repeats=1,
        seed=seed,
        windows=WINDOWS if reads_text(checkpoint) else None,
    )
    tally = run.tallies[0]
    found = settle_quantile(device, tally, q)
    items = "windows" if isinstance(run, LanguageRun) else "items"
    said = (
        f"settling time: p{100 * q:g} of {tally.oscillators:,} oscillators of the "
        f"digital model on {len(run.data):,} {items} of {run.data.path}, to 0.01 rad, "
        f"{found:.3g} s; the device gives {device.settle_time:.3g} s"
    )
    return device.changed(settle_time=found), said
