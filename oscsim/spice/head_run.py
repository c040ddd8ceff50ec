"""An attention head in ngspice: directions over time, settling times, energies."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oscsim.spice.build import HeadCircuit
from oscsim.spice.head import AttentionHead
from oscsim.spice.head_circuit import Tank
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Engine, Simulation, simulate_circuit
from oscsim.spice.waveforms import lock_in, supply_energy
from oscsim.typing import FloatArray

SETTLED = 0.02
"""Angle (rad) to h/|h| that counts as settled."""

LONGEST: dict[HeadCircuit, float] = {"sphere": 600.0, "lc": 3e-3}
"""Longest usual run (s): a drive below 1/40 of full scale does not settle in it."""

_TIME_CONSTANTS: dict[HeadCircuit, float] = {"sphere": 15.0, "lc": 10.0}
_SHORTEST_LC = 2e-4


@dataclass(frozen=True, eq=False)
class HeadRun:
    """What a head did in ngspice.

    Attributes
    ----------
    time : FloatArray, shape (n,)
        Times (s).
    directions : FloatArray, shape (queries, n, d)
        Unit vectors; of the LC circuit the phase by lock-in, minus its constant
        offset -eps/4.
    signals : FloatArray, shape (queries, m)
        Waveforms of the LC circuit's tanks (V) at ``signal_time``; empty for the
        sphere, whose components are its directions.
    signal_time : FloatArray, shape (m,)
        Times (s) of ``signals``.
    time_in_scales : float
        Last time, times the rate at full scale.
    settle_times : FloatArray, shape (queries,)
        When the angle to h/|h| last went below 0.02 rad (s); NaN if never.
    energies : FloatArray, shape (queries,)
        What the sources delivered to each query over the run (J): the anchors
        through its resistors, and in the LC circuit the negative conductance of
        its tank. The sphere has 1 V, 1 S and 1 F.
    seconds : float
        Wall time of ngspice (s).
    """

    time: FloatArray
    directions: FloatArray
    signals: FloatArray
    signal_time: FloatArray
    time_in_scales: float
    settle_times: FloatArray
    energies: FloatArray
    seconds: float

    @property
    def final(self) -> FloatArray:
        """Directions at the end, shape (queries, d)."""
        last: FloatArray = self.directions[:, -1]
        return last


def usual_duration(head: AttentionHead, circuit: HeadCircuit) -> float:
    """Return how long to run (s): 15 time constants of the weakest drive, or 10.

    15 on the sphere, 10 of the LC circuit, and no longer than `LONGEST`.

    Parameters
    ----------
    head : AttentionHead
        What is to settle.
    circuit : {"sphere", "lc"}
        How it is built.
    """
    weakest = float(np.linalg.norm(head.drives, axis=1).min())
    rate = Tank.shipped().rate if circuit == "lc" else 1.0
    wanted = _TIME_CONSTANTS[circuit] / max(rate * weakest, 1e-300)
    shortest = _SHORTEST_LC if circuit == "lc" else 0.0
    return float(np.clip(wanted, shortest, LONGEST[circuit]))


def run_head(
    head: AttentionHead,
    netlist: Netlist,
    circuit: HeadCircuit,
    timeout: float = 300.0,
    keep: Path | None = None,
    engine: Engine = "program",
) -> HeadRun:
    """Run the circuit of a head and read its directions.

    Parameters
    ----------
    head : AttentionHead
        What was built.
    netlist : Netlist
        Its circuit, from `to_circuit` with the parameters as they ship.
    circuit : {"sphere", "lc"}
        Which one.
    timeout : float
        Longest wall time (s).
    keep : Path, optional
        Where to keep the raw file.
    engine : {"program", "shared"}
        How ngspice runs.

    Returns
    -------
    HeadRun

    Raises
    ------
    NetlistError, SimulatorError
        As `simulate_circuit`.
    """
    run = simulate_circuit(netlist, timeout, keep, engine)
    read = _read_lc if circuit == "lc" else _read_sphere
    return read(head, run)


def _read_sphere(head: AttentionHead, run: Simulation) -> HeadRun:
    waves = run.waveforms

    def vectors(letter: str) -> FloatArray:
        return np.array(
            [
                [waves.signal(f"v({letter}_{name}_{k})") for k in range(head.d)]
                for name in head.names
            ]
        ).transpose(0, 2, 1)

    states = vectors("z")
    states /= np.linalg.norm(states, axis=-1, keepdims=True)
    rows = head.conductances
    currents = np.einsum("ij,jk->ik", rows, head.directions)
    # Anchors are of 1 V: sum_j g_ij r_j (r_j - h_i).
    power = rows.sum(axis=1)[:, None] - np.einsum("itk,ik->it", vectors("h"), currents)
    energies = [supply_energy(waves.time, 1.0, -row) for row in power]
    nothing = np.zeros((len(states), 0))
    return HeadRun(
        time=waves.time,
        directions=states,
        signals=nothing,
        signal_time=np.zeros(0),
        time_in_scales=float(waves.time[-1]),
        settle_times=_settling(waves.time, states, head.drives),
        energies=np.array(energies),
        seconds=run.seconds,
    )


def _read_lc(head: AttentionHead, run: Simulation) -> HeadRun:
    tank, waves = Tank.shipped(), run.waveforms
    signals = np.array([waves.signal(f"v(p_{name})") for name in head.names])
    locked = [lock_in(waves.time, signal, tank.f_ref) for signal in signals]
    phases = np.array([one.phase for one in locked]) - tank.offset
    states = np.stack([np.cos(phases), np.sin(phases)], axis=-1)
    time = locked[0].time
    return HeadRun(
        time=time,
        directions=states,
        signals=signals,
        signal_time=waves.time,
        time_in_scales=float(time[-1]) * tank.rate,
        settle_times=_settling(time, states, head.drives),
        energies=_lc_energies(head, tank, waves.time, signals),
        seconds=run.seconds,
    )


def _lc_energies(
    head: AttentionHead, tank: Tank, time: FloatArray, signals: FloatArray
) -> FloatArray:
    """Return what tones and negative conductances delivered, from V and I over time."""
    turned = np.exp(2j * np.pi * tank.f_ref * time)
    phasors = head.directions[:, 0] + 1j * head.directions[:, 1]
    found = []
    for row, volts in zip(head.conductances, signals, strict=True):
        # sum_j g_j c_j and sum_j g_j c_j^2 of the tones c_j = cos(wt + phi_j)
        tones = (turned * (row @ phasors)).real
        squares = 0.5 * (row.sum() + (turned**2 * (row @ phasors**2)).real)
        coupled = tank.g0 * (squares - tones * volts)
        loss = tank.g0 * row.sum()
        active = (tank.g1 + loss) * volts**2
        found.append(supply_energy(time, 1.0, -(coupled + active)))
    return np.array(found)


def _settling(time: FloatArray, states: FloatArray, drives: FloatArray) -> FloatArray:
    """Return when each direction last came within `SETTLED` of its drive (s)."""
    lengths = np.linalg.norm(drives, axis=-1, keepdims=True)
    targets = drives / np.where(lengths > 0, lengths, 1)
    apart = np.linalg.norm(states - targets[:, None], axis=-1)
    outside = apart > 2 * np.sin(SETTLED / 2)
    last = outside.shape[1] - 1 - np.argmax(outside[:, ::-1], axis=1)
    found = np.where(outside.any(axis=1), time[np.minimum(last + 1, len(time) - 1)], 0)
    return np.where(outside[:, -1], np.nan, found)
