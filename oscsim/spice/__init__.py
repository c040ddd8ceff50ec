"""The electrical realisation: netlists written, run in ngspice and checked."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oscsim.spice.build import to_circuit
    from oscsim.spice.head import AttentionHead

__all__ = ["AttentionHead", "to_circuit"]


def __getattr__(name: str) -> Any:
    """Import on first use: running a netlist needs no network."""
    if name == "to_circuit":
        from oscsim.spice.build import to_circuit  # noqa: PLC0415

        return to_circuit
    if name == "AttentionHead":
        from oscsim.spice.head import AttentionHead  # noqa: PLC0415

        return AttentionHead
    raise AttributeError(f"module 'oscsim.spice' has no attribute {name!r}")
