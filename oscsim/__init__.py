"""Trained oscillator networks on real, imperfect oscillators.

A trained oscillator network goes in; out comes what it does on real, imperfect
oscillators, beside the digital result, with the joules it costs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from oscsim.bridge.checkpoint import Checkpoint, load_checkpoint
    from oscsim.bridge.compare import Comparison, compare
    from oscsim.bridge.cost import Cost, price
    from oscsim.bridge.datasets import TokenSet, read_sva
    from oscsim.bridge.infer import Run, infer
    from oscsim.energy.ledger import Ledger, account
    from oscsim.errors import OscsimError
    from oscsim.network.spec import Network
    from oscsim.physics.observables import order_parameter
    from oscsim.solve.simulate import simulate
    from oscsim.solve.trajectory import Trajectory
    from oscsim.study.ladder import Ladder, ladder
    from oscsim.study.robustness import Robustness, robustness
    from oscsim.substrate.device import Device
    from oscsim.substrate.perturb import Perturbation

_HOME = {
    "Checkpoint": "bridge.checkpoint",
    "load_checkpoint": "bridge.checkpoint",
    "Comparison": "bridge.compare",
    "compare": "bridge.compare",
    "Cost": "bridge.cost",
    "price": "bridge.cost",
    "TokenSet": "bridge.datasets",
    "read_sva": "bridge.datasets",
    "Run": "bridge.infer",
    "infer": "bridge.infer",
    "Ledger": "energy.ledger",
    "account": "energy.ledger",
    "OscsimError": "errors",
    "Network": "network.spec",
    "order_parameter": "physics.observables",
    "simulate": "solve.simulate",
    "Trajectory": "solve.trajectory",
    "Ladder": "study.ladder",
    "ladder": "study.ladder",
    "Robustness": "study.robustness",
    "robustness": "study.robustness",
    "Device": "substrate.device",
    "Perturbation": "substrate.perturb",
}

__all__ = [
    "Checkpoint",
    "Comparison",
    "Cost",
    "Device",
    "Ladder",
    "Ledger",
    "Network",
    "OscsimError",
    "Perturbation",
    "Robustness",
    "Run",
    "TokenSet",
    "Trajectory",
    "account",
    "compare",
    "infer",
    "ladder",
    "load_checkpoint",
    "order_parameter",
    "price",
    "read_sva",
    "robustness",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: start-up stays short."""
    if name in _HOME:
        return getattr(import_module(f"oscsim.{_HOME[name]}"), name)
    raise AttributeError(f"module 'oscsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
