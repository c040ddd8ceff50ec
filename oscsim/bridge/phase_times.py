"""How long Kuramoto attention takes on a device: windows read, tokens decoded."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oscsim.bridge.language import LanguageRun
from oscsim.bridge.phase_cost import phase_latency
from oscsim.models.kuramoto_config import KuramotoConfig

Step: TypeAlias = Literal["load", "dwell", "read"]

PHASE_TIME_NOTES = (
    "gates, scores, softmax, feed-forward blocks and logits are not timed",
    "a chip does one window after the other: a batch takes as many times as long",
    "loading, dwell and read-out do not overlap, and layers wait for one another",
    "dwells are those of the run: means over its windows",
    "sizes of an array, a bus and the wear of its couplings are left out",
)


@dataclass(frozen=True)
class PhaseSweep:
    """One window read, or one token decoded, on the average of a run.

    Attributes
    ----------
    is_decoding : bool
        Whether it is one token, after the earlier ones of its window.
    tokens : int
        Tokens that it advances by.
    seconds : dict of str to float
        Time to load rows of weights, to dwell and to read phases (s).
    """

    is_decoding: bool
    tokens: int
    seconds: dict[Step, float]

    @property
    def latency_s(self) -> float:
        """Time of the sweep (s)."""
        return math.fsum(self.seconds.values())

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second."""
        return self.tokens / self.latency_s


@dataclass(frozen=True)
class PhaseTimes:
    """Prefill and decoding of Kuramoto attention on one device.

    Attributes
    ----------
    context : int
        Tokens of a window.
    n_layers : int
        Layers, one after the other.
    in_turn : bool
        Whether one set of oscillators serves all tokens in turn.
    prefill, decoding : PhaseSweep
        A window, and the mean token of it.
    coupling_writes : float
        Couplings and registers written per token.
    """

    context: int
    n_layers: int
    in_turn: bool
    prefill: PhaseSweep
    decoding: PhaseSweep
    coupling_writes: float

    @property
    def sweeps(self) -> tuple[PhaseSweep, PhaseSweep]:
        """Prefill, then decoding."""
        return self.prefill, self.decoding


def phase_times(run: LanguageRun) -> PhaseTimes:
    """Time the windows of a run of Kuramoto attention, and its tokens one by one.

    Per layer a window takes ``T write``, the longest dwell of its T tokens and
    one ``read``; with one set of oscillators for all tokens in turn, the sum of
    their longest dwells and ``T read``. A token that is decoded takes ``write``,
    the longest dwell of its oscillators and ``read``: no later token changes it.

    Parameters
    ----------
    run : LanguageRun
        Of Kuramoto attention on a device in seconds.
    """
    device, time = run.setting.acting_device, run.data.context
    config = run.checkpoint.config
    in_turn = device.query_slots == 1
    layers = config.n_layers if isinstance(config, KuramotoConfig) else 0
    loaded = layers * device.write_time
    read = layers * device.read_time
    reads = read * (time if in_turn else 1)
    window = time * phase_latency(run)
    longest = sum(tally.longest for tally in run.tallies) / run.counts.tokens
    return PhaseTimes(
        context=time,
        n_layers=layers,
        in_turn=in_turn,
        prefill=PhaseSweep(
            False,
            time,
            {
                "load": time * loaded,
                "dwell": window - time * loaded - reads,
                "read": reads,
            },
        ),
        decoding=PhaseSweep(True, 1, {"load": loaded, "dwell": longest, "read": read}),
        coupling_writes=run.counts.total("coupling_write") / run.counts.tokens,
    )
