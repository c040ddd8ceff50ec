"""What a waveform says: did it start, how fast, at which phase, at what energy."""

from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import FloatArray

_PER_PERIOD = 64


class LockIn(NamedTuple):
    """Phase and amplitude of a waveform at a carrier, over time.

    Attributes
    ----------
    time : FloatArray, shape (n_samples,)
        Times (s), evenly spaced, a period inside both ends of the waveform.
    phase : FloatArray, shape (n_samples,)
        Unwrapped phase (rad) of ``A cos(2 pi f t + phase)``.
    amplitude : FloatArray, shape (n_samples,)
        A, in the unit of the waveform.
    """

    time: FloatArray
    phase: FloatArray
    amplitude: FloatArray


def rising_crossings(
    time: FloatArray, values: FloatArray, level: float = 0.0
) -> FloatArray:
    """Return the times at which a waveform rises through a level.

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the waveform; steps may be uneven.
    level : float
        Level, in the unit of the waveform.

    Returns
    -------
    FloatArray
        Times (s), by straight lines between the points.
    """
    _check(time, values)
    at = np.flatnonzero((values[:-1] < level) & (values[1:] >= level))
    share = (level - values[at]) / (values[at + 1] - values[at])
    return np.asarray(time[at] + share * (time[at + 1] - time[at]))


def frequency(time: FloatArray, values: FloatArray, level: float = 0.0) -> float:
    """Return the mean frequency (Hz) between the first and last rising crossing.

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the waveform.
    level : float
        Level, in the unit of the waveform.

    Raises
    ------
    SpecError
        If it rises through the level less than twice.
    """
    times = rising_crossings(time, values, level)
    if len(times) < 2:
        raise SpecError(
            f"a frequency needs 2 rising crossings of the level {level:g}, got "
            f"{len(times)}: run longer, or choose another level"
        )
    return float((len(times) - 1) / (times[-1] - times[0]))


def lock_in(time: FloatArray, values: FloatArray, carrier_hz: float) -> LockIn:
    """Demodulate a waveform at a carrier.

    ``z(t) = 2 <v(t) exp(-2 pi i f t)>`` with the mean over a period taken twice,
    which removes every harmonic of f; phase and amplitude are those of z.

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the waveform; steps may be uneven.
    carrier_hz : float
        f (Hz).

    Returns
    -------
    LockIn

    Raises
    ------
    SpecError
        If f is not positive, or the waveform is shorter than 4 periods.

    Notes
    -----
    Resampled by straight lines to 64 samples per period. Phases that change by
    a fair part of a turn within a period are smeared.
    """
    _check(time, values)
    if not carrier_hz > 0:
        raise SpecError(f"the carrier must be above 0 Hz, got {carrier_hz:g}")
    span = float(time[-1] - time[0])
    if span * carrier_hz < 4:
        raise SpecError(
            f"a lock-in needs 4 periods of the carrier, got {span * carrier_hz:.3g}: "
            "run longer"
        )
    step = 1 / (carrier_hz * _PER_PERIOD)
    even = time[0] + step * np.arange(int(span / step) + 1)
    turned = np.interp(even, time, values) * np.exp(-2j * np.pi * carrier_hz * even)
    # The box is symmetric (half weights at its ends), so that times do not shift.
    box = np.ones(_PER_PERIOD + 1) / _PER_PERIOD
    box[[0, -1]] /= 2
    inside = slice(_PER_PERIOD, -_PER_PERIOD)
    z = 2 * np.convolve(np.convolve(turned, box, "valid"), box, "valid")
    return LockIn(even[inside], np.unwrap(np.angle(z)), np.abs(z))


def start_up(
    time: FloatArray, values: FloatArray, smallest: float
) -> Literal["never", "collapsed", "sustained"]:
    """Say whether an oscillator started and kept going.

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the waveform.
    smallest : float
        Peak-to-peak value that counts as oscillating, in the waveform's unit.

    Returns
    -------
    str
        The run is cut in tenths: ``"never"`` if none swings by ``smallest``,
        ``"sustained"`` if the last does, otherwise ``"collapsed"``.

    Raises
    ------
    SpecError
        If ``smallest`` is not above 0.
    """
    _check(time, values)
    if not smallest > 0:
        raise SpecError(f"smallest must be above 0, got {smallest:g}")
    edges = np.searchsorted(time, np.linspace(time[0], time[-1], 11))
    edges[-1] = len(time)
    swings = [
        np.ptp(values[first:last]) if last > first else 0.0
        for first, last in pairwise(edges)
    ]
    if swings[-1] >= smallest:
        return "sustained"
    return "collapsed" if max(swings) >= smallest else "never"


