"""The spice rung of the ladder: tokens of a checkpoint as a circuit in ngspice."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from oscsim.arrays import seed_number, whole_number
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.infer import Data, as_data
from oscsim.bridge.passes import in_float64
from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.models.arithmetic import shares
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, affinity_of, settle_digital
from oscsim.spice.build import HeadCircuit, to_circuit
from oscsim.spice.head import AttentionHead
from oscsim.spice.head_run import HeadRun, run_head, usual_duration
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Engine
from oscsim.study.one_item import Twin, drive_of, words_of
from oscsim.typing import FloatArray, IntArray

GATES: dict[HeadCircuit, float] = {"sphere": 0.01, "lc": 0.03}
"""Largest difference of an attention weight from the engine's that passes."""


@dataclass(frozen=True, eq=False)
class SpiceRung:
    """Attention of some tokens, digital, by the engine and by a circuit.

    Attributes
    ----------
    checkpoint : str
        Its name.
    circuit : {"sphere", "lc"}
        What was built.
    item, layer, head : int
        Which sentence, clip or window, and where in the model.
    positions : IntArray, shape (tokens,)
        The queries.
    words, queries : tuple of str
        Tokens of the item, and those of the queries.
    netlist : Netlist
        What ran.
    run : HeadRun
        Its waveforms as directions, settling times and energies.
    lengths : FloatArray, shape (tokens,)
        |h_i| as a share of the circuit's full scale: the largest ``sum_j w_ij |r_j|``
        of the queries that were picked, so it depends on them.
    fixed : FloatArray, shape (tokens, d)
        h/|h|.
    engine_state : FloatArray, shape (tokens, d)
        The exact flow from the same start for the same time.
    digital, engine, spice : FloatArray, shape (tokens, n)
        Attention a_ij over the positions of the item.
    """

    checkpoint: str
    circuit: HeadCircuit
    item: int
    layer: int
    head: int
    positions: IntArray
    words: tuple[str, ...]
    queries: tuple[str, ...]
    netlist: Netlist
    run: HeadRun
    lengths: FloatArray
    fixed: FloatArray
    engine_state: FloatArray
    digital: FloatArray
    engine: FloatArray
    spice: FloatArray

    @property
    def gate(self) -> float:
        """Largest weight error against the engine that passes."""
        return GATES[self.circuit]

    @property
    def weight_errors(self) -> FloatArray:
        """Largest difference from the engine's weights, shape (tokens,)."""
        return np.asarray(np.abs(self.spice - self.engine).max(axis=1))

    @property
    def digital_errors(self) -> FloatArray:
        """Largest difference from the digital weights, shape (tokens,)."""
        return np.asarray(np.abs(self.spice - self.digital).max(axis=1))

    @property
    def engine_angles(self) -> FloatArray:
        """Angle to the engine's state at the end (rad), shape (tokens,)."""
        return angles(self.run.final, self.engine_state)

    @property
    def digital_angles(self) -> FloatArray:
        """Angle to h/|h| at the end (rad), shape (tokens,)."""
        return angles(self.run.final, self.fixed)

    @property
    def unsettled(self) -> int:
        """Tokens that did not come to rest in the time."""
        return int(np.isnan(self.run.settle_times).sum())

    @property
    def passed(self) -> bool:
        """Whether every weight, of unsettled tokens too, is within the gate."""
        return bool((self.weight_errors <= self.gate).all())


