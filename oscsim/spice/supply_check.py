"""The energies of circuits that ship, beside what the energy model's recipes say."""

import numpy as np

from oscsim.bundled import circuit_folder
from oscsim.spice.monte_carlo import component_values
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Simulation, simulate_circuit
from oscsim.spice.noise import parameter_value
from oscsim.spice.process import side_by_side
from oscsim.spice.supply import (
    SupplyComparison,
    coupler_power,
    resistor_energy,
    ring_cycle,
    settling_time,
)
from oscsim.spice.waveforms import frequency, lock_in, rising_crossings, supply_energy

RING_STAGE_F = 12.4e-15
"""Capacitance (F) of the transistors at a stage of ring_oscillator.cir, from its cards.

Oxide 3.9 eps0 / 4.1 nm over 0.18 um x (1 + 3) um: 6.1 fF. Overlaps 0.3 nF/m of both
gates, the drain's counted twice more as both its ends move: 2.4 + 1.2 fF. Junctions at
zero bias, 1 mF/m^2 and 0.2 nF/m: 2.8 fF.
"""

SETTLED = 0.01
"""Phase (rad) from its end within which an oscillator has settled."""


def supply_comparisons(timeout: float = 300.0) -> tuple[SupplyComparison, ...]:
    """Run circuits that ship and compare their energies with the recipes.

    Rings: current of the supply over ten periods, and over the settling of a pair.
    Resistors: what they turn into heat while oscillators settle, and while a pair
    slips.

    Parameters
    ----------
    timeout : float
        Longest wall time of one run (s).

    Returns
    -------
    tuple of SupplyComparison

    Raises
    ------
    NetlistError, SimulatorError
        If a circuit does not run.
    """
    names = ("ring_oscillator", "ring_pair", "lc_pair", "lc_injection_attention")
    shipped = {name: Netlist.read(circuit_folder() / f"{name}.cir") for name in names}
    asked = [
        *shipped.values(),
        shipped["lc_pair"].changed({"x": 1.5}),
    ]
    ring, pair, lc, attention, slipping = side_by_side(
        lambda one: simulate_circuit(one, timeout), asked, 2
    )
    return (
        *_ring(ring),
        *_ring_pair(pair),
        _lc_pair(shipped["lc_pair"], lc),
        _slipping_pair(shipped["lc_pair"], slipping),
        _attention(shipped["lc_injection_attention"], attention),
    )


def _ring(run: Simulation) -> tuple[SupplyComparison, SupplyComparison]:
    waves = run.waveforms
    edges = rising_crossings(waves.time, waves.signal("v(a0)"), 0.9)[14:25]
    inside = (waves.time >= edges[0]) & (waves.time <= edges[-1])
    measured = supply_energy(waves.time[inside], 1.8, waves.signal("i(vdd)")[inside])
    span = float(edges[-1] - edges[0])
    loads, whole = (10 * ring_cycle(3, c, 1.8) for c in (5e-15, 5e-15 + RING_STAGE_F))
    name, component = "ring_oscillator, ten periods, C ", "osc.ring_cycle_45"
    return (
        SupplyComparison(
            name + "of the loads",
            span,
            measured,
            loads,
            component,
            whole / loads,
            "the transistors' own capacitance is 2.5 times the loads'",
        ),
        SupplyComparison(
            name + "with the transistors",
            span,
            measured,
            whole,
            component,
            1.0,
            "what flows through both of an inverter, less a swing short of the rails "
            "and junctions under bias",
        ),
    )


def _ring_pair(run: Simulation) -> tuple[SupplyComparison, SupplyComparison]:
    waves = run.waveforms
    time, a, b = waves.time, waves.signal("v(a0)"), waves.signal("v(b0)")
    first, second = (lock_in(time, one, 7.1e9) for one in (a, b))
    done = settling_time(first.time, first.phase - second.phase, SETTLED)
    inside = time <= done
    supplied = sum(
        supply_energy(time[inside], 1.8, waves.signal(f"i(vdd{k})")[inside])
        for k in (0, 1)
    )
    periods = done * (frequency(time, a, 0.9) + frequency(time, b, 0.9))
    recipe = periods * ring_cycle(3, 5.06e-15 + RING_STAGE_F, 1.8)
    heat = resistor_energy(time[inside], a[inside], b[inside], 50e3)
    apart = np.interp(time[inside], first.time, first.phase - second.phase)
    seen = 1 - np.cos(apart)
    mean = np.trapezoid(seen, time[inside]) / float(np.ptp(time[inside]))
    return (
        SupplyComparison(
            "ring_pair, both rings until settled",
            done,
            supplied,
            recipe,
            "osc.ring_cycle_45",
            1.0,
            "as for one ring: what the coupler takes is 0.05 % of it",
        ),
        SupplyComparison(
            "ring_pair, coupler until settled",
            done,
            heat,
            coupler_power(1.8, 50e3) * done,
            "cpl.res_power",
            float(mean),
            "1 - cos of the lag, if rings were sines; they are between sine and square",
        ),
    )


