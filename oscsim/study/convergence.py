"""How many driven oscillators come near their fixed point in a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oscsim.errors import SpecError
from oscsim.physics.driven import settle
from oscsim.physics.geometry import angle_between, antipodal_probability
from oscsim.solve.noise import Stream, points_on_sphere
from oscsim.typing import FloatArray

STAGE = (1 << 30) + 1
"""Stage of the random stream, apart from those of chips and of prices."""


@dataclass(frozen=True, eq=False)
class Convergence:
    """Share of oscillators within an angle of h/|h|, in a sample and exactly.

    Attributes
    ----------
    d_osc : int
        Dimension of the oscillators.
    h_norm : float
        Drive |h| (rad/s).
    times : FloatArray, shape (n,)
        Times T after a uniform random start (s).
    within_rad : float
        Angle that counts as near (rad).
    measured, exact : FloatArray, shape (n,)
        Share in the sample, and its probability.
    sample : int
        Oscillators at each time, drawn anew for each.
    seed : int
        Seed of the starts.
    """

    d_osc: int
    h_norm: float
    times: FloatArray
    within_rad: float
    measured: FloatArray
    exact: FloatArray
    sample: int
    seed: int

    def z_scores(self, fewest: float = 10.0) -> FloatArray:
        """Return (measured - exact) in standard errors, shape (n,).

        NaN where fewer than ``fewest`` oscillators are expected on either
        side, since the normal law does not hold there.
        """
        spread = np.sqrt(self.exact * (1 - self.exact) / self.sample)
        usable = self.sample * np.minimum(self.exact, 1 - self.exact) >= fewest
        z: FloatArray = np.full(len(spread), np.nan)
        z[usable] = (self.measured - self.exact)[usable] / spread[usable]
        return z


def share_within(
    d: int, drive_time: FloatArray | float, within_rad: float
) -> FloatArray:
    r"""Return the probability to be within an angle of h/|h| after |h| T.

    From a uniform start, phi(T) <= eps if and only if

    .. math:: \phi_0 \le 2 \arctan\left(\tan(\epsilon/2)\, e^{|h| T}\right) ,

    the share of a cap of the sphere S^{d-1}.

    Parameters
    ----------
    d : int
        Dimension, at least 2.
    drive_time : FloatArray or float
        |h| T >= 0, dimensionless.
    within_rad : float
        eps in (0, pi) (rad).

    Returns
    -------
    FloatArray
        Same shape as ``drive_time``.

    Raises
    ------
    SpecError
        If ``d`` is below 2, ``drive_time`` negative or ``within_rad`` outside
        (0, pi).
    """
    drive_time = np.asarray(drive_time, dtype=np.float64)
    if not np.all(drive_time >= 0):
        raise SpecError(f"|h| T must be >= 0, got {drive_time.min()}")
    if not 0 < within_rad < math.pi:
        raise SpecError(f"within_rad must be in (0, pi), got {within_rad}")
    # Beyond exp(700) the arc is pi to rounding.
    growth = np.exp(np.minimum(drive_time, 700.0))
    reach = 2 * np.arctan(math.tan(within_rad / 2) * growth)
    return antipodal_probability(np.minimum(reach, np.pi), d)


def convergence(
    d: int,
    *,
    h_norm: float,
    times: Sequence[float],
    within_rad: float = 0.01,
    sample: int = 100_000,
    seed: int = 0,
) -> Convergence:
    """Let oscillators flow from random starts and count those that came near.

    Parameters
    ----------
    d : int
        Dimension of the oscillators, at least 2.
    h_norm : float
        Drive |h| > 0 (rad/s).
    times : sequence of float
        Times T >= 0 (s).
    within_rad : float
        Angle that counts as near, in (0, pi) (rad).
    sample : int
        Oscillators at each time, at least 1.
    seed : int
        Seed of the starts, 0..2^32 - 1.

    Returns
    -------
    Convergence

    Raises
    ------
    SpecError
        If an argument is outside its range.
    """
    if not 0 < h_norm < math.inf:
        raise SpecError(f"h_norm must be positive and finite, got {h_norm}")
    if sample < 1:
        raise SpecError(f"sample must be at least 1, got {sample}")
    at = np.asarray(times, dtype=np.float64)
    exact = share_within(d, h_norm * at, within_rad)
    target = np.eye(d)[0]
    measured = np.empty(len(at))
    for number, time in enumerate(at):
        stream = Stream(seed, STAGE, chip=d, repeat=number)
        start = points_on_sphere(stream, np.arange(sample), d)
        final = settle(h_norm * target, start, time)
        measured[number] = np.mean(angle_between(final, target) <= within_rad)
    return Convergence(d, h_norm, at, within_rad, measured, exact, sample, seed)
