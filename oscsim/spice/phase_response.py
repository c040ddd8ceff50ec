"""The phase response of an oscillator in a netlist, and what a pair of them does."""

import math
from dataclasses import dataclass, field

import numpy as np

from oscsim.errors import SpecError
from oscsim.spice.expand import meaningful
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import simulate_circuit
from oscsim.spice.waveforms import rising_crossings
from oscsim.typing import FloatArray

_GRID = 512
_FIRST = 15
_LINEAR = 0.1
_LARGEST = 0.2


@dataclass(frozen=True)
class PhaseResponse:
    """How far a charge shifts the phase of an oscillator, over one period.

    Attributes
    ----------
    frequency_hz : float
        Free-running frequency (Hz).
    response : FloatArray, shape (512,)
        G (rad/C) at even phases from a rising crossing; positive is ahead.
    waveform : FloatArray, shape (512,)
        Voltage (V) of the kicked node at these phases.
    kicks : FloatArray, shape (n,)
        G (rad/C) as measured, at the phases (k + 1/2) / n of a turn; empty if it was
        not measured.
    """

    frequency_hz: float
    response: FloatArray
    waveform: FloatArray
    kicks: FloatArray = field(default_factory=lambda: np.empty(0))

    def coupling(self, resistance: float) -> FloatArray:
        """Return the coupling function of a resistor to an equal oscillator.

        ``H(d) = mean of G(t) (v(t + d) - v(t)) / R`` (rad/s) at 512 even phase
        differences d = phi_other - phi_self from 0 to 2 pi.

        Parameters
        ----------
        resistance : float
            R (ohm).

        Raises
        ------
        SpecError
            If it is not above 0.
        """
        if not resistance > 0:
            raise SpecError(f"resistance must be above 0 ohm, got {resistance:g}")
        ahead = np.array([np.roll(self.waveform, -k) for k in range(_GRID)])
        return np.asarray(
            ((ahead - self.waveform) * self.response).mean(axis=1) / resistance
        )

    def lock_range(self, resistance: float) -> float:
        """Return the largest difference of frequencies (rad/s) at which a pair locks.

        The maximum of ``H(d) - H(-d)``.

        Parameters
        ----------
        resistance : float
            R (ohm).
        """
        return float(self._pull(resistance).max())

    def lag(self, resistance: float, share: float) -> float:
        """Return the phase (rad) by which the slower of a locked pair lags.

        The stable root of ``share * lock_range = H(d) - H(-d)``.

        Parameters
        ----------
        resistance : float
            R (ohm).
        share : float
            Difference of frequencies as a share of the lock range, below 1.

        Raises
        ------
        SpecError
            If ``share`` is not between 0 and 1.
        """
        if not 0 <= share < 1:
            raise SpecError(f"share must be from 0 to below 1, got {share:g}")
        pull = self._pull(resistance)
        rising = pull[: int(np.argmax(pull)) + 1]
        at = int(np.argmax(rising >= share * pull.max()))
        if at == 0:
            return 0.0
        low, high = rising[at - 1], rising[at]
        part = (share * pull.max() - low) / (high - low)
        return float((at - 1 + part) * 2 * np.pi / _GRID)

    def _pull(self, resistance: float) -> FloatArray:
        """Return H(d) - H(-d) for d from 0 to half a turn."""
        forward = self.coupling(resistance)
        return (forward - np.roll(forward[::-1], 1))[: _GRID // 2 + 1]


def phase_response(
    netlist: Netlist,
    signal: str,
    level: float | None,
    *,
    charge: float,
    n_phases: int = 24,
    timeout: float = 60.0,
) -> PhaseResponse:
    """Measure the phase response of an oscillator by charge kicks.

    One run without a kick and two for each phase of it, with the charge of either
    sign; half the difference of a late crossing, over the charge, is G. Between the
    phases it follows their trigonometric polynomial.

    Parameters
    ----------
    netlist : Netlist
        The oscillator, uncoupled, over about 40 periods, with the parameters
        ``kick_charge`` (C), ``kick_time`` and ``kick_width`` (s): a triangular
        current into the node, zero again after twice its width.
    signal : str
        Voltage of the kicked node, e.g. ``"v(a0)"``.
    level : float or None
        Level (V) of the crossings that count as phase 0; None for the middle between
        the extremes of the second half of the free run.
    charge : float
        Charge of a kick (C): small enough for a linear response and large enough
        for its shift to stand above the time step's.
    n_phases : int
        Number of kicks over a period, at least 8.
    timeout : float
        Longest wall time of one run (s).

    Returns
    -------
    PhaseResponse

    Raises
    ------
    SpecError
        If ``charge`` is 0 or not finite, ``n_phases`` is below 8, ``signal`` is not
        the voltage of the node that the kick source drives, the run has fewer than
        25 periods, a kick moves the phase by more than a fifth of a period, or half
        the charge does not, at three phases, move it by half as much within 10 % of
        the largest shift: then the charge is too large for a linear response, or too
        small for the time step.
    NetlistError, SimulatorError
        If the netlist does not run.
    """
    if not (math.isfinite(charge) and charge != 0) or n_phases < 8:
        raise SpecError(
            "give a finite charge other than 0 and at least 8 phases, got "
            f"{charge:g} C and {n_phases}"
        )
    _require_kicked(netlist, signal)
    free = simulate_circuit(netlist.changed({"kick_charge": 0.0}), timeout).waveforms
    if level is None:
        late = free.signal(signal)[len(free.time) // 2 :]
        level = float(late.max() + late.min()) / 2
    crossings = rising_crossings(free.time, free.signal(signal), level)
    if len(crossings) < _FIRST + 10:
        raise SpecError(
            f"a phase response needs {_FIRST + 10} periods, got {len(crossings)}: run "
            "longer, or check that the oscillator starts"
        )
    period = float(np.diff(crossings[-10:]).mean())
    start = float(crossings[_FIRST])
    at = (np.arange(n_phases) + 0.5) / n_phases
    width = period / 100

    def shift(share: float, size: float) -> float:
        values = {"kick_time": start + share * period - width, "kick_width": width}
        behind, ahead = (
            _last_crossing(
                netlist.changed(values | {"kick_charge": signed}),
                signal,
                level,
                float(crossings[-3]),
                timeout,
            )
            for signed in (-size, size)
        )
        return (behind - ahead) / (2 * period)

    shifts = np.array([shift(share, charge) for share in at])
    most = int(np.argmax(np.abs(shifts)))
    tried = (most + np.array([0, n_phases // 3, 2 * n_phases // 3])) % n_phases
    half = np.array([shift(at[k], charge / 2) for k in tried])
    _require_linear(charge, shifts[tried], half)
    grid = np.arange(_GRID) / _GRID
    kicks = 2 * np.pi * shifts / charge
    waveform = np.interp(start + grid * period, free.time, free.signal(signal))
    return PhaseResponse(1 / period, _through(kicks), waveform, kicks)


def _require_kicked(netlist: Netlist, signal: str) -> None:
    """Refuse a signal that is not the voltage of the node that the kicks go into."""
    lines = meaningful(netlist.text.splitlines()[1:])
    sources = [
        line.split()
        for line in lines
        if line[0] in "iI" and "kick_charge" in line.lower()
    ]
    if len(sources) != 1:
        raise SpecError(
            f"{netlist.name} needs one current source with kick_charge in its value, "
            f"as in ring_oscillator, got {len(sources)}"
        )
    node = next((one for one in sources[0][1:3] if one != "0"), "0")
    if signal.lower().replace(" ", "") != f"v({node.lower()})":
        raise SpecError(
            f"{sources[0][0]} of {netlist.name} kicks node {node}: ask for v({node}), "
            f"got {signal!r:.60}"
        )


def _require_linear(charge: float, whole: FloatArray, half: FloatArray) -> None:
    """Refuse a charge that is too large for its response to be linear, or too small.

    The first of the shifts is the largest. Several are compared because a shift that
    is noise may double by chance.
    """
    largest = abs(float(whole[0]))
    if not largest < _LARGEST:
        raise SpecError(
            f"a charge of {charge:g} C moves the phase by up to {largest:.3g} of a "
            f"period, {_LARGEST:g} at most: give a smaller one"
        )
    apart = float(np.abs(2 * half - whole).max())
    if largest == 0 or apart > _LINEAR * largest:
        raise SpecError(
            f"{charge:g} C moves the phase by up to {largest:.3g} of a period, and "
            f"twice what half of it does differs by {apart:.3g}, more than "
            f"{_LINEAR:.0%}: the charge is too large for a linear response, or too "
            "small for the time step"
        )


def _through(values: FloatArray) -> FloatArray:
    """Return the trigonometric polynomial through values at (k + 1/2) / n, 512 points.

    Straight lines would lower the harmonic k by (pi k / n)^2 / 3.
    """
    n = len(values)
    order = np.arange((n + 1) // 2)
    found = np.fft.rfft(values)[: len(order)] * np.exp(-1j * np.pi * order / n)
    turns = np.exp(2j * np.pi * np.outer(np.arange(_GRID) / _GRID, order))
    return np.asarray((turns @ found).real * 2 / n - found[0].real / n)


def _last_crossing(
    netlist: Netlist, signal: str, level: float, near: float, timeout: float
) -> float:
    """Return the crossing nearest to that of the free run: a kick adds none."""
    waves = simulate_circuit(netlist, timeout).waveforms
    there = rising_crossings(waves.time, waves.signal(signal), level)
    return float(there[np.argmin(np.abs(there - near))])
