"""An energy estimate of a checkpoint on the items that it is evaluated on."""

from pathlib import Path

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.cost import shape_for
from oscsim.bridge.engine import Engine
from oscsim.bridge.estimate import Estimate, estimate
from oscsim.bridge.infer import as_data, existing_lengths
from oscsim.bridge.text_data import ByteText
from oscsim.energy.baselines import Shape
from oscsim.energy.factoring import factoring
from oscsim.substrate.device import Device


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

    Its sizes and the lengths of the items decide; its weights only where the
    read-out's clamp may act (p = 1 and an anchor longer than 1): then the
    digital model is run once to see whether it does.

    Parameters
    ----------
    checkpoint : Checkpoint
        A fixed-query model.
    device : Device or None
        Where oscillators settle; not used by a softmax model.
    data : str or Path, optional
        Items; the bundled ones by default.
    node_nm, reuse, seed
        As `estimate`.

    Raises
    ------
    SpecError
        If the checkpoint is of another family, and as `estimate`.
    """
    config = checkpoint.fixed_query
    items = as_data(data, checkpoint)
    if isinstance(items, ByteText):
        lengths, head_rows = np.full(len(items), items.context), None
    else:
        lengths, head_rows = existing_lengths(config, items), len(items)
    shape = shape_for(config, lengths, head_rows)
    mean = f"{lengths.mean():.3g} positions each"
    notes = [f"{len(items)} items of {items.path}, {mean}"]
    factors = None
    if config.attention == "softmax":
        device = None
        notes.append("a softmax model has no oscillators: nothing is put on a device")
    else:
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
        seed=seed,
    )


def _clamps(
    checkpoint: Checkpoint, items: object, shape: Shape, notes: list[str]
) -> bool | None:
    """Return whether the read-out's clamp acts, None if it was not looked at."""
    norms = checkpoint.describe()["anchor_norms"]
    if norms is not None and norms[1] <= 1:
        return False
    ids, positions = getattr(items, "inputs", None), getattr(items, "positions", None)
    if ids is None:
        return None
    engine = Engine(checkpoint, ids, positions)
    with engine.running():
        clamped = engine.digital().clamped
    pairs = shape.n_layers * shape.pairs
    notes.append(
        f"the clamp of the read-out acts on {clamped:,} of {pairs:,} pairs of the "
        "digital model"
    )
    return clamped > 0
