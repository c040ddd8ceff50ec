"""A network of oscillators: its state space and what acts on every oscillator."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import issparse

from oscsim.arrays import real_array
from oscsim.errors import SpecError
from oscsim.network import arguments, couplings
from oscsim.network.layout import kernel_params
from oscsim.physics.coupling import Coupling
from oscsim.physics.field import Params
from oscsim.typing import FloatArray

Geometry = Literal["torus", "sphere"]


def _nothing() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Network:
    """Oscillators, what acts on each of them, and how fast each one turns.

    Built by :meth:`kuramoto`, :meth:`lohe` or :meth:`driven`, which check it. A
    network does not change: other weights make another one.

    Attributes
    ----------
    geometry : {"torus", "sphere"}
        State: phases of shape (n,), or unit vectors of shape (n, d).
    field : FloatArray, shape (n, d)
        Constant drive (rad/s), anchors included; d = 2 on the torus.
    omega : FloatArray
        Rotation rates (rad/s): (n,) on the torus, (b, n) for a batch; on the
        sphere antisymmetric matrices (n, d, d), or (0, d, d) when nothing rotates.
    coupling : None, float, FloatArray or scipy.sparse.csr_array
        None without coupling; a number between all pairs; a matrix (n, n) with
        [i, j] the influence of j on i (rad/s); one matrix per network of a batch
        (b, n, n).
    lag : float, FloatArray or scipy.sparse.csr_array
        Phase lag (rad) of all edges, or of every edge in the order of
        ``coupling``; torus.
    shil : FloatArray, shape (n, 2)
        Sub-harmonic injection I cos(psi), I sin(psi) (rad/s); torus, empty
        without.
    diffusion : FloatArray, shape (n,)
        Diffusion D (rad^2/s) that a simulation uses unless told otherwise;
        empty without.
    harmonics : FloatArray, shape (m, 2)
        Coupling function in place of the sine: a_k, b_k; torus, empty for the sine.
    """

    geometry: Geometry
    field: FloatArray
    omega: FloatArray
    coupling: Any = None
    lag: Any = 0.0
    shil: FloatArray = dataclasses.field(default_factory=_nothing)
    diffusion: FloatArray = dataclasses.field(default_factory=_nothing)
    harmonics: FloatArray = dataclasses.field(default_factory=_nothing)

    def __post_init__(self) -> None:
        # The layout for the kernels is kept: it must not become that of old weights.
        for name in ("coupling", "lag"):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                shown = value.view()
                shown.flags.writeable = False
                object.__setattr__(self, name, shown)

    @classmethod
    def driven(
        cls,
        field: FloatArray,
        omega: FloatArray | float | None = None,
        geometry: Geometry = "sphere",
    ) -> "Network":
        """Return independent oscillators, each in a constant field.

        dtheta = omega + h_y cos(theta) - h_x sin(theta) on the torus,
        dz = Omega z + (I - z z^T) h on the sphere; a zero field leaves an
        oscillator free.

        Parameters
        ----------
        field : FloatArray, shape (n, d)
            Drive h (rad/s).
        omega : FloatArray or float, optional
            Natural frequency (rad/s). Torus, and sphere with d = 2: a number or
            shape (n,), positive anticlockwise. Sphere: antisymmetric matrices of
            shape (d, d) or (n, d, d). Without it nothing rotates.
        geometry : {"torus", "sphere"}
            Phases or unit vectors; the torus needs d = 2.

        Raises
        ------
        SpecError
            If a shape does not fit, a value is not finite or a matrix is not
            antisymmetric.
        """
        field = real_array("field", field)
        if geometry not in ("torus", "sphere"):
            raise SpecError(f"geometry must be 'torus' or 'sphere', got {geometry!r}")
        if field.ndim != 2 or field.shape[0] < 1 or field.shape[1] < 2:
            raise SpecError(
                f"field must have shape (n, d), n >= 1 and d >= 2, got {field.shape}"
            )
        if geometry == "torus" and field.shape[1] != 2:
            raise SpecError(
                f"on the torus field must have shape (n, 2), got {field.shape}"
            )
        n, d = field.shape
        turns = geometry == "sphere" and omega is not None
        couplings.require_room(n, d, turns=turns)
        if geometry == "torus":
            rates = arguments.phase_rates(omega, (n,))
        else:
            rates = arguments.rotation_rates(omega, n, d)
        return cls(geometry, field, rates)

    @classmethod
    def kuramoto(
        cls,
        topology: Any,
        *,
        omega: FloatArray | float | None = None,
        coupling: float = 1.0,
        lag: FloatArray | float = 0.0,
        n: int | None = None,
        diffusion: FloatArray | float | None = None,
        anchors: FloatArray | None = None,
        anchor_weights: FloatArray | None = None,
        shil: FloatArray | float | None = None,
        shil_phase: FloatArray | float = 0.0,
        harmonics: FloatArray | None = None,
    ) -> "Network":
        r"""Return coupled phases.

        .. math::

            \dot\theta_i = \omega_i + \sum_j K_{ij}
            \sin(\theta_j - \theta_i - \alpha_{ij})
            + \sum_a W_{ia} \sin(\phi_a - \theta_i)
            - I_i \sin(2 \theta_i - \psi_i)

        With ``harmonics`` the coupling is :math:`K_{ij} \Gamma(\theta_j - \theta_i)`,
        :math:`\Gamma(d) = \sum_k a_k \sin k d + b_k \cos k d`, in place of the sine;
        a constant part of it is a shift of omega.

        Parameters
        ----------
        topology : {"all-to-all"}, networkx graph, array or SciPy sparse matrix
            Weights; K is ``coupling`` times the weight. K[i, j] is the influence
            of j on i; an edge of a graph acts both ways, an edge j -> i of a
            directed one on i. ``"all-to-all"`` is coupling / n between all
            different pairs. An array (b, n, n) is a batch of b networks.
        omega : FloatArray or float, shape (n,), optional
            Natural frequencies (rad/s), 0 without; (b, n) for a batch.
        coupling : float
            Strength (rad/s).
        lag : FloatArray, SciPy sparse matrix or float, shape (n, n)
            Lag alpha (rad), of all edges or of each.
        n : int, optional
            Number of oscillators, where nothing else says it.
        diffusion : FloatArray or float, shape (n,), optional
            D (rad^2/s).
        anchors : FloatArray, shape (n_anchors,), optional
            Fixed phases (rad).
        anchor_weights : FloatArray, shape (n, n_anchors), optional
            W (rad/s), needed with anchors.
        shil : FloatArray or float, shape (n,), optional
            Strength I (rad/s) of the injection at twice the frequency.
        shil_phase : FloatArray or float, shape (n,)
            Its phase psi (rad); with 0 the phases 0 and pi are stable.
        harmonics : FloatArray, shape (m, 2), optional
            Rows (a_k, b_k), k from 1 on; neither with a lag nor with anchors.

        Returns
        -------
        Network

        Raises
        ------
        SpecError
            If a shape does not fit, a value is not a finite real number,
            there is no oscillator, or harmonics meet a lag or anchors.

        References
        ----------
        .. [1] Sakaguchi & Kuramoto (1986), Prog. Theor. Phys. 76, 576, eq. (1).
        .. [2] Wang & Roychowdhury (2019), UCNC, LNCS 11493, eq. (6) (injection).
        """
        k, n_osc, batch = couplings.coupling_of(topology, coupling, omega, n)
        several = arguments.harmonics_of(harmonics, lag, anchors)
        directions = None if anchors is None else arguments.anchor_phases(anchors)
        return cls(
            "torus",
            arguments.anchor_field(directions, anchor_weights, n_osc, 2),
            arguments.phase_rates(omega, (*batch, n_osc)),
            k,
            couplings.lag_of(lag, k),
            arguments.injection(shil, shil_phase, n_osc),
            arguments.diffusion_of(diffusion, n_osc),
            several,
        )

    @classmethod
    def lohe(
        cls,
        topology: Any,
        *,
        d: int,
        omega: FloatArray | float | None = None,
        coupling: float = 1.0,
        n: int | None = None,
        diffusion: FloatArray | float | None = None,
        anchors: FloatArray | None = None,
        anchor_weights: FloatArray | None = None,
    ) -> "Network":
        r"""Return coupled unit vectors.

        .. math::

            \dot z_i = \Omega_i z_i + P_i \Big(\sum_j K_{ij} z_j
            + \sum_a W_{ia} r_a\Big), \qquad P_i y = y - \langle z_i, y\rangle z_i

        Parameters
        ----------
        topology : {"all-to-all"}, networkx graph, array or SciPy sparse matrix
            Weights, as for :meth:`kuramoto`.
        d : int
            Dimension of the space around the sphere, at least 2.
        omega : FloatArray or float, optional
            Antisymmetric matrices (rad/s) of shape (d, d) or (n, d, d); for
            d = 2 also numbers, positive anticlockwise.
        coupling : float
            Strength (rad/s).
        n : int, optional
            Number of oscillators, where nothing else says it.
        diffusion : FloatArray or float, shape (n,), optional
            D (rad^2/s).
        anchors : FloatArray, shape (n_anchors, d), optional
            Fixed vectors r_a, of unit length.
        anchor_weights : FloatArray, shape (n, n_anchors), optional
            W (rad/s), needed with anchors.

        Returns
        -------
        Network

        Raises
        ------
        SpecError
            If a shape does not fit, a value is not a finite real number, or
            there is no oscillator.

        References
        ----------
        .. [1] Lohe (2009), J. Phys. A 42, 395101, eq. (22).
        """
        d = arguments.dimension(d)
        k, n_osc, _ = couplings.coupling_of(
            topology, coupling, arguments.one_each(omega), n
        )
        couplings.require_room(n_osc, d, turns=omega is not None)
        if anchors is not None:
            anchors = arguments.unit_vectors("anchors", anchors, d)
        return cls(
            "sphere",
            arguments.anchor_field(anchors, anchor_weights, n_osc, d),
            arguments.rotation_rates(omega, n_osc, d),
            k,
            diffusion=arguments.diffusion_of(diffusion, n_osc),
        )

    @property
    def n_osc(self) -> int:
        """Number of oscillators (of each network of a batch)."""
        return int(self.field.shape[0])

    @property
    def n_networks(self) -> int:
        """Number of networks of a batch, 1 for a single network."""
        is_batch = isinstance(self.coupling, np.ndarray) and self.coupling.ndim == 3
        return int(self.coupling.shape[0]) if is_batch else 1

    @property
    def state_shape(self) -> tuple[int, ...]:
        """Shape of one state: (n,) or (n, d)."""
        if self.geometry == "torus":
            return (self.n_osc,)
        return (self.n_osc, int(self.field.shape[1]))

    def params(
        self, dtype: DTypeLike = np.float64, *, n_copies: int = 1, block: int = 0
    ) -> Params:
        """Return the contiguous arrays that the kernels read.

        Parameters
        ----------
        dtype : numpy dtype
            float64 or float32.
        n_copies : int
            Copies of the network that are advanced together, side by side.
        block : int
            Without coupling: oscillators per block of the stack, the last one
            filled up with free oscillators; 0 for all in one.

        Raises
        ------
        SpecError
            If ``dtype`` is neither, or a value is too large for float32.
        """
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise SpecError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
        if np.dtype(dtype) == np.float32:
            self._require_single()
        return kernel_params(self, np.dtype(dtype), n_copies, block, self._laid_out)

    @cached_property
    def _laid_out(self) -> dict[Any, Coupling]:
        """The coupling as last laid out: runs of one network lay it out once."""
        return {}

    def _require_single(self) -> None:
        for name in ("coupling", "field", "omega", "shil", "harmonics"):
            value = getattr(self, name)
            values = np.asarray(value.data if issparse(value) else value)
            if value is not None and values.size:
                largest = float(np.abs(values).max())
                if largest > float(np.finfo(np.float32).max):
                    raise SpecError(
                        f"{name} of {largest:.3g} is too large for float32: use "
                        "dtype float64, or another unit of time"
                    )

    def strengths(self) -> FloatArray:
        """Return sum_j |K_ij| for every oscillator (rad/s), read-only.

        Returns
        -------
        FloatArray, shape (n,) or (b, n)
            Infinite where the sum is beyond float64.
        """
        return self._strengths

    @cached_property
    def _strengths(self) -> FloatArray:
        if self.coupling is None:
            sums = np.zeros(self.n_osc)
        elif isinstance(self.coupling, float):
            sums = np.full(self.n_osc, abs(self.coupling) * (self.n_osc - 1))
        else:
            with np.errstate(over="ignore"):
                summed = np.asarray(abs(self.coupling).sum(axis=-1))
            sums = summed.reshape(*self.coupling.shape[:-2], self.n_osc)
        sums.flags.writeable = False
        return sums
