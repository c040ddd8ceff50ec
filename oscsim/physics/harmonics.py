"""Phases whose coupling function has several harmonics."""

from typing import NamedTuple

from oscsim._jit import kernel
from oscsim.physics.coupling import Coupling, acting, couple, coupling_member
from oscsim.physics.sincos import sincos
from oscsim.typing import FloatArray


class HarmonicParams(NamedTuple):
    """What the kernels for m harmonics read.

    ``Network.params`` puts several networks on the first axis; ``harmonic_member``
    takes one out, without that axis.

    Attributes
    ----------
    omega : FloatArray, shape (n_members, n)
        Natural frequencies (rad/s).
    field : FloatArray, shape (n_members, 2 m, n)
        Zero: what the sums of the coupling begin with.
    shil : FloatArray, shape (n_members, 2, n) or (n_members, 2, 0)
        Sub-harmonic injection I cos(psi), I sin(psi) (rad/s), if any.
    harmonics : FloatArray, shape (m, 2)
        a_k and b_k of sin(k d) and cos(k d), k from 1 on.
    coupling : Coupling
        The weights K.
    scratch : FloatArray, shape (2 m, n)
        Room for cos(k theta), sin(k theta).
    mean : FloatArray, shape (4 m or more, n_rows)
        Room for what acts on every oscillator.
    """

    omega: FloatArray
    field: FloatArray
    shil: FloatArray
    harmonics: FloatArray
    coupling: Coupling
    scratch: FloatArray
    mean: FloatArray


@kernel
def harmonic_member(
    params: HarmonicParams, k: int, scratch: FloatArray, mean: FloatArray
) -> HarmonicParams:
    """Return the parameters of the k-th network, with their own scratch room."""
    b = k % params.omega.shape[0]
    return HarmonicParams(
        params.omega[b],
        params.field[b],
        params.shil[b],
        params.harmonics,
        coupling_member(params.coupling, k),
        scratch,
        mean,
    )


@kernel(allocates=False)
def _multiples(theta: FloatArray, x: FloatArray) -> None:
    """Write cos(k theta), sin(k theta) as rows 2k - 2, 2k - 1, turn by turn."""
    c, s = x[0], x[1]
    sincos(theta, s, c)
    for row in range(2, x.shape[0], 2):
        for i in range(theta.shape[0]):
            x[row, i] = x[row - 2, i] * c[i] - x[row - 1, i] * s[i]
            x[row + 1, i] = x[row - 1, i] * c[i] + x[row - 2, i] * s[i]


@kernel(allocates=False)
def harmonic_drift(
    t: float, theta: FloatArray, params: HarmonicParams, out: FloatArray
) -> None:
    """Write omega_i + sum_j K_ij G(theta_j - theta_i) - I_i sin(2 theta_i - psi_i).

    G(d) = sum_k a_k sin(k d) + b_k cos(k d): with X_k + i Y_k = sum_j K_ij
    exp(i k theta_j) that is sum_k a_k (Y_k c_k - X_k s_k) + b_k (X_k c_k + Y_k s_k)
    (Daido 1996, Physica D 91, 24, for coupling functions of this form).
    """
    n, x = theta.shape[0], params.scratch
    _multiples(theta, x)
    couple(params.coupling, x, params.field, params.mean)
    drive = acting(params.coupling, params.field, params.mean)
    for i in range(n):
        out[i] = params.omega[i]
    for k in range(params.harmonics.shape[0]):
        a, b = params.harmonics[k, 0], params.harmonics[k, 1]
        for i in range(n):
            c, s = x[2 * k, i], x[2 * k + 1, i]
            g_x, g_y = drive[2 * k, i], drive[2 * k + 1, i]
            out[i] += a * (g_y * c - g_x * s) + b * (g_x * c + g_y * s)
    shil = params.shil
    if shil.shape[1] > 0:
        for i in range(n):
            c, s = x[0, i], x[1, i]
            out[i] -= (s + s) * c * shil[0, i] - (c - s) * (c + s) * shil[1, i]
