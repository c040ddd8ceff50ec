"""An energy estimate of a checkpoint on the items that it is evaluated on."""

from functools import partial
from pathlib import Path

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.cost import shape_on
from oscsim.bridge.engine import Engine
from oscsim.bridge.estimate import Estimate, estimate, latency_of
from oscsim.bridge.infer import Data, as_data
from oscsim.bridge.language import LANGUAGE_BLOCK, as_text
from oscsim.bridge.phase_estimate import (
    NO_OSCILLATORS,
    estimate_phases,
    estimate_transformer,
)
from oscsim.bridge.text_data import ByteText
from oscsim.energy.baselines import Shape
from oscsim.energy.factoring import factoring
from oscsim.energy.measured import accuracies_of
from oscsim.models.config import FixedQueryConfig
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.substrate.device import Device
from oscsim.substrate.work import have_unit_norm


def estimate_checkpoint(
    checkpoint: Checkpoint,
    device: Device | None,
    *,
    data: str | Path | None = None,
    node_nm: int | None = None,
    reuse: float = 1.0,
    seed: int = 0,
) -> Estimate:
    """Price a checkpoint on the items that it is evaluated on.

    Of a fixed-query model or a transformer its sizes and the lengths of the items
    decide; its weights only where the read-out's clamp may act (p = 1 and an
    anchor longer than 1): then the digital model is run once to see whether it
    does. How long the oscillators of Kuramoto attention dwell depends on weights
    and text: one chip is run on the items.

    Parameters
    ----------
    checkpoint : Checkpoint
        A model of any family.
    device : Device or None
        Where oscillators settle or dwell; not used by a softmax model.
    data : str or Path, optional
        Items; the bundled ones by default.
    node_nm, reuse, seed
        As `estimate`; the seed is that of the chip, too.

    Raises
    ------
    ComponentError, DeviceError, SpecError
        As `estimate` and `oscsim.bridge.phase_estimate.estimate_phases`.
    """
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig):
        text = as_text(data, checkpoint)
        known = accuracies_of(checkpoint.sha256)
        price = (
            partial(estimate_transformer, checkpoint.name, config, accuracies=known)
            if isinstance(config, TransformerConfig)
            else partial(estimate_phases, checkpoint, config, device)
        )
        said = [_said(text, text.context)]
        return price(text, notes=said, node_nm=node_nm, reuse=reuse, seed=seed)
    items = as_data(data, checkpoint)
    shape = shape_on(config, items)
    notes = [_said(items, shape.rows / len(items))]
    factors = None
    if config.attention == "softmax":
        device = None
        notes.append(NO_OSCILLATORS)
    else:
        latency_of(shape, device)
        clamps = None if config.p != 1 else _clamps(checkpoint, items, shape, notes)
        factors = factoring(config.coupling, config.p, clamps=clamps)
    return estimate(
        shape,
        device,
        factors,
        title=checkpoint.name,
        node_nm=node_nm,
        reuse=reuse,
        notes=notes,
        unit_anchors=config.attention != "softmax" and _are_unit(checkpoint),
        seed=seed,
        accuracies=accuracies_of(checkpoint.sha256),
    )


def _are_unit(checkpoint: Checkpoint) -> bool:
    """Return whether the anchors of every layer are unit vectors."""
    return all(
        have_unit_norm(np.linalg.norm(weight.astype(np.float64), axis=-1))
        for name, weight in checkpoint.weights.items()
        if name.endswith(".attn.anchors")
    )


def _said(items: Data, mean: float) -> str:
    return f"{len(items)} items of {items.path}, {mean:.3g} positions each"


def _clamps(
    checkpoint: Checkpoint, items: Data, shape: Shape, notes: list[str]
) -> bool:
    """Return whether the read-out's clamp acts on any pair of the digital model."""
    norms = checkpoint.describe()["anchor_norms"]
    if norms is not None and norms[1] <= 1:
        return False
    if isinstance(items, ByteText):
        engine = Engine(checkpoint, items.ids, None, block=LANGUAGE_BLOCK)
    else:
        engine = Engine(checkpoint, items.inputs, items.positions)
    with engine.running():
        clamped = engine.digital().clamped
    pairs = shape.n_layers * shape.pairs
    notes.append(
        f"the clamp of the read-out acts on {clamped:,} of {pairs:,} pairs of the "
        "digital model"
    )
    return clamped > 0
