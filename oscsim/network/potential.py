"""The energy that a network descends."""

from typing import Any

import numpy as np

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.observables import States, pair_potential, unpack
from oscsim.typing import FloatArray


def potential(network: Network, state: FloatArray | States) -> FloatArray:
    """Return the energy that a network without rotation and noise descends.

    E = -(1/2) sum_ij K_ij <z_i, z_j> - sum_i <z_i, h_i>
        - (1/2) sum_i I_i cos(2 theta_i - psi_i), h the constant field with the
    anchors, so that dtheta_i/dt = omega_i - dE/dtheta_i on the torus, and dz_i/dt
    is the rotation minus the tangential gradient on the sphere. With rotation
    or noise E is still defined, but need not descend.

    Parameters
    ----------
    network : Network
        Symmetric, without lag, coupled by sines.
    state : FloatArray, shape (..., n) or (..., n, d), or Trajectory
        Phases (rad) or unit vectors, as the network has them; or the result of
        a simulation.

    Returns
    -------
    FloatArray, shape (...)
        Energy (rad/s).

    Raises
    ------
    SpecError
        If weights are not symmetric, there is a lag or another coupling function
        than the sine, the network is a batch, or shapes do not fit.
    """
    if np.any(getattr(network.lag, "data", network.lag)):
        raise SpecError("a network with phase lag has no potential")
    if network.harmonics.size:
        raise SpecError("the potential is that of a sine, and the coupling is another")
    if network.n_networks > 1:
        raise SpecError(
            f"the potential is that of one network, got a batch of {network.n_networks}"
        )
    values, _ = unpack(state, network.geometry)
    one = network.state_shape
    if values.shape[-len(one) :] != one:
        wanted = ", ".join(map(str, one))
        raise SpecError(
            f"a state of this network has shape (..., {wanted}), got {values.shape}"
        )
    n, d = network.field.shape
    coupling: Any = 0.0 if network.coupling is None else network.coupling
    if getattr(coupling, "ndim", 0) == 3:
        coupling = coupling[0]
    shil = network.shil if network.shil.size else np.zeros((n, 2))
    return pair_potential(
        state,
        coupling * n if isinstance(coupling, float) else coupling,
        anchors=np.eye(d),
        anchor_weights=network.field,
        shil=np.hypot(shil[:, 0], shil[:, 1]),
        shil_phase=np.arctan2(shil[:, 1], shil[:, 0]),
        geometry=network.geometry,
    )
