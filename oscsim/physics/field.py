"""The vector field chosen by the type of its parameters.

The functions of this module can be called from Python and from kernels; inside
kernels the choice is made when they are compiled. A new vector field is one
module with these functions and one line in the table.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from numba import types
from numba.extending import overload

from oscsim._jit import FORWARDED
from oscsim.physics import harmonics, kuramoto, lohe
from oscsim.physics.harmonics import HarmonicParams
from oscsim.physics.kuramoto import KuramotoParams
from oscsim.physics.lohe import LoheParams
from oscsim.typing import FloatArray

Params: TypeAlias = KuramotoParams | HarmonicParams | LoheParams


class _Field(NamedTuple):
    """What a vector field consists of."""

    member: Callable[..., Any]
    drift: Callable[..., None]
    advance: Callable[..., int]
    move: Callable[..., int]
    order: Callable[..., float]


_FIELDS: dict[type, _Field] = {
    KuramotoParams: _Field(
        kuramoto.kuramoto_member,
        kuramoto.kuramoto_drift,
        kuramoto.kuramoto_advance,
        kuramoto.kuramoto_map,
        kuramoto.kuramoto_order,
    ),
    HarmonicParams: _Field(
        harmonics.harmonic_member,
        harmonics.harmonic_drift,
        kuramoto.kuramoto_advance,
        kuramoto.kuramoto_map,
        kuramoto.kuramoto_order,
    ),
    LoheParams: _Field(
        lohe.lohe_member,
        lohe.lohe_drift,
        lohe.lohe_advance,
        lohe.lohe_map,
        lohe.lohe_order,
    ),
}


def member(params: Params, k: int, scratch: FloatArray, mean: FloatArray) -> Params:
    """Return the parameters of one network out of a stack.

    Parameters
    ----------
    params : KuramotoParams, HarmonicParams or LoheParams
        A stack, as ``Network.params`` returns it.
    k : int
        Which network; counted round, so that a stack of one serves all.
    scratch, mean : FloatArray
        Rooms of the shapes that ``params`` has, not shared with another thread.
    """
    return _FIELDS[type(params)].member(params, k, scratch, mean)  # type: ignore[no-any-return]


def drift(t: float, y: FloatArray, params: Params, out: FloatArray) -> None:
    """Write the deterministic part of dy/dt into ``out``.

    Parameters
    ----------
    t : float
        Time (s).
    y : FloatArray, shape (n_state,)
        Flat state: phases (rad), or the components of unit vectors, oscillators
        innermost.
    params : KuramotoParams, HarmonicParams or LoheParams
        Of one network; selects the vector field.
    out : FloatArray, shape (n_state,)
        Overwritten.
    """
    _FIELDS[type(params)].drift(t, y, params, out)


def advance(
    y: FloatArray,
    params: Params,
    dt: float,
    drifted: FloatArray,
    diffused: FloatArray,
) -> int:
    """Add a step to the state in place and return it to its manifold.

    Parameters
    ----------
    y : FloatArray, shape (n_state,)
        Flat state.
    params : KuramotoParams, HarmonicParams or LoheParams
        Of one network; selects the vector field.
    dt : float
        Step (s).
    drifted, diffused : FloatArray, shape (n_state,)
        Increments of the step.

    Returns
    -------
    int
        First oscillator whose step was not meaningful, or -1.
    """
    return _FIELDS[type(params)].advance(y, params, dt, drifted, diffused)


def move(y: FloatArray, params: Params, step: FloatArray) -> int:
    """Add a step of any size and return the state to its manifold: a discrete map.

    Parameters
    ----------
    y : FloatArray, shape (n_state,)
        Flat state, changed in place.
    params : KuramotoParams, HarmonicParams or LoheParams
        Of one network; selects the vector field.
    step : FloatArray, shape (n_state,)
        What is added.

    Returns
    -------
    int
        First oscillator whose state is not finite or has no direction, or -1.
    """
    return _FIELDS[type(params)].move(y, params, step)


def order(y: FloatArray, params: Params, first: int, n: int) -> float:
    """Return the length of the mean unit vector of some oscillators.

    Parameters
    ----------
    y : FloatArray, shape (n_state,)
        Flat state.
    params : KuramotoParams, HarmonicParams or LoheParams
        Of one network; selects the vector field.
    first, n : int
        The oscillators first .. first + n - 1.
    """
    return _FIELDS[type(params)].order(y, params, first, n)


def _chosen(params: Any) -> Any:
    is_known = isinstance(params, types.BaseNamedTuple)
    return _FIELDS.get(params.instance_class) if is_known else None


# Unannotated on purpose: numba demands that the signature of an overload and of
# its implementation be identical, annotations included.
@overload(member, jit_options=FORWARDED)
def _member_in_kernels(params, k, scratch, mean):  # type: ignore[no-untyped-def]
    chosen = _chosen(params).member
    return lambda params, k, scratch, mean: chosen(params, k, scratch, mean)  # noqa: PLW0108


@overload(drift, jit_options=FORWARDED)
def _drift_in_kernels(t, y, params, out):  # type: ignore[no-untyped-def]
    chosen = _chosen(params).drift
    return lambda t, y, params, out: chosen(t, y, params, out)  # noqa: PLW0108


@overload(advance, jit_options=FORWARDED)
def _advance_in_kernels(  # type: ignore[no-untyped-def]
    y, params, dt, drifted, diffused
):
    chosen = _chosen(params).advance
    return lambda y, params, dt, drifted, diffused: chosen(  # noqa: PLW0108
        y, params, dt, drifted, diffused
    )


@overload(move, jit_options=FORWARDED)
def _move_in_kernels(y, params, step):  # type: ignore[no-untyped-def]
    chosen = _chosen(params).move
    return lambda y, params, step: chosen(y, params, step)  # noqa: PLW0108


@overload(order, jit_options=FORWARDED)
def _order_in_kernels(y, params, first, n):  # type: ignore[no-untyped-def]
    chosen = _chosen(params).order
    return lambda y, params, first, n: chosen(y, params, first, n)  # noqa: PLW0108
