"""An attention head as resistors and unit vectors, or as LC oscillators."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from oscsim.errors import NetlistError
from oscsim.spice.circuit import (
    TIGHT,
    Circuit,
    Instance,
    Source,
    parameters_of,
    subcircuit,
    values_of,
)
from oscsim.spice.head import AttentionHead
from oscsim.spice.sphere_parts import sphere, weight
from oscsim.spice.values import spice_number, spice_value

LC = "lc_injection_attention"
FIXED_STEP = "reltol=1e-6 abstol=1e-13 vntol=1e-10 trtol=1e6"
"""As `LC`: with a varying step the frequency of a tank would vary by 1e-5."""

_STEP = 0.02
_RETUNES = ("f0", "eps", "step", "pi")


class Tank(NamedTuple):
    """The LC oscillator of `lc_circuit`, as its netlist has it.

    Attributes
    ----------
    f0, f_ref : float
        Frequency of L and C (Hz), and the measured free-running one.
    inductance : float
        L (H).
    eps : float
        Negative conductance in units of sqrt(C/L).
    kappa : float
        Coupling rate at full scale, in units of 2 pi f0.
    """

    f0: float
    f_ref: float
    inductance: float
    eps: float
    kappa: float

    @classmethod
    def shipped(cls) -> "Tank":
        """Return the one of ``lc_injection_attention.cir``."""
        known = dict(parameters_of(LC, {}))
        names = ("f0", "fref", "l", "eps", "kappa")
        return cls(*(spice_number(known[name]) for name in names))

    @property
    def rate(self) -> float:
        """Rate of settling at full scale (1/s)."""
        return self.kappa * 2 * np.pi * self.f0

    @property
    def offset(self) -> float:
        """Settled phase minus that of the drive (rad): the tank's third harmonic."""
        return -self.eps / 4

    @property
    def g1(self) -> float:
        """Negative conductance of a free tank (S)."""
        return self.eps / (2 * np.pi * self.f0 * self.inductance)

    @property
    def g0(self) -> float:
        """Conductance of a weight at full scale (S)."""
        return 2 * self.kappa / (2 * np.pi * self.f0 * self.inductance)


def sphere_circuit(
    head: AttentionHead, duration: float, *, step: float = _STEP
) -> Circuit:
    """Return a head as unit vectors in any dimension, pulled through resistors.

    ``dz_i/dt = h_i - (z_i.h_i) z_i + z_i (1 - |z_i|^2)``, with h_i the voltages of
    unloaded dividers between unit anchors. Every row is filled up to full scale
    by a resistor to ground, so that all queries share one unit of time.

    Parameters
    ----------
    head : AttentionHead
        Checked.
    duration : float
        End of the run (s at 1 V, 1 ohm and 1 F): full scales times time.
    step : float
        Largest step (s).
    """
    d = head.d
    z = [tuple(f"z_{name}_{k}" for k in range(d)) for name in head.names]
    h = [tuple(f"h_{name}_{k}" for k in range(d)) for name in head.names]
    r = [tuple(f"r_{j}_{k}" for k in range(d)) for j in range(len(head.anchors))]
    elements: list[Instance | Source] = [
        Source(node, node, spice_value(volts))
        for nodes, anchor in zip(r, head.directions, strict=True)
        for node, volts in zip(nodes, anchor, strict=True)
    ]
    elements += [
        Instance(f"q_{name}", "sphere", z[i] + h[i])
        for i, name in enumerate(head.names)
    ]
    rows = head.conductances
    for i, j in zip(*np.nonzero(rows), strict=True):
        values = values_of(w=rows[i, j])
        elements.append(Instance(f"w_{i}_{j}", "weight", r[j] + h[i], values))
    for i, missing in enumerate(1 - rows.sum(axis=1)):
        if missing > 1e-9:
            ports = ("0",) * d + h[i]
            elements.append(
                Instance(f"fill_{i}", "weight", ports, values_of(w=missing))
            )
    nodes = tuple(node for own in z for node in own)
    return Circuit(
        name="sphere",
        title=f"Lohe sphere, d = {d}: {len(z)} queries, {len(r)} anchors",
        parameters=(),
        subcircuits=(sphere(d), weight(d)),
        elements=tuple(elements),
        initial=tuple(
            zip(nodes, map(spice_value, head.start.ravel().tolist()), strict=True)
        ),
        options=TIGHT,
        step=spice_value(step),
        duration=spice_value(duration),
        saved=nodes + tuple(node for own in h for node in own),
    )


def lc_circuit(
    head: AttentionHead,
    duration: float,
    *,
    parameters: Mapping[str, float | str] | None = None,
) -> Circuit:
    """Return a head as LC oscillators that lock to anchor tones (d = 2).

    ``dphi_i/dt = kappa w0 |h_i| sin(arg h_i - phi_i)``, h in full scales, plus a
    constant offset -eps/4 of the settled phase. Every tank cancels the load of
    its own row.

    Parameters
    ----------
    head : AttentionHead
        Checked, with d = 2.
    duration : float
        End of the run (s).
    parameters : mapping of str to float or str, optional
        Other values of the ``.param`` lines of ``lc_injection_attention.cir``,
        such as ``{"l": "4.7 uH", "kappa": 0.002}``.

    Raises
    ------
    NetlistError
        If d is not 2, a parameter is unknown or no quantity, or one that tunes
        the tank (f0, eps, step) changes without ``fref``, which is measured.
    """
    if head.d != 2:
        raise NetlistError(
            f"an LC oscillator has one phase, d = 2, got d = {head.d}: use the sphere"
        )
    changes = dict(parameters or {}) | {"duration": duration}
    if "fref" not in changes and set(changes) & set(_RETUNES):
        raise NetlistError(
            "f0, eps and step set the free-running frequency of the tank: give fref, "
            "as measured with them, too"
        )
    known = parameters_of(LC, changes)
    rows = head.conductances
    phases = np.arctan2(head.directions[:, 1], head.directions[:, 0])
    starts = np.arctan2(head.start[:, 1], head.start[:, 0])
    elements = [
        Instance(f"anchor_{j}", "tone", (f"r_{j}",), values_of(phi=phase))
        for j, phase in enumerate(phases)
    ]
    for i, name in enumerate(head.names):
        loss = ("loss", "{g0*" + spice_value(rows[i].sum()) + "}")
        values = (*values_of(start=starts[i]), loss)
        elements.append(Instance(f"osc_{name}", "tank", (f"p_{name}",), values))
    for i, j in zip(*np.nonzero(rows), strict=True):
        ports = (f"r_{j}", f"p_{head.names[i]}")
        elements.append(
            Instance(f"w_{i}_{j}", "weight", ports, values_of(w=rows[i, j]))
        )
    return Circuit(
        name="lc",
        title=f"LC injection locking: {len(rows)} queries, {len(phases)} anchors",
        parameters=known,
        subcircuits=tuple(subcircuit(LC, part) for part in ("tank", "weight", "tone")),
        elements=tuple(elements),
        initial=(),
        options=FIXED_STEP,
        step="{step}",
        duration="{duration}",
        saved=tuple(f"p_{name}" for name in head.names),
    )