def spice_rung(
    checkpoint: Checkpoint,
    data: Data | str | Path | None = None,
    *,
    circuit: HeadCircuit = "sphere",
    tokens: int = 4,
    layer: int = 0,
    head: int = 0,
    item: int = 0,
    seed: int = 0,
    duration: float | None = None,
    timeout: float = 300.0,
    keep: Path | None = None,
    engine: Engine = "program",
) -> SpiceRung:
    """Run tokens of a checkpoint in ngspice, beside the engine and the model.

    The couplings and anchors are those of the digital pass. The circuit starts
    where rung ``finite`` of chip 0, repeat 0 does, and the engine's exact flow
    is taken for the same time; all three states go through the model's own
    read-out: its p, clamp, masks and normalisation.

    Parameters
    ----------
    checkpoint : Checkpoint
        Fixed-query oscillator attention.
    data : TokenSet, DigitSet, ByteText or path, optional
        Inputs; the bundled ones by default.
    circuit : {"sphere", "lc"}
        Unit vectors behind resistors, or LC oscillators on tones (d_osc 2).
    tokens : int
        How many queries, spread evenly over the item from its first to its last.
    layer, head, item : int
        Where in the model, and which sentence, clip or window.
    seed : int
        Of the start.
    duration : float, optional
        End of the run, in seconds of the circuit; long enough for the slowest of
        the tokens by default, up to a limit.
    timeout : float
        Longest wall time of ngspice (s).
    keep : Path, optional
        Where to keep the raw file.
    engine : {"program", "shared"}
        How ngspice runs.

    Returns
    -------
    SpiceRung

    Raises
    ------
    SpecError
        If the checkpoint has no fixed-query oscillators, or a number is out of
        range.
    NetlistError
        If the circuit cannot realise the head.
    SimulatorError
        If ngspice is missing or fails.
    """
    config = _fixed_query(checkpoint)
    if circuit not in GATES:
        raise SpecError(f"circuit must be 'sphere' or 'lc', got {circuit!r:.60}")
    inputs = as_data(data, checkpoint)
    layer = _within("layer", layer, config.n_layers)
    head = _within("head", head, config.n_heads)
    item = _within("item", item, len(inputs))
    seed = seed_number(seed)
    weights = in_float64(checkpoint.weights)
    drive, masks = drive_of(weights, config, inputs, item, layer)
    live = np.flatnonzero(drive.live[0])
    positions = live[_spread(tokens, len(live))]
    twin = Twin(weights, config, drive, seed)
    coupling = drive.coupling[0, head][positions]
    used = np.flatnonzero(coupling.any(axis=0))
    circuit_head = AttentionHead(
        coupling[:, used],
        drive.anchors[head][used],
        twin.starts(head, positions),
        tuple(map(str, positions)),
    )
    circuit_head.check()
    if duration is None:
        duration = usual_duration(circuit_head, circuit)
    built = to_circuit(circuit_head, duration=duration, circuit=circuit)
    # the circuits of all checkpoints have one name
    netlist = replace(built.netlist(), name=f"{checkpoint.name} ({circuit})")
    run = run_head(circuit_head, netlist, circuit, timeout, keep, engine)
    there = twin.after(run.time_in_scales / circuit_head.full_scale)[0, head][positions]
    digital = settle_digital(drive, Counts())[0, head][positions]
    words = words_of(config, inputs, item, live)

    def attention(state: FloatArray) -> FloatArray:
        full = np.zeros((*drive.coupling.shape[:3], state.shape[-1]))
        full[0, head, positions] = state
        read = affinity_of(config, layer, full, drive.anchors, masks, Pass())
        return np.asarray(shares(read)[0, head][positions][:, live])

    return SpiceRung(
        checkpoint=checkpoint.name,
        circuit=circuit,
        item=item,
        layer=layer,
        head=head,
        positions=positions,
        words=words,
        queries=tuple(words[at] for at in np.searchsorted(live, positions)),
        netlist=netlist,
        run=run,
        lengths=np.linalg.norm(circuit_head.drives, axis=1),
        fixed=digital,
        engine_state=there,
        digital=attention(digital),
        engine=attention(there),
        spice=attention(run.final),
    )


def angles(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles between vectors (rad), exact where they are small.

    Parameters
    ----------
    first, second : FloatArray, shape (n, d)
        Vectors of any length but 0.
    """
    one, other = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)
        for vectors in (first, second)
    )
    apart = np.linalg.norm(one - other, axis=-1)
    together = np.linalg.norm(one + other, axis=-1)
    return np.asarray(2 * np.arctan2(apart, together))


def _fixed_query(checkpoint: Checkpoint) -> FixedQueryConfig:
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig) or config.d_osc is None:
        if getattr(config, "attention", None) == "softmax":
            raise SpecError(
                f"{checkpoint.name} is softmax attention and has no oscillators: the "
                "spice rung needs a fixed-query oscillator model"
            )
        raise SpecError(
            f"{checkpoint.name} is of family {config.family!r} and has no oscillators "
            "with fixed queries: the spice rung needs a fixed-query oscillator model"
        )
    return config


def _within(name: str, value: int, n: int) -> int:
    value = whole_number(name, value, 0)
    if value >= n:
        raise SpecError(f"{name} must be in 0..{n - 1}, got {value}")
    return value


def _spread(tokens: int, n: int) -> IntArray:
    tokens = whole_number("tokens", tokens, 1)
    if tokens > n:
        raise SpecError(f"the item has {n} tokens, {tokens} were asked for")
    if tokens == 1:
        return np.array([n - 1])
    return np.rint(np.linspace(0, n - 1, tokens)).astype(np.int64)