def _lc_values(netlist: Netlist) -> tuple[float, float, float]:
    """Return w0 (rad/s), the conductance 2 kappa C w0 (S), and it over g1."""
    w0 = 2 * np.pi * parameter_value(netlist, "f0")
    farad = 1 / (w0**2 * parameter_value(netlist, "l"))
    kappa = parameter_value(netlist, "kappa")
    return w0, 2 * kappa * farad * w0, 2 * kappa / parameter_value(netlist, "eps")


def _lc_pair(netlist: Netlist, run: Simulation) -> SupplyComparison:
    w0, conductance, share = _lc_values(netlist)
    waves = run.waveforms
    time, a, b = waves.time, waves.signal("v(p0)"), waves.signal("v(p1)")
    first, second = (lock_in(time, one, w0 / (2 * np.pi)) for one in (a, b))
    apart = 1 - np.cos(first.phase[-1] - second.phase[-1])
    late = time >= 0.9 * time[-1]
    span = float(np.ptp(time[late]))
    return SupplyComparison(
        "lc_pair, coupler once locked at half the lock range",
        span,
        resistor_energy(time[late], a[late], b[late], 1 / conductance),
        coupler_power(2.0, 1 / conductance) * span,
        "cpl.res_power",
        float(apart * (1 - share * apart)),
        "two sines that lag by phi leave s = 1 - cos(phi), and the loss lowers their "
        "amplitude: s (1 - s G / g1)",
    )


def _slipping_pair(netlist: Netlist, run: Simulation) -> SupplyComparison:
    w0, conductance, share = _lc_values(netlist)
    waves = run.waveforms
    time, a, b = waves.time, waves.signal("v(p0)"), waves.signal("v(p1)")
    first, second = (lock_in(time, one, w0 / (2 * np.pi)) for one in (a, b))
    turns = (first.phase - second.phase) / (2 * np.pi)
    edges = np.interp([np.ceil(turns[0]), np.floor(turns[-1])], turns, first.time)
    inside = (time >= edges[0]) & (time <= edges[1])
    span = float(edges[1] - edges[0])
    return SupplyComparison(
        "lc_pair, coupler over whole slips at 1.5 of the lock range",
        span,
        resistor_energy(time[inside], a[inside], b[inside], 1 / conductance),
        coupler_power(2.0, 1 / conductance) * span,
        "cpl.res_power",
        1 - 1.5 * share,
        "the cosine of a slipping phase averages to 0, so the recipe is a pair that "
        "does not lock; the loss lowers the amplitude: 1 - 3 G / (2 g1)",
    )


def _attention(netlist: Netlist, run: Simulation) -> SupplyComparison:
    _, g0, share = _lc_values(netlist)
    weights = component_values(netlist, "weight", "w").reshape(4, 6)
    phases = component_values(netlist, "tone", "phi")
    carrier = parameter_value(netlist, "fref")
    time = run.waveforms.time
    tones = np.cos(2 * np.pi * carrier * time + phases[:, None])
    measured = recipe = explained = longest = 0.0
    for query, row in enumerate(weights):
        volts = run.waveforms.signal(f"v(p{query})")
        found = lock_in(time, volts, carrier)
        done = settling_time(found.time, found.phase, SETTLED)
        inside = time <= done
        measured += sum(
            resistor_energy(time[inside], tone[inside], volts[inside], 1 / (g0 * w))
            for tone, w in zip(tones, row, strict=True)
        )
        own = coupler_power(2.0, 1 / (g0 * row.sum()))
        recipe += own * done
        apart = phases[:, None] - np.interp(time[inside], found.time, found.phase)
        pull = (row @ np.cos(apart)) / row.sum()
        more = share * pull / 2
        seen = (1 + more) * (1 - pull) + more**2 / 2
        explained += own * float(np.trapezoid(seen, time[inside]))
        longest = max(longest, done)
    return SupplyComparison(
        "lc_injection_attention, 24 weights until settled",
        longest,
        measured,
        recipe,
        "cpl.res_power",
        explained / recipe,
        "s = 1 - sum w cos(phi_j - phi), which ends at 1 - |h|: anchors that agree "
        "cost less; the pull raises the amplitude by |h| G0 / (2 g1)",
    )
