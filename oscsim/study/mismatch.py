"""A chip's static coupling errors beside redrawn ones, against anchors averaged."""

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Progress, checked_draws
from oscsim.bridge.infer import infer
from oscsim.bridge.language import LanguageRun, require_bytes
from oscsim.bridge.setting import Setting
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.study.drives import (
    alignment,
    effective_anchors,
    medians_by_position,
    mismatch_angle,
)
from oscsim.study.mismatch_table import MismatchByContext
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from oscsim.typing import FloatArray


def mismatch_by_context(
    checkpoint: Checkpoint,
    data: ByteText,
    *,
    strengths: Sequence[float] = (0.1, 0.2, 0.5),
    last: Sequence[int] = (8, 16, 32, 64),
    chips: int = 8,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> MismatchByContext:
    """Measure what errors of the couplings cost, by anchors averaged.

    Every coupling w_ij becomes w_ij exp(N(0, s^2)), once a chip (a device with
    ``coupling_mismatch`` alone) or anew for every window (the published
    perturbation). The oscillator at position i, from 1, is driven by i anchors.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query oscillator model of bytes.
    data : ByteText
        Windows.
    strengths : sequence of float
        s, >= 0 (dimensionless).
    last : sequence of int
        Last position of each bin, rising; the last at most the context.
    chips : int
        Chips, and as many redraws.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (runs done, runs).

    Returns
    -------
    MismatchByContext

    Raises
    ------
    SpecError
        If no strength is given or one is wrong, the bins do not rise or do not
        fit the context, the model has no oscillators, or a count or the seed
        is out of range.
    DeviceError
        If a strength is above what a device can have.
    DataError
        If the model cannot read the windows.

    Notes
    -----
    Errors add the variance over chips to that over windows; chance that is in
    both is counted twice, which makes them too large rather than too small.
    Later positions also read a context that errors have changed in the first
    layer, and predict other bytes: the angle ``turn`` is the averaging alone.
    """
    _require(checkpoint, data, strengths, last)
    ideal = Device.load("ideal")
    Setting(ideal, "device", seed)
    checked_draws("device", chips, 1)
    perturbations = [Perturbation("coupling", float(s)) for s in strengths]
    devices = [ideal.changed(coupling_mismatch=float(s)) for s in strengths]
    asked: list[tuple[Device, Perturbation | None]] = [(d, None) for d in devices]
    asked += [(ideal, perturbation) for perturbation in perturbations]
    edges = (0, *last)
    lost = []
    for number, (device, perturbation) in enumerate(asked):
        if progress is not None:
            progress(number, len(asked))
        run = infer(
            checkpoint,
            data,
            device=device,
            chips=chips,
            repeats=1,
            seed=seed,
            perturbation=perturbation,
            n_threads=n_threads,
        )
        if run.interrupted:
            raise KeyboardInterrupt
        bits = cast("LanguageRun", run)
        lost.append(_binned(bits.bits[:, 0] - bits.digital, edges))
        digital = _binned(bits.digital, edges)
    if progress is not None:
        progress(len(asked), len(asked))
    turn, effective, aligned = (
        medians_by_position(checkpoint, data, measure, edges, n_threads=n_threads)
        for measure in (mismatch_angle, effective_anchors, alignment)
    )
    return MismatchByContext(
        checkpoint=checkpoint.name,
        strengths=np.asarray(strengths, np.float64),
        last=tuple(int(position) for position in last),
        digital=digital,
        lost=np.array(lost).reshape(2, len(strengths), *lost[0].shape),
        turn=turn,
        effective=effective,
        aligned=aligned,
        seed=seed,
    )


def _binned(values: FloatArray, edges: Sequence[int]) -> FloatArray:
    """Return means over bins of the last axis."""
    parts = [values[..., a:b].mean(axis=-1) for a, b in pairwise(edges)]
    return np.stack(parts, axis=-1)


def _require(
    checkpoint: Checkpoint,
    data: ByteText,
    strengths: Sequence[float],
    last: Sequence[int],
) -> None:
    if not len(strengths):
        raise SpecError("nothing to measure: got 0 strengths, give at least one")
    if checkpoint.d_osc is None:
        raise SpecError(
            f"{checkpoint.name} has no driven oscillators: give a fixed-query "
            "oscillator model"
        )
    require_bytes(checkpoint, data)
    rises = all(a < b for a, b in pairwise((0, *last)))
    if not last or not rises or last[-1] > data.context:
        raise SpecError(
            f"bins must end at rising positions in 1..{data.context}, got {list(last)}"
        )
