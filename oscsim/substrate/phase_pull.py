"""What a Kuramoto attention layer asks of its oscillators: the one seam."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from oscsim.counts import Counts
from oscsim.typing import ComplexArray, FloatArray, IntArray

TURN = 2 * np.pi
NORM_FLOOR = 1e-12
FIELD_FLOOR = 1e-24
"""Added to |G|^2, so that a field of 0 has a finite gradient."""


class Pull(NamedTuple):
    """What one layer asks of the oscillators of a block: the value update.

    Attributes
    ----------
    layer : int
        Number of the layer.
    items : IntArray, shape (batch,)
        Global numbers of the windows; random draws depend on these. Below 0:
        a filler, which no hardware holds.
    theta : FloatArray, shape (batch, time, k)
        Phases before the update (rad).
    attention : FloatArray, shape (batch, heads, time, time)
        Causal weights A, rows summing to 1.
    field : complex array, shape (batch, time, k)
        ``G_tj = sum_u A_tu e^{i theta_uj}``, or its learned linear ablation.
    strength : FloatArray, shape (batch, time, k)
        ``v(theta)``, signed: a negative one repels.
    radius : FloatArray, shape (k,)
        Largest update r_j (rad).
    bound : str
        How the update is bounded.
    trained : str
        ``"map"`` or ``"flow"``: the update that the model was trained with.
    """

    layer: int
    items: IntArray
    theta: FloatArray
    attention: FloatArray
    field: ComplexArray
    strength: FloatArray
    radius: FloatArray
    bound: str
    trained: str = "map"


Update: TypeAlias = Callable[[Pull, Counts], FloatArray]
"""Return the phases after the value update, (batch, time, k); tally the work."""

Read: TypeAlias = Callable[[int, IntArray, FloatArray, Counts], FloatArray]
"""Return phases as the score stage reads them: (layer, items, phases, counts)."""


def torque(theta: FloatArray, field: ComplexArray) -> FloatArray:
    """Return ``Im(conj(z) G)``: the pull on each phase in a frozen field."""
    pulled: FloatArray = np.imag(np.exp(-1j * theta) * field)
    return pulled


def bounded(kind: str, radius: FloatArray, x: FloatArray) -> FloatArray:
    """Return an update held within its radius.

    ``coord``: ``r_j tanh(x_j)``; ``unit``: ``r_j tanh(x_j / r_j)``; ``norm``:
    ``r_j tanh(n) / n x_j`` with ``n = |x| / sqrt(k)``.

    Parameters
    ----------
    kind : {"coord", "norm", "unit"}
        Which.
    radius : FloatArray, shape (k,)
        r (rad), above 0.
    x : FloatArray, shape (..., k)
        Update wanted (rad).
    """
    if kind == "coord":
        return radius * np.tanh(x)
    if kind == "unit":
        return radius * np.tanh(x / radius)
    scaled: FloatArray = small_signal_gain(kind, radius, x) * x
    return scaled


def small_signal_gain(kind: str, radius: FloatArray, x: FloatArray) -> FloatArray:
    """Return what a small update is multiplied by: ``r_j``, 1, or ``r tanh(n)/n``.

    A dwell of this times |v| moves a phase, to first order in the dwell, as
    far as the bounded map does to first order in x.

    Parameters
    ----------
    kind, radius, x
        As in `bounded`; only ``norm`` depends on ``x``.

    Returns
    -------
    FloatArray
        Broadcasts against ``x``.
    """
    if kind == "coord":
        return radius
    if kind == "unit":
        return np.ones_like(radius)
    n = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + NORM_FLOOR)
    gain: FloatArray = radius * (np.tanh(n) / n)
    return gain


def flowed(theta: FloatArray, field: ComplexArray, dwell: FloatArray) -> FloatArray:
    r"""Return the angle that a phase turns by in a frozen field.

    With ``a = Im(conj(z) G)`` and ``b = Re(conj(z) G)`` the flow of
    ``dtheta/dt = a`` over a signed time x, negative in the opposite field, is

    .. math::

        \Delta = 2 \arctan \frac{a t}{1 + b t}, \qquad
        t = \tanh(x |G| / 2) / |G| ,

    the closed form of `oscsim.physics.driven.settle` without the angle of G, so
    that it has a gradient where G vanishes.

    Parameters
    ----------
    theta : FloatArray
        Phases (rad).
    field : ComplexArray
        G (rad per unit of time).
    dwell : FloatArray
        Signed time x.

    Returns
    -------
    FloatArray
        In (-pi, pi), as `theta`.
    """
    pull = np.exp(-1j * theta) * field
    size = np.sqrt(pull.real * pull.real + pull.imag * pull.imag + FIELD_FLOOR)
    reach = np.tanh(0.5 * dwell * size) / size
    turned: FloatArray = 2 * np.arctan2(pull.imag * reach, 1 + pull.real * reach)
    return turned


def trained_turn(
    pull: Pull, theta: FloatArray, field: ComplexArray, strength: FloatArray
) -> FloatArray:
    """Return the update that a model was trained with, in a given field.

    Parameters
    ----------
    pull : Pull
        Says which: ``trained``, ``bound``, ``radius``.
    theta, field, strength
        As in `Pull`, or those of a chip.

    Returns
    -------
    FloatArray
        Angle to turn by (rad), as ``theta``.
    """
    if pull.trained == "map":
        return bounded(pull.bound, pull.radius, strength * torque(theta, field))
    gain = small_signal_gain(pull.bound, pull.radius, strength)
    return flowed(theta, field, strength * gain)


def wrap(theta: FloatArray) -> FloatArray:
    """Return phases in [-pi, pi]: all that a physical oscillator knows."""
    wrapped: FloatArray = theta - TURN * np.round(theta / TURN)
    return wrapped
