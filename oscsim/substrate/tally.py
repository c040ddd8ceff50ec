"""What happened to couplings and oscillators on one chip."""

import math
from collections import Counter
from dataclasses import dataclass, field, fields

import numpy as np

from oscsim.physics.driven import settling_time
from oscsim.physics.geometry import angle_between
from oscsim.substrate.device import Device
from oscsim.substrate.quantize import Quantized
from oscsim.typing import FloatArray, IntArray

SETTLED_WITHIN_RAD = 0.01
LOG10_EDGES = np.linspace(-6.0, 6.0, 241)


def _empty_histogram() -> IntArray:
    return np.zeros(len(LOG10_EDGES) + 1, np.int64)


@dataclass
class SettleTally:
    """Running sums over the oscillators of one chip.

    Attributes
    ----------
    couplings, clipped, zeroed : int
        Couplings loaded, clipped to full scale, and lost below half an LSB.
    by_layer : Counter of (int, str)
        The same three by number of the layer and name. For Kuramoto attention
        also ``"dwells"``, ``"moved"`` (sum of the squared update that the trained
        map makes in the same field, rad^2) and ``"gap"`` (of the squared
        difference between the chip's update and it).
    oscillators : int
        Oscillators that settled.
    undriven : int
        Those with no drive at all: every coupling lost. They keep their start.
    unsettled : int
        Those whose drift alone needs longer than the settling time to come
        within 0.01 rad of the drive (closed form, from the actual start).
    unlocked : int
        Circle only: detuning beyond the drive, which never settles.
    strongly_driven : int
        Those with |h| / (2 pi f) beyond the device's ``weak_coupling``,
        outside the phase model.
    reads, adc_clipped : int
        Conversions of the read-out and those out of range.
    cut : int
        Kuramoto attention only: those whose dwell was longer than the device's
        ``settle_time``; none of them settles, and ``unsettled`` stays 0.
    dwell, busy : float
        Kuramoto attention only: sum of the dwells, and time on the substrate
        over windows one after the other (loading rows, the longest dwell,
        reading); s, or model time without a time unit.
    longest : float
        Kuramoto attention only: sum over tokens of the longest dwell of their
        oscillators, in the same unit.
    held : float
        Kuramoto attention only: sum over tokens of that longest dwell times the
        tokens seen, i.e. how long the copies of one oscillator run if tokens
        dwell one by one; s.
    last_dwell, last_longest : float
        Kuramoto attention only: the parts of ``dwell`` and ``longest`` that are
        the last token's of its window; s.
    field_histogram, time_histogram, error_histogram : IntArray, shape (242,)
        Oscillators by log10 of |h|, of the time to 0.01 rad, and of the angle
        between state and drive when read (rad: detuning, noise and settling
        together), over the edges ``LOG10_EDGES`` with one bin below and one
        above (the angle only of driven ones); |h| in units of ``coupling_max``
        and the time in its inverse (model units without one).
    """

    couplings: int = 0
    clipped: int = 0
    zeroed: int = 0
    by_layer: Counter[tuple[int, str]] = field(default_factory=Counter)
    oscillators: int = 0
    undriven: int = 0
    unsettled: int = 0
    unlocked: int = 0
    strongly_driven: int = 0
    reads: int = 0
    adc_clipped: int = 0
    cut: int = 0
    dwell: float = 0.0
    busy: float = 0.0
    longest: float = 0.0
    held: float = 0.0
    last_dwell: float = 0.0
    last_longest: float = 0.0
    field_histogram: IntArray = field(default_factory=_empty_histogram)
    time_histogram: IntArray = field(default_factory=_empty_histogram)
    error_histogram: IntArray = field(default_factory=_empty_histogram)

    def record_couplings(
        self, layer: int, wanted: FloatArray, loaded: Quantized
    ) -> None:
        """Add the couplings of one layer; pairs that do not exist hold 0."""
        number = int(np.count_nonzero(wanted))
        self.couplings += number
        self.clipped += loaded.clipped
        self.zeroed += loaded.zeroed
        self.by_layer[layer, "couplings"] += number
        self.by_layer[layer, "clipped"] += loaded.clipped
        self.by_layer[layer, "zeroed"] += loaded.zeroed

    def record_settling(
        self,
        device: Device,
        drive: FloatArray,
        detuning: FloatArray | None,
        start: FloatArray,
        final: FloatArray,
    ) -> None:
        """Add oscillators with drive, unit start and final state, all (n, d)."""
        rate = 1.0 if device.coupling_max is None else device.coupling_max
        strength = np.linalg.norm(drive, axis=-1)
        target = drive / np.where(strength > 0, strength, 1)[:, None]
        away = angle_between(start, target)
        needed = settling_time(away, SETTLED_WITHIN_RAD, strength)
        self.oscillators += len(drive)
        self.undriven += int(np.count_nonzero(strength == 0))
        self.unsettled += int(np.count_nonzero(~(needed <= device.settle_time)))
        if detuning is not None and detuning.ndim == 1:
            self.unlocked += int(np.count_nonzero(np.abs(detuning) >= strength))
        if device.frequency_hz is not None:
            limit = device.weak_coupling * 2 * math.pi * device.frequency_hz
            self.strongly_driven += int(np.count_nonzero(strength > limit))
        self.field_histogram += _histogram(strength / rate)
        self.time_histogram += _histogram(needed * rate)
        driven = strength > 0
        self.error_histogram += _histogram(angle_between(final, target)[driven])

    def record_dwells(self, size: FloatArray, cut: int) -> None:
        """Add oscillators that are pulled for a time, by the size of their field.

        Parameters
        ----------
        size : FloatArray
            |G| in full scales.
        cut : int
            How many dwells end before their time.
        """
        self.oscillators += size.size
        self.cut += cut
        self.undriven += int(np.count_nonzero(size == 0))
        self.field_histogram += _histogram(size.ravel())

    def record_update(self, layer: int, mapped: FloatArray, done: FloatArray) -> None:
        """Add the trained map's updates and those that the chip made (rad)."""
        gap = done - mapped
        sums = {
            "dwells": mapped.size,
            "moved": float(np.vdot(mapped, mapped)),
            "gap": float(np.vdot(gap, gap)),
        }
        for name, value in sums.items():
            self.by_layer[layer, name] += value  # type: ignore[assignment]

    def rms(self, layer: int, name: str) -> float:
        """Return the root mean square (rad) of ``"moved"`` or ``"gap"``."""
        number = self.by_layer[layer, "dwells"]
        return float((self.by_layer[layer, name] / max(number, 1)) ** 0.5)

    def __add__(self, other: "SettleTally") -> "SettleTally":
        return SettleTally(
            **{
                f.name: getattr(self, f.name) + getattr(other, f.name)
                for f in fields(self)
            }
        )


def _histogram(values: FloatArray) -> IntArray:
    with np.errstate(divide="ignore"):
        logs = np.log10(values)
    bins = np.searchsorted(LOG10_EDGES, logs, side="right")
    return np.bincount(bins, minlength=len(LOG10_EDGES) + 1)


def histogram_quantile(histogram: IntArray, q: float) -> float:
    """Return a quantile of a tally's histogram, to within a bin (12 % of it)."""
    total = int(histogram.sum())
    if total == 0:
        return math.nan
    k = int(np.searchsorted(np.cumsum(histogram), q * total))
    if k == 0:
        return 0.0
    if k >= len(LOG10_EDGES):
        return math.inf
    return float(10 ** (0.5 * (LOG10_EDGES[k - 1] + LOG10_EDGES[k])))
