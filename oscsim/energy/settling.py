"""The settling time of a device as a quantile of what a run's oscillators need."""

import math

from oscsim.errors import DeviceError, SpecError
from oscsim.substrate.device import Device
from oscsim.substrate.tally import SettleTally, histogram_quantile


def settle_quantile(
    device: Device, tally: SettleTally, q: float = 0.99, *, of_driven: bool = False
) -> float:
    """Return a quantile of the settling times of a run (s), to within 12 %.

    Parameters
    ----------
    device : Device
        Of the run.
    tally : SettleTally
        Its time to 0.01 rad, in units of 1 / ``coupling_max``.
    q : float
        Share of the oscillators that have settled by then.
    of_driven : bool
        Whether oscillators without any drive, which never settle, are left out.

    Raises
    ------
    DeviceError
        If the device is in model units, or so many oscillators have no drive, or
        start opposite to it, that the quantile is infinite.
    SpecError
        If ``q`` is not in (0, 1), or nothing was tallied.
    """
    if not 0 < q < 1:
        raise SpecError(f"q must be in (0, 1), got {q}")
    if device.coupling_max is None:
        raise DeviceError(f"device {device.name} is in model units: no seconds")
    if not tally.time_histogram.any():
        raise SpecError("the tally has no settling times: run at rung finite or above")
    times = tally.time_histogram.copy()
    if of_driven:
        times[-1] -= tally.undriven
    found = histogram_quantile(times, q)
    if not math.isfinite(found):
        raise DeviceError(
            f"{tally.undriven:,} of {tally.oscillators:,} oscillators have no drive: "
            f"the p{100 * q:g} of the settling time is not finite; use a smaller q, "
            "more weight_bits, or of_driven"
        )
    return found / device.coupling_max
