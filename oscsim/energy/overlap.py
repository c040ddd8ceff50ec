"""How fast a stream of sweeps can go when bus, array and digital part overlap."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oscsim.energy.timeline import Phase, Timeline

Resource: TypeAlias = Literal["bus", "array", "digital"]
RESOURCES: dict[Resource, tuple[Phase, ...]] = {
    "bus": ("load",),
    "array": ("settle", "read"),
    "digital": ("projection", "weights", "value", "ffn"),
}
"""What is busy in which phase; each does one thing at a time."""
OVERLAP = (
    "overlapped, at best: sweeps of other sequences (other prompts, other batches that "
    "are decoded) use what this one does not (bus, array, digital part), which needs a "
    "second set of couplings, loaded while the first settles; one sequence that is "
    "decoded has no other. Where oscillators run while their couplings load, the array "
    "is busy meanwhile"
)


@dataclass(frozen=True)
class Overlap:
    """A stream of like sweeps of independent sequences, in the long run.

    Attributes
    ----------
    busy : dict of Resource to float
        Seconds that a sweep keeps each resource busy; without a digital rate the
        digital part is absent.
    latency_s : float
        Of one sweep, one phase after the other (s): what it takes also in the
        stream, at least.
    tokens : int
        Tokens that a sweep advances by.
    is_alone : bool
        Whether there is no other sweep to overlap with: one sequence, decoded,
        whose next token needs this one.
    """

    busy: dict[Resource, float]
    latency_s: float
    tokens: int
    is_alone: bool

    @property
    def bottleneck(self) -> Resource:
        """The resource that is busy for longest."""
        return max(self.busy, key=lambda name: self.busy[name])

    @property
    def interval_s(self) -> float:
        """Time between the ends of two sweeps (s), at best.

        The time that the busiest resource needs for one; the latency if the sweep
        is alone.
        """
        return self.latency_s if self.is_alone else self.busy[self.bottleneck]

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second over the whole stream, at best."""
        return self.tokens / self.interval_s

    @property
    def in_flight(self) -> int:
        """Sweeps that must be under way at once, at least: latency over interval."""
        return math.ceil(self.latency_s / self.interval_s * (1 - 1e-12))


def overlap(timed: Timeline) -> Overlap:
    """Return what a stream of such sweeps can do if its resources overlap.

    Parameters
    ----------
    timed : Timeline
        From `oscsim.energy.timeline.timeline`.

    Returns
    -------
    Overlap

    Notes
    -----
    A bound that is reached as the stream gets long: no schedule can do more than
    keep the busiest resource busy, and serving whichever sweep has waited longest
    comes as near as one likes. What overlaps are phases of *different* sweeps:
    prompts of different sequences, or decoding steps of different batches of
    ``batch`` sequences each. Phases of one sweep do not, since a layer needs the
    one before it. On a device with ``runs_while_loading`` the array is busy with
    the pass that it loads, so that its loads overlap with no settling. Otherwise
    couplings that load while others settle need a memory of their
    own, and states that are read must be kept; neither is in the area.
    """
    seconds = timed.seconds
    busy: dict[Resource, float] = {
        resource: math.fsum(seconds[name] for name in members if name in seconds)
        for resource, members in RESOURCES.items()
        if any(name in seconds for name in members)
    }
    mapping = timed.mapping
    if mapping.device.runs_while_loading:
        busy["array"] += seconds["load"]
    alone = mapping.is_decoding and mapping.batch == 1
    return Overlap(busy, timed.latency_s, mapping.tokens, alone)
