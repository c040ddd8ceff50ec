"""Circuits with noise, with mismatch and in pairs, beside what the engine says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oscsim.bundled import circuit_folder
from oscsim.errors import SpecError
from oscsim.spice.monte_carlo import component_values, first_order_spread, monte_carlo
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Simulation, simulate_circuit
from oscsim.spice.noise import parameter_value, with_noise
from oscsim.spice.phase_model import PhaseModel, phase_model
from oscsim.spice.phase_response import phase_response
from oscsim.spice.process import side_by_side
from oscsim.spice.waveforms import diffusion, frequency, lock_in, lock_verdict
from oscsim.typing import FloatArray

N_PHASES = 48
"""Phases of each kind in phase_noise.cir."""

LOADS = (5.064e-15, 5.1265e-15, 5.19e-15, 5.2546e-15, 5.303e-15, 5.319e-15, 5.3679e-15)
"""Load (F) of the slower ring, from 0.2 to 1.15 of the lock range."""


@dataclass(frozen=True)
class NoiseResult:
    """Phases with white noise.

    Attributes
    ----------
    diffusion : float
        D (rad^2/s) of the noise.
    found : float
        Diffusion of the free phases.
    variance : float
        Of the phases that are pulled to 0 (rad^2).
    expected : float
        That of the von Mises law exp(K/D cos theta).
    error : float
        Relative standard error of ``variance``, from the number of phases and
        the time over which they forget.
    """

    diffusion: float
    found: float
    variance: float
    expected: float
    error: float


@dataclass(frozen=True)
class SpreadResult:
    """Directions of circuits with mismatch, one value per query.

    Attributes
    ----------
    circuit, engine, law : FloatArray, shape (n_queries,)
        Root mean square angle (rad) from the nominal direction: of the settled
        circuits, of h/|h| of the same draws, and to first order in sigma.
    farthest : float
        Largest distance of a settled state from h/|h| of its own draw.
    """

    circuit: FloatArray
    engine: FloatArray
    law: FloatArray
    farthest: float


@dataclass(frozen=True)
class LagResult:
    """A pair of rings at one difference of frequencies.

    Attributes
    ----------
    share : float
        The difference over the engine's lock range.
    engine, circuit : tuple of str and float
        Verdict, and lag (degrees) of the slower, NaN unless locked.
    """

    share: float
    engine: tuple[str, float]
    circuit: tuple[str, float]


def variances(
    diffusions: Sequence[float], seed: int = 0, timeout: float = 300.0
) -> list[NoiseResult]:
    """Run phase_noise.cir at several strengths of noise.

    Parameters
    ----------
    diffusions : sequence of float
        D (rad^2/s), each above 0.
    seed : int
        Of the noise of the first; the others have the seeds after it.
    timeout : float
        Longest wall time of one run (s).

    Raises
    ------
    SpecError
        If a D is not above 0, or the seed is out of range.
    NetlistError, SimulatorError
        If the circuit does not run.
    """
    for one in diffusions:
        if not one > 0:
            raise SpecError(f"D must be above 0 rad^2/s, got {one:g}")
    shipped = _shipped("phase_noise")
    pull = parameter_value(shipped, "k")
    span = parameter_value(shipped, "duration") - 3.0
    runs = _all(
        [
            with_noise(shipped.changed({"d": one}), seed + number)
            for number, one in enumerate(diffusions)
        ],
        timeout,
    )
    results = []
    for one, run in zip(diffusions, runs, strict=True):
        walks = np.array([run.waveforms.signal(f"v(th{k})") for k in range(N_PHASES)])
        results.append(
            NoiseResult(
                one,
                diffusion(run.waveforms.time, walks, 1.0, span + 3.0, 0.5),
                run.measures["variance"],
                von_mises_variance(pull / one),
                float(np.sqrt(2 / (pull * span * N_PHASES))),
            )
        )
    return results


def von_mises_variance(concentration: float) -> float:
    """Return the mean of theta^2 under the density exp(k cos theta) (rad^2).

    Parameters
    ----------
    concentration : float
        k, for a phase pulled at a rate K with diffusion D: K / D.
    """
    theta = np.linspace(-np.pi, np.pi, 20001)
    law = np.exp(concentration * (np.cos(theta) - 1))
    return float(np.trapezoid(theta**2 * law, theta) / np.trapezoid(law, theta))


def spreads(
    sigma: float, n_draws: int, seed: int = 0, timeout: float = 300.0
) -> SpreadResult:
    """Run lohe_sphere_d2.cir with mismatched conductances.

    Parameters
    ----------
    sigma : float
        Relative mismatch of every weight.
    n_draws : int
        Circuits.
    seed : int
        Of the draws.
    timeout : float
        Longest wall time of one run (s).

    Raises
    ------
    SpecError
        If a number is out of range.
    NetlistError, SimulatorError
        If the circuit does not run.
    """
    shipped = _shipped("lohe_sphere_d2")
    weights = component_values(shipped, "weight", "w").reshape(4, 6)
    values = re.findall(r"^Vr\d_\d r\d_\d 0 (\S+)", shipped.text, re.MULTILINE)
    anchors = np.array(values, dtype=float).reshape(6, 2)
    draws = monte_carlo(
        shipped,
        "weight",
        "w",
        sigma=sigma,
        n_draws=n_draws,
        seed=seed,
        timeout=timeout,
    )
    nominal = _unit(weights @ anchors)
    states = np.array([_settled(draw.run) for draw in draws])
    factors = np.array([draw.factors.reshape(4, 6) for draw in draws])
    targets = _unit(weights * factors @ anchors)
    return SpreadResult(
        _rms(states - nominal),
        _rms(targets - nominal),
        first_order_spread(weights, anchors, sigma),
        float(np.abs(states - targets).max()),
    )


def lags(
    loads: Sequence[float] = LOADS, n_phases: int = 20, timeout: float = 300.0
) -> list[LagResult]:
    """Measure the phase response of a ring, and pairs in the engine and in ngspice.

    Parameters
    ----------
    loads : sequence of float
        Load (F) of every stage of the slower ring; that of the other is 5 fF.
    n_phases : int
        Kicks over a period.
    timeout : float
        Longest wall time of one run (s).

    Raises
    ------
    SpecError
        If there are too few phases.
    NetlistError, SimulatorError
        If a circuit does not run.
    """
    ring, pair = _shipped("ring_oscillator"), _shipped("ring_pair")
    response = phase_response(
        ring, "v(a0)", 0.9, charge=1e-15, n_phases=n_phases, timeout=timeout
    )
    model = phase_model(response, 50e3)
    alone = _all([ring.changed({"cl": load}) for load in loads], timeout)
    both = _all(
        [pair.changed({"cl1": load, "duration": 70e-9}) for load in loads], timeout
    )
    return [_lag(model, one, two) for one, two in zip(alone, both, strict=True)]


def _lag(model: PhaseModel, alone: Simulation, both: Simulation) -> LagResult:
    time, volts = alone.waveforms.time, alone.waveforms.signal("v(a0)")
    late = time > time[-1] / 2
    slower = frequency(time[late], volts[late], 0.9)
    apart = 2 * np.pi * (model.frequency_hz - slower)
    first, second = (
        lock_in(both.waveforms.time, both.waveforms.signal(name), 7.1e9).phase
        for name in ("v(a0)", "v(b0)")
    )
    told = lock_verdict(first - second), float(first[-1] - second[-1])
    return LagResult(
        apart / model.lock_range(), _degrees(*model.pair(apart)), _degrees(*told)
    )


def _degrees(verdict: str, lag: float) -> tuple[str, float]:
    return verdict, float(np.degrees(lag)) if verdict == "locked" else np.nan


def _shipped(name: str) -> Netlist:
    return Netlist.read(circuit_folder() / f"{name}.cir")


def _all(netlists: Sequence[Netlist], timeout: float) -> list[Simulation]:
    return side_by_side(lambda one: simulate_circuit(one, timeout), netlists, 2)


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _settled(run: Simulation) -> FloatArray:
    """Return the last state of every query, shape (4, 2)."""
    ends = [run.waveforms.signal(f"v(z{i}_{a})")[-1] for i in range(4) for a in (0, 1)]
    return _unit(np.array(ends).reshape(4, 2))


def _rms(moved: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.square(moved).sum(axis=-1).mean(axis=0)))
