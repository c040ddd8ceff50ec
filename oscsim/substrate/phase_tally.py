"""What happened to couplings and dwells of Kuramoto attention on one chip."""

from collections import Counter
from dataclasses import dataclass, field, fields

from oscsim.substrate.quantize import Quantized
from oscsim.typing import FloatArray


@dataclass
class PhaseTally:
    """Running sums over the oscillators of one chip.

    Attributes
    ----------
    couplings, clipped, zeroed : int
        Weights A_tu loaded, clipped to full scale, and lost below half an LSB.
    dwells : int
        Oscillators that were pulled for a time.
    cut : int
        Those whose dwell was longer than the device's ``settle_time``.
    undriven : int
        Those without any field: every coupling lost.
    unlocked : int
        Those detuned beyond their field.
    strongly_driven : int
        Those with |h| / (2 pi f) beyond the device's ``weak_coupling``.
    reads : int
        Phases read, by the score stage and after a dwell.
    dwell : float
        Sum of the dwells (s; model time without a time unit).
    busy : float
        Time on the substrate, over windows one after the other: loading rows,
        the longest dwell, reading (same unit).
    by_layer : Counter of (int, str)
        By number of the layer: ``"dwells"``, ``"moved"`` (sum over dwells of the
        squared update the trained map makes in the same field, rad^2) and
        ``"gap"`` (of the squared difference between the chip's update and it).
    """

    couplings: int = 0
    clipped: int = 0
    zeroed: int = 0
    dwells: int = 0
    cut: int = 0
    undriven: int = 0
    unlocked: int = 0
    strongly_driven: int = 0
    reads: int = 0
    dwell: float = 0.0
    busy: float = 0.0
    by_layer: Counter[tuple[int, str]] = field(default_factory=Counter)

    def record_couplings(self, wanted: int, loaded: Quantized) -> None:
        """Add the weights of one layer that exist and were not 0."""
        self.couplings += wanted
        self.clipped += loaded.clipped
        self.zeroed += loaded.zeroed

    def record_update(self, layer: int, mapped: FloatArray, done: FloatArray) -> None:
        """Add the trained map's updates and those that the chip made (rad)."""
        gap = done - mapped
        sums = {
            "dwells": mapped.size,
            "moved": float(mapped.ravel() @ mapped.ravel()),
            "gap": float(gap.ravel() @ gap.ravel()),
        }
        for name, value in sums.items():
            self.by_layer[layer, name] += value  # type: ignore[assignment]

    def rms(self, layer: int, name: str) -> float:
        """Return the root mean square (rad) of ``"moved"`` or ``"gap"``."""
        number = self.by_layer[layer, "dwells"]
        return float((self.by_layer[layer, name] / max(number, 1)) ** 0.5)

    def __add__(self, other: "PhaseTally") -> "PhaseTally":
        return PhaseTally(
            **{
                f.name: getattr(self, f.name) + getattr(other, f.name)
                for f in fields(self)
            }
        )
