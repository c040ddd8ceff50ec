"""What a sweep's models cost without oscillators, for comparison with its cells."""

from oscsim.bridge.cost import shape_on
from oscsim.counts import Counts
from oscsim.design.subject import Subject
from oscsim.energy.baselines import digital_oscillator, digital_softmax
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import DEFAULT_NODE
from oscsim.models.config import FixedQueryConfig
from oscsim.substrate.device import Device

SOFTMAX = "digital softmax of the same size"
SAME = "same model, digital"


def baselines(
    subject: Subject, device: Device | None
) -> dict[str, tuple[float, float, float]]:
    """Return joules per token (p10, p50, p90) of digital ways to do a subject.

    Parameters
    ----------
    subject : Subject
        The checkpoint and its items.
    device : Device or None
        Gives the node of the digital logic; 45 nm without.

    Returns
    -------
    dict of str to tuple
        The system total of `SOFTMAX` and, of an oscillator model, of `SAME`.
        Empty for other families.
    """
    config = subject.checkpoint.config
    if not isinstance(config, FixedQueryConfig):
        return {}
    shape = shape_on(config, subject.data)
    energy = None if device is None else device.energy
    node = DEFAULT_NODE if energy is None else energy.digital_node_nm
    found = {SOFTMAX: _priced(digital_softmax(shape), node)}
    if config.d_osc is not None:
        found[SAME] = _priced(digital_oscillator(shape), node)
    return found


def _priced(counts: Counts, node_nm: int) -> tuple[float, float, float]:
    ledger = account(counts, Prices.digital(node_nm), Library.load())
    p10, p50, p90 = ledger.range_j("system")
    return p10, p50, p90
