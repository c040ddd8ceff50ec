"""The vector field chosen by the type of its parameters.

``drift``, ``diffuse`` and ``advance`` can be called from Python and from
kernels; inside kernels the choice is made when they are compiled. A new vector
field is one module with these three functions and one line in each table.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from numba import types
from numba.extending import overload

from oscsim.physics.kuramoto import (
    KuramotoParams,
    kuramoto_advance,
    kuramoto_diffuse,
    kuramoto_drift,
)
from oscsim.physics.lohe import LoheParams, lohe_advance, lohe_diffuse, lohe_drift
from oscsim.typing import FloatArray

Params: TypeAlias = KuramotoParams | LoheParams

_DRIFT: dict[type, Callable[..., None]] = {
    KuramotoParams: kuramoto_drift,
    LoheParams: lohe_drift,
}
_DIFFUSE: dict[type, Callable[..., None]] = {
    KuramotoParams: kuramoto_diffuse,
    LoheParams: lohe_diffuse,
}
_ADVANCE: dict[type, Callable[..., int]] = {
    KuramotoParams: kuramoto_advance,
    LoheParams: lohe_advance,
}


def drift(t: float, y: FloatArray, params: Params, out: FloatArray) -> None:
    """Write the deterministic part of dy/dt into ``out``.

    Parameters
    ----------
    t : float
        Time (s).
    y : FloatArray, shape (n_state,)
        Flat state: phases (rad), or the components of unit vectors.
    params : KuramotoParams or LoheParams
        Selects the vector field.
    out : FloatArray, shape (n_state,)
        Overwritten.
    """
    _DRIFT[type(params)](t, y, params, out)


def diffuse(y: FloatArray, params: Params, noise: FloatArray, out: FloatArray) -> None:
    """Write the part of an ambient noise increment that moves the state.

    Parameters
    ----------
    y : FloatArray, shape (n_state,)
        Flat state.
    params : KuramotoParams or LoheParams
        Selects the vector field.
    noise : FloatArray, shape (n_state,)
        sqrt(2 D) dB, component by component.
    out : FloatArray, shape (n_state,)
        Overwritten.
    """
    _DIFFUSE[type(params)](y, params, noise, out)


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
    params : KuramotoParams or LoheParams
        Selects the vector field.
    dt : float
        Step (s).
    drifted, diffused : FloatArray, shape (n_state,)
        Increments of the step.

    Returns
    -------
    int
        First oscillator whose step was not meaningful, or -1.
    """
    return _ADVANCE[type(params)](y, params, dt, drifted, diffused)


def _chosen(table: dict[type, Callable[..., Any]], params: Any) -> Any:
    is_known = isinstance(params, types.NamedTuple)
    return table.get(params.instance_class) if is_known else None


# Unannotated on purpose: numba demands that the signature of an overload and of
# its implementation be identical, annotations included.
@overload(drift)
def _drift_in_kernels(t, y, params, out):  # type: ignore[no-untyped-def]
    chosen = _chosen(_DRIFT, params)
    return lambda t, y, params, out: chosen(t, y, params, out)  # noqa: PLW0108


@overload(diffuse)
def _diffuse_in_kernels(y, params, noise, out):  # type: ignore[no-untyped-def]
    chosen = _chosen(_DIFFUSE, params)
    return lambda y, params, noise, out: chosen(y, params, noise, out)  # noqa: PLW0108


@overload(advance)
def _advance_in_kernels(  # type: ignore[no-untyped-def]
    y, params, dt, drifted, diffused
):
    chosen = _chosen(_ADVANCE, params)
    return lambda y, params, dt, drifted, diffused: chosen(  # noqa: PLW0108
        y, params, dt, drifted, diffused
    )