def lock_verdict(
    difference: FloatArray, drift: float = 0.05
) -> Literal["locked", "slips", "undecided"]:
    """Say whether a phase difference came to rest.

    Parameters
    ----------
    difference : FloatArray, shape (n_samples,)
        Unwrapped phase difference (rad) at even times, from after the start.
    drift : float
        Largest range (rad) over the last quarter that counts as rest.

    Returns
    -------
    str
        ``"locked"`` at rest, ``"slips"`` if the last half passes a turn, otherwise
        ``"undecided"``: run longer.

    Raises
    ------
    SpecError
        If there are fewer than 8 samples.
    """
    if len(difference) < 8:
        raise SpecError(f"a verdict needs 8 samples, got {len(difference)}")
    if np.ptp(difference[len(difference) * 3 // 4 :]) < drift:
        return "locked"
    half = difference[len(difference) // 2 :]
    return "slips" if abs(half[-1] - half[0]) > 2 * np.pi else "undecided"


def time_mean(time: FloatArray, values: FloatArray) -> float:
    """Return the mean over time by the trapezoid rule, for uneven steps.

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the waveform.
    """
    _check(time, values)
    return float(np.trapezoid(values, time) / (time[-1] - time[0]))


def supply_energy(
    time: FloatArray, volts: FloatArray | float, source_current: FloatArray
) -> float:
    """Return the energy (J) that a voltage source delivered.

    ``E = - integral of V I dt`` by the trapezoid rule: ngspice counts the current
    into the positive node, so a source that delivers has a negative one.

    Parameters
    ----------
    time : FloatArray, shape (n_points,)
        Times (s).
    volts : FloatArray or float
        Voltage of the source (V).
    source_current : FloatArray, shape (n_points,)
        Its current as ngspice gives it (A).
    """
    _check(time, source_current)
    return float(-np.trapezoid(volts * source_current, time))


def diffusion(
    time: FloatArray,
    values: FloatArray,
    first: float,
    last: float,
    interval: float,
) -> float:
    """Return D of signals that walk at random, ``<(change)^2> = 2 D interval``.

    Parameters
    ----------
    time : FloatArray, shape (n_points,)
        Times (s).
    values : FloatArray, shape (n_signals, n_points)
        Signals, unwrapped.
    first, last : float
        Where to look (s).
    interval : float
        Length of one change (s), well above the correlation time of the noise.

    Returns
    -------
    float
        Mean over signals and intervals that do not overlap, in the square of the
        signals' unit per second. Its relative standard error is sqrt(2 / n), n the
        number of changes.

    Raises
    ------
    SpecError
        If there is no whole interval between ``first`` and ``last``, or these are
        not within the run.
    """
    inside = time[0] <= first and last <= time[-1]
    if not (inside and 0 < interval <= last - first):
        raise SpecError(
            f"diffusion needs whole intervals between {time[0]:g} and {time[-1]:g} s, "
            f"got {interval:g} s from {first:g} to {last:g} s"
        )
    edges = first + interval * np.arange(int((last - first) / interval + 1e-9) + 1)
    moved = np.diff([np.interp(edges, time, one) for one in np.atleast_2d(values)])
    return float(np.square(moved).mean() / (2 * interval))


def _check(time: FloatArray, values: FloatArray) -> None:
    """Refuse what is no waveform."""
    if time.ndim != 1 or values.shape != time.shape or len(time) < 2:
        raise SpecError(
            "a waveform needs as many values as times and at least 2, got shapes "
            f"{time.shape} and {values.shape}"
        )
    if not np.all(np.diff(time) >= 0) or time[-1] == time[0]:
        raise SpecError("the times of a waveform must rise, and these do not")
