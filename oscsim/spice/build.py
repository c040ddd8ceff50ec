"""From a network or an attention head to its circuit."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from oscsim.errors import NetlistError
from oscsim.network.spec import Network
from oscsim.spice.circuit import Circuit
from oscsim.spice.head import AttentionHead
from oscsim.spice.head_circuit import lc_circuit, sphere_circuit
from oscsim.spice.network_circuit import network_circuit

HeadCircuit: TypeAlias = Literal["sphere", "lc"]
"""Unit vectors behind resistors in any dimension, or LC oscillators on tones."""


def to_circuit(
    what: Network | AttentionHead,
    *,
    duration: float,
    circuit: HeadCircuit = "sphere",
    parameters: Mapping[str, float | str] | None = None,
    **options: Any,
) -> Circuit:
    """Return the circuit of a network or of an attention head.

    Built from the sub-circuits in ``circuits/``. ``Circuit.netlist()`` is ready for
    `oscsim.spice.ngspice.simulate_circuit`; ``Circuit.text()`` is what plain ngspice
    runs, as ``ngspice -b -r out.raw FILE``.

    Parameters
    ----------
    what : Network or AttentionHead
        What to realise. A network becomes controlled sources, whose couplings
        have either sign; a head becomes resistors, which have not.
    duration : float
        End of the run (s). The sphere and the networks are in units of 1 V,
        1 ohm and 1 F; for a network that is its own time, for a head its time in
        full scales (`AttentionHead.full_scale`). The LC circuit has real seconds.
    circuit : {"sphere", "lc"}
        How a head is realised.
    parameters : mapping of str to float or str, optional
        Values of the LC circuit, numbers or quantities such as ``"4.7 uH"``.
    **options
        For a network: ``start`` (needed), ``labels`` and ``step`` as in
        `network_circuit`; for the sphere of a head: ``step``.

    Returns
    -------
    Circuit

    Raises
    ------
    NetlistError
        If a value cannot be realised or a name cannot stand in a netlist; what
        is wrong and where is said.
    """
    if not (np.isfinite(duration) and duration > 0):
        raise NetlistError(f"duration must be finite and above 0 s, got {duration}")
    if parameters and not (isinstance(what, AttentionHead) and circuit == "lc"):
        raise NetlistError(
            "parameters belong to the LC circuit of a head: leave them away, got "
            f"{', '.join(map(str, parameters))}"
        )
    if isinstance(what, Network):
        return network_circuit(what, duration=duration, **options)
    if not isinstance(what, AttentionHead):
        raise NetlistError(
            f"a circuit is built from a Network or an AttentionHead, got {what!r:.60}"
        )
    what.check()
    if circuit == "sphere":
        return sphere_circuit(what, duration, **options)
    if circuit == "lc":
        return lc_circuit(what, duration, parameters=parameters, **options)
    raise NetlistError(f"circuit must be 'sphere' or 'lc', got {circuit!r:.60}")
