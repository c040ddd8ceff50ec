"""What the phases of a Kuramoto attention model do, layer by layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oscsim.bridge.passes import blocks, one_blas_thread
from oscsim.bridge.phases import phase_chip, phase_pass_on
from oscsim.errors import SpecError
from oscsim.models.kuramoto_attention import PhasePass, forward
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import Device
from oscsim.substrate.phase_update import How
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray


class LayerPhases(NamedTuple):
    """Order and disorder of one layer, averaged over windows.

    Attributes
    ----------
    layer : int
        From 0.
    r_local : float
        ``mean |G_tj|``: how well a token's context agrees on a phase.
    r_global : float
        ``mean_j |mean_t e^{i theta_tj}|`` after the layer: how alike the
        tokens of a window are.
    omega : float
        Mean |omega_j| (rad per token); 0 without learned rates.
    entropy : float
        Mean entropy of the attention (nat).
    entropy_share : float
        The same over that of uniform attention.
    outside : float
        Share of the phases beyond [-pi, pi] after the layer.
    moved, gap : float
        Root mean square of the map's update, and of how far the chip's update
        is from it in the same field (rad); NaN for a digital pass.
    """

    layer: int
    r_local: float
    r_global: float
    omega: float
    entropy: float
    entropy_share: float
    outside: float
    moved: float
    gap: float


@dataclass(frozen=True)
class PhaseLayers:
    """The table of a model.

    Attributes
    ----------
    rows : tuple of LayerPhases
        One per layer.
    on : str
        ``"digital"``, or the device and the update.
    n_windows, context : int
        What it was measured on.
    """

    rows: tuple[LayerPhases, ...]
    on: str
    n_windows: int
    context: int


def phase_layers(
    weights: Mapping[str, FloatArray],
    config: KuramotoConfig,
    ids: IntArray,
    *,
    device: Device | None = None,
    update: How = "map",
    seed: int = 0,
) -> PhaseLayers:
    """Measure the papers' observables by layer, digitally or on chip 0.

    Parameters
    ----------
    weights : mapping of str to FloatArray
        Float64 tensors of the model.
    config : KuramotoConfig
        The model.
    ids : IntArray, shape (windows, time)
        Tokens, of at least two positions.
    device : Device, optional
        Hardware; digital without.
    update : {"map", "flow"}
        How the chip updates.
    seed : int
        Seed of the chip's draws.

    Returns
    -------
    PhaseLayers

    Raises
    ------
    SpecError
        If there is no window of two tokens.
    DeviceError
        If the device has no phases.
    """
    if ids.ndim != 2 or len(ids) == 0 or ids.shape[1] < 2:
        raise SpecError(
            f"ids must hold at least one window of two tokens, got shape {ids.shape}"
        )
    chip = None if device is None else phase_chip(device, config, seed=seed, chip=0)
    tally = SettleTally()
    sums = np.zeros((config.n_layers, 4))
    with one_blas_thread():
        for block in blocks(ids, None, 0):
            run = PhasePass()
            if chip is not None:
                run = phase_pass_on(chip, 0, tally, update=update)
            run.attention, run.phases, run.order = [], [], []
            forward(weights, config, block.tokens, items=block.items, run=run)
            kept = zip(run.attention, run.phases, run.order, strict=True)
            for layer, arrays in enumerate(kept):
                sums[layer] += _observed(*(array[: block.n_real] for array in arrays))
    means = sums / len(ids)
    uniform = float(np.mean(np.log(np.arange(1, ids.shape[1] + 1))))
    rows = tuple(
        LayerPhases(
            layer=layer,
            r_local=means[layer, 0],
            r_global=means[layer, 1],
            omega=_mean_rate(weights, config, layer),
            entropy=means[layer, 2],
            entropy_share=means[layer, 2] / uniform,
            outside=means[layer, 3],
            moved=tally.rms(layer, "moved") if chip else np.nan,
            gap=tally.rms(layer, "gap") if chip else np.nan,
        )
        for layer in range(config.n_layers)
    )
    on = "digital" if device is None else f"{device.label}, {update}"
    return PhaseLayers(rows, on, *ids.shape)


def _observed(
    attention: FloatArray, theta: FloatArray, order: FloatArray
) -> FloatArray:
    """Return |G|, R, entropy and share outside, summed over windows."""
    resultant = np.abs(np.exp(1j * theta).mean(axis=1)).mean(axis=-1)
    logs = np.log(np.where(attention > 0, attention, 1.0))
    entropy = -(attention * logs).sum(axis=-1).mean(axis=(1, 2))
    outside = (np.abs(theta) > np.pi).mean(axis=(1, 2))
    each = np.stack([order.mean(axis=(1, 2)), resultant, entropy, outside])
    total: FloatArray = each.sum(axis=1)
    return total


def _mean_rate(
    weights: Mapping[str, FloatArray], config: KuramotoConfig, layer: int
) -> float:
    if config.omega == "zero":
        return 0.0
    return float(np.abs(weights[f"layers.{layer}.attn.omega"]).mean())
