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
    from oscsim.bridge.digit_data import DigitSet, read_digits
    from oscsim.bridge.generate import generate
    from oscsim.bridge.infer import Run, infer
    from oscsim.bridge.language import LanguageRun
    from oscsim.bridge.language_compare import LanguageComparison
    from oscsim.bridge.text_data import ByteText, read_bytes
    from oscsim.design.interactions import interactions
    from oscsim.design.pareto import pareto
    from oscsim.design.rule import DesignRule, fit_rule
    from oscsim.design.run import sweep
    from oscsim.design.spec import read_spec
    from oscsim.design.store_file import open_store
    from oscsim.design.table import read_table
    from oscsim.energy.ledger import Ledger, account
    from oscsim.errors import OscsimError
    from oscsim.network.potential import potential
    from oscsim.network.spec import Network
    from oscsim.network.topology import (
        all_to_all,
        lattice,
        random_regular,
        ring,
        scale_free,
        small_world,
    )
    from oscsim.physics.locking import (
        effective_frequencies,
        locked_clusters,
        pairwise_coherence,
        settling_times,
    )
    from oscsim.physics.observables import (
        local_order_parameter,
        order_parameter,
    )
    from oscsim.report.plot import plot
    from oscsim.solve.frequencies import natural_frequencies
    from oscsim.solve.simulate import simulate
    from oscsim.solve.trajectory import Trajectory
    from oscsim.study.ladder import Ladder, ladder
    from oscsim.study.robustness import Robustness, robustness
    from oscsim.substrate.device import Device
    from oscsim.substrate.perturb import Perturbation

_HOME = {
    "Checkpoint": "bridge.checkpoint",
    "read_bytes": "bridge.text_data",
    "generate": "bridge.generate",
    "DigitSet": "bridge.digit_data",
    "read_digits": "bridge.digit_data",
    "ByteText": "bridge.text_data",
    "LanguageRun": "bridge.language",
    "LanguageComparison": "bridge.language_compare",
    "load_checkpoint": "bridge.checkpoint",
    "Comparison": "bridge.compare",
    "compare": "bridge.compare",
    "Cost": "bridge.cost",
    "price": "bridge.cost",
    "plot": "report.plot",
    "TokenSet": "bridge.datasets",
    "read_sva": "bridge.datasets",
    "Run": "bridge.infer",
    "infer": "bridge.infer",
    "Ledger": "energy.ledger",
    "account": "energy.ledger",
    "OscsimError": "errors",
    "Network": "network.spec",
    "all_to_all": "network.topology",
    "lattice": "network.topology",
    "random_regular": "network.topology",
    "ring": "network.topology",
    "scale_free": "network.topology",
    "small_world": "network.topology",
    "natural_frequencies": "solve.frequencies",
    "local_order_parameter": "physics.observables",
    "potential": "network.potential",
    "effective_frequencies": "physics.locking",
    "locked_clusters": "physics.locking",
    "pairwise_coherence": "physics.locking",
    "settling_times": "physics.locking",
    "order_parameter": "physics.observables",
    "simulate": "solve.simulate",
    "Trajectory": "solve.trajectory",
    "Ladder": "study.ladder",
    "ladder": "study.ladder",
    "Robustness": "study.robustness",
    "robustness": "study.robustness",
    "DesignRule": "design.rule",
    "fit_rule": "design.rule",
    "interactions": "design.interactions",
    "open_store": "design.store_file",
    "pareto": "design.pareto",
    "read_spec": "design.spec",
    "read_table": "design.table",
    "sweep": "design.run",
    "Device": "substrate.device",
    "Perturbation": "substrate.perturb",
}

__all__ = [
    "ByteText",
    "Checkpoint",
    "Comparison",
    "Cost",
    "DesignRule",
    "Device",
    "DigitSet",
    "Ladder",
    "LanguageComparison",
    "LanguageRun",
    "Ledger",
    "Network",
    "OscsimError",
    "Perturbation",
    "Robustness",
    "Run",
    "TokenSet",
    "Trajectory",
    "account",
    "all_to_all",
    "compare",
    "effective_frequencies",
    "fit_rule",
    "generate",
    "infer",
    "interactions",
    "ladder",
    "lattice",
    "load_checkpoint",
    "local_order_parameter",
    "locked_clusters",
    "natural_frequencies",
    "open_store",
    "order_parameter",
    "pairwise_coherence",
    "pareto",
    "plot",
    "potential",
    "price",
    "random_regular",
    "read_bytes",
    "read_digits",
    "read_spec",
    "read_sva",
    "read_table",
    "ring",
    "robustness",
    "scale_free",
    "settling_times",
    "simulate",
    "small_world",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: start-up stays short."""
    if name in _HOME:
        return getattr(import_module(f"oscsim.{_HOME[name]}"), name)
    raise AttributeError(f"module 'oscsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
