"""What a circuit did, in the form of what was expected of it."""

from collections.abc import Callable

import numpy as np

from oscsim.errors import SpecError
from oscsim.spice import waveforms as tools
from oscsim.spice.claims import Claim, Kind
from oscsim.spice.ngspice import Simulation
from oscsim.typing import FloatArray


def measure(claim: Claim, run: Simulation) -> float | str | FloatArray:
    """Measure in a run what a claim is about.

    Parameters
    ----------
    claim : Claim
        What to measure.
    run : Simulation
        The run of its case.

    Returns
    -------
    float, str or FloatArray
        In the form of ``claim.expected``.

    Raises
    ------
    SpecError
        If a signal or a ``.meas`` result is not there, a waveform is too short, or a
        time is outside the run.
    """
    _require_times(claim, run)
    return _MEASURES[claim.kind](claim, run)


def difference(claim: Claim, measured: float | str | FloatArray) -> float:
    """Return the largest absolute difference between measured and expected.

    Phases are compared modulo 2 pi, or ``claim.modulo``; equal verdicts differ by
    0, others by infinity.

    Parameters
    ----------
    claim : Claim
        What was expected.
    measured : float, str or FloatArray
        What `measure` returned.
    """
    if isinstance(measured, str) or isinstance(claim.expected, str):
        return 0.0 if measured == claim.expected else np.inf
    apart = np.asarray(measured) - np.asarray(claim.expected)
    turn = claim.modulo or (2 * np.pi if claim.kind.startswith("phase") else 0.0)
    if turn:
        apart = (apart + turn / 2) % turn - turn / 2
    return float(np.max(np.abs(apart)))


def _require_times(claim: Claim, run: Simulation) -> None:
    """Refuse a time at which nothing was simulated: the last value would stand in."""
    # the third time of a diffusion is an interval
    asked = claim.times[:2] if claim.kind == "diffusion" else claim.times
    time = run.waveforms.time
    # rounding of the last step only
    slack = 1e-9 * float(time[-1] - time[0])
    if asked and not (time[0] - slack <= min(asked) and max(asked) <= time[-1] + slack):
        raise SpecError(
            f"times of {claim.name!r} must lie in the run, {time[0]:g} to "
            f"{time[-1]:g} s, got {min(asked):g} to {max(asked):g} s"
        )


def _measure(claim: Claim, run: Simulation) -> float:
    name = claim.signals[0].lower()
    if name not in run.measures:
        raise SpecError(f"the .meas {name!r} gave no result")
    return run.measures[name]


def _trajectory(claim: Claim, run: Simulation) -> FloatArray:
    waves = run.waveforms
    return np.array(
        [np.interp(claim.times, waves.time, waves.signal(n)) for n in claim.signals]
    )


def _phases(claim: Claim, run: Simulation, names: tuple[str, ...]) -> FloatArray:
    """Return phases of shape (signal, time); a time outside the run is an error."""
    time = run.waveforms.time
    found = [
        tools.lock_in(time, run.waveforms.signal(name), claim.carrier_hz)
        for name in names
    ]
    if claim.times and not (
        found[0].time[0] <= min(claim.times) and max(claim.times) <= found[0].time[-1]
    ):
        raise SpecError(
            f"times of {claim.name!r} must lie between {found[0].time[0]:g} and "
            f"{found[0].time[-1]:g} s, got {claim.times}"
        )
    if not claim.times:
        return np.array([one.phase for one in found])
    return np.array([np.interp(claim.times, one.time, one.phase) for one in found])


def _phase(claim: Claim, run: Simulation) -> float:
    phases = _phases(claim, run, claim.signals)[:, 0]
    turned = phases[0] - (phases[1] if len(phases) > 1 else 0.0)
    return float((turned + np.pi) % (2 * np.pi) - np.pi)


def _phase_trajectory(claim: Claim, run: Simulation) -> FloatArray:
    phases = _phases(claim, run, claim.signals)
    if claim.reference:
        phases = phases - _phases(claim, run, (claim.reference,))
    return phases - phases.mean(axis=0) if claim.centred else phases


def _order_parameter(claim: Claim, run: Simulation) -> float:
    time = run.waveforms.time
    inside = (time >= claim.times[0]) & (time <= claim.times[1])
    phases = np.array([run.waveforms.signal(name) for name in claim.signals])
    radius = np.abs(np.exp(1j * phases[:, inside]).mean(axis=0))
    return tools.time_mean(time[inside], radius)


def _window(claim: Claim, run: Simulation) -> tuple[FloatArray, FloatArray]:
    time, values = run.waveforms.time, run.waveforms.signal(claim.signals[0])
    if not claim.times:
        return time, values
    inside = (time >= claim.times[0]) & (time <= claim.times[1])
    return time[inside], values[inside]


def _frequency(claim: Claim, run: Simulation) -> float:
    return tools.frequency(*_window(claim, run), claim.level)


def _energy(claim: Claim, run: Simulation) -> float:
    time, current = _window(claim, run)
    return tools.supply_energy(time, claim.volts, current)


def _diffusion(claim: Claim, run: Simulation) -> float:
    return tools.diffusion(
        run.waveforms.time,
        np.array([run.waveforms.signal(name) for name in claim.signals]),
        *claim.times,
    )


def _start_up(claim: Claim, run: Simulation) -> str:
    return tools.start_up(*_window(claim, run), claim.level)


def _lock(claim: Claim, run: Simulation) -> str:
    first, second = _phases(claim, run, claim.signals[:2])
    return tools.lock_verdict(first - second)


_MEASURES: dict[Kind, Callable[[Claim, Simulation], float | str | FloatArray]] = {
    "measure": _measure,
    "trajectory": _trajectory,
    "phase": _phase,
    "phase_trajectory": _phase_trajectory,
    "order_parameter": _order_parameter,
    "frequency": _frequency,
    "energy": _energy,
    "start_up": _start_up,
    "lock": _lock,
    "diffusion": _diffusion,
}
