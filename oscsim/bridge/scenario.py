"""One way to do a model, priced."""

from dataclasses import dataclass

from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.energy.factoring import Factoring
from oscsim.energy.ledger import Ledger, account
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import SAME, Rival
from oscsim.energy.substrate import substrate
from oscsim.energy.uncertainty import Case, attention_case
from oscsim.substrate.device import Device

DIRECT = "substrate"
FACTORED = "substrate, read-out factored"


@dataclass(frozen=True)
class Scenario:
    """One way to do the model.

    Attributes
    ----------
    name, remark : str
        What it is, and whether it is the same model at the same precision.
    case : Case
        What is done and what it costs.
    ledger : Ledger
        Joules per token.
    reuse : float
        Uses of one byte read from on-chip memory.
    accuracy : str
        What was measured of it at this precision, or that nothing was.
    """

    name: str
    remark: str
    case: Case
    ledger: Ledger
    reuse: float
    accuracy: str = ""


@dataclass(frozen=True)
class Pricer:
    """Prices scenarios with the same draws.

    Attributes
    ----------
    library : Library
        The components.
    n_draws, seed : int
        Draws of the priors.
    """

    library: Library
    n_draws: int
    seed: int

    def price(self, found: Rival, reuse: float) -> Scenario:
        """Return what was counted at some reuse, priced."""
        case = Case(found.counts, found.prices)
        ledger = account(*case, self.library, self.n_draws, self.seed)
        return Scenario(found.name, found.remark, case, ledger, reuse, found.accuracy)

    def attention(self, one: Scenario) -> Ledger:
        """Return the attention stage of a scenario, without overheads."""
        stage = attention_case(one.case)
        return account(*stage, self.library, self.n_draws, self.seed)


def on_substrate(
    shape: Shape,
    device: Device,
    factors: Factoring,
    prices: Prices,
    reuse: float,
    *,
    unit_anchors: bool,
) -> list[Rival]:
    """Return a model on a substrate, and with its read-out factored where legal.

    Parameters
    ----------
    shape, device, reuse, unit_anchors
        As `oscsim.energy.substrate.substrate`.
    factors : Factoring
        Which sums factor.
    prices : Prices
        Of the device and the logic beside it.
    """
    direct = substrate(shape, device, reuse=reuse, unit_anchors=unit_anchors)
    found = [Rival(DIRECT, direct, prices, SAME)]
    if factors.readout:
        folded = substrate(
            shape, device, reuse=reuse, factored=True, unit_anchors=unit_anchors
        )
        found.append(Rival(FACTORED, folded, prices, SAME))
    return found
