"""An energy estimate of a checkpoint on the items that it is evaluated on."""

from pathlib import Path

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.cost import shape_for
from oscsim.bridge.engine import Engine
from oscsim.bridge.estimate import N_DRAWS, Estimate, Scenario, estimate
from oscsim.bridge.infer import Data, as_data, existing_lengths
from oscsim.bridge.language import LANGUAGE_BLOCK
from oscsim.bridge.text_data import ByteText
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.energy.factoring import factoring
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import DEFAULT_NODE, SOFTMAX, Rival, on_gpu, repriced
from oscsim.energy.uncertainty import Case
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig, TransformerConfig
from oscsim.models.phase_counting import transformer
from oscsim.substrate.device import Device

NO_OSCILLATORS = "a softmax model has no oscillators: nothing is put on a device"


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
        A fixed-query model, its softmax twin, or a rotary transformer.
    device : Device or None
        Where oscillators settle; not used by a softmax model.
    data : str or Path, optional
        Items; the bundled ones by default.
    node_nm, reuse, seed
        As `estimate`.

    Raises
    ------
    SpecError
        If the checkpoint is a Kuramoto attention model, whose dwells are known
        only once it has run, and as `estimate`.
    """
    config = checkpoint.config
    if isinstance(config, KuramotoConfig):
        raise SpecError(
            f"{checkpoint.name} is a {config.family} model: how long its oscillators "
            "run is known once it has run; oscsim infer prices it"
        )
    items = as_data(data, checkpoint)
    if isinstance(config, TransformerConfig):
        return _transformer(checkpoint.name, config, items, node_nm, reuse, seed)
    if isinstance(items, ByteText):
        lengths, head_rows = np.full(len(items), items.context), None
    else:
        lengths, head_rows = existing_lengths(config, items), len(items)
    shape = shape_for(config, lengths, head_rows)
    notes = [_said(items, lengths.mean())]
    factors = None
    if config.attention == "softmax":
        device = None
        notes.append(NO_OSCILLATORS)
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


def _transformer(
    name: str,
    config: TransformerConfig,
    items: Data,
    node_nm: int | None,
    reuse: float,
    seed: int,
) -> Estimate:
    """Price a rotary transformer beside itself with cheaper arithmetic."""
    time = items.context if isinstance(items, ByteText) else items.inputs.shape[1]
    if reuse != 1:
        raise SpecError(f"{name} is counted at a reuse of 1 only, got {reuse:g}")
    library, node = Library.load(), DEFAULT_NODE if node_nm is None else node_nm
    counts = transformer(config, len(items), time)
    mine = Rival("digital softmax", counts, Prices.digital(node), SOFTMAX)
    theirs = (*repriced(counts, node), on_gpu(counts, library))

    def priced(one: Rival) -> Scenario:
        case = Case(one.counts, one.prices)
        ledger = account(*case, library, N_DRAWS, seed)
        return Scenario(one.name, one.remark, case, ledger, reuse)

    shape = Shape(
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        d_model=config.d_model,
        d_ff=config.d_ff,
        d_osc=2,
        lengths=[time] * len(items),
        causal=True,
        coupling="softplus",
        n_outputs=config.vocab_size,
    )
    return Estimate(
        title=name,
        shape=shape,
        node_nm=node,
        device=None,
        subjects=(priced(mine),),
        rivals=tuple(map(priced, theirs)),
        others=(),
        notes=(_said(items, time), NO_OSCILLATORS),
        latency_s=None,
        library=library,
        n_draws=N_DRAWS,
        seed=seed,
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
