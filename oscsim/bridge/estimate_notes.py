"""What a reader of an energy estimate must know of its substrate and its rivals."""

from collections.abc import Sequence

from oscsim.bridge.cost import attention_j
from oscsim.bridge.scenario import Scenario
from oscsim.energy.rivals import SAME
from oscsim.substrate.device import Device


def node_notes(device: Device | None, node_nm: int) -> tuple[str, ...]:
    """Return that oscillators and logic are of different nodes, if they are."""
    energy = None if device is None else device.energy
    if energy is None or energy.oscillator_node_nm in (None, node_nm):
        return ()
    said = f"oscillators at {energy.oscillator_node_nm} nm beside digital logic at "
    return (f"{said}{node_nm} nm, each as it is",)


def substrate_notes(device: Device | None, *, unit_anchors: bool) -> tuple[str, ...]:
    """Return what is special in what a substrate is charged, and its rivals."""
    if device is None:
        return ()
    product = (
        "all anchors are unit vectors: couplings are loaded as they are"
        if unit_anchors
        else "couplings are loaded as w |r|: a product and a byte of the norm for "
        "every pair, unless all anchors are unit vectors"
    )
    passes = (
        "items run one after the other: in every pass of the queries of a head the "
        "anchors that any of them sees are on"
    )
    return passes, product


def anchor_notes(mine: Scenario, theirs: Sequence[Scenario]) -> tuple[str, ...]:
    """Return what a digital rival pays to read anchors, beside what it loses by."""
    same = next(one for one in theirs if one.remark == SAME)
    read = same.ledger.joules.get(("load", "sram_read_byte"), 0.0)
    gained = attention_j(same.ledger) - attention_j(mine.ledger)
    said = (
        f"at reuse {mine.reuse:g} the same model done digitally spends "
        f"{read * 1e9:.3g} nJ per token on reading constant anchors for its drive sum "
        "from the 32 KB memory; in all its attention stage costs "
        f"{abs(gained) * 1e9:.3g} nJ {'more' if gained > 0 else 'less'} than the "
        "substrate's"
    )
    return (said,)
