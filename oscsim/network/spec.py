"""A network of oscillators: its state space and what acts on every oscillator."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from oscsim.errors import SpecError
from oscsim.physics.field import Params
from oscsim.physics.kuramoto import KuramotoParams
from oscsim.physics.lohe import LoheParams
from oscsim.typing import FloatArray

Geometry = Literal["torus", "sphere"]


@dataclass(frozen=True, eq=False)
class Network:
    """Oscillators, the field that drives each, and how fast each one turns.

    Built by :meth:`driven`, which checks it.

    Attributes
    ----------
    geometry : {"torus", "sphere"}
        State: phases of shape (n,), or unit vectors of shape (n, d).
    field : FloatArray, shape (n, d)
        Drive (rad/s); d = 2 on the torus.
    omega : FloatArray
        Rotation rates (rad/s): (n,) on the torus; on the sphere antisymmetric
        matrices (n, d, d), or (0, d, d) when nothing rotates.
    """

    geometry: Geometry
    field: FloatArray
    omega: FloatArray

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
        field = np.array(field, dtype=np.float64)
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
        _require_finite("field", field)
        n, d = field.shape
        rates = np.array(0.0 if omega is None else omega, dtype=np.float64)
        _require_finite("omega", rates)
        if geometry == "torus":
            return cls(geometry, field, _phase_rates(rates, n))
        if omega is None:
            return cls(geometry, field, np.empty((0, d, d)))
        return cls(geometry, field, _rotation_rates(rates, n, d))

    @property
    def n_osc(self) -> int:
        """Number of oscillators."""
        return int(self.field.shape[0])

    @property
    def state_shape(self) -> tuple[int, ...]:
        """Shape of one state: (n,) or (n, d)."""
        if self.geometry == "torus":
            return (self.n_osc,)
        return (self.n_osc, int(self.field.shape[1]))

    def params(self, dtype: DTypeLike = np.float64) -> Params:
        """Return the contiguous arrays that the kernels read.

        Parameters
        ----------
        dtype : numpy dtype
            float64 or float32.

        Raises
        ------
        SpecError
            If ``dtype`` is neither.
        """
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise SpecError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
        arrays: dict[str, Any] = {
            "omega": np.ascontiguousarray(self.omega, dtype=dtype),
            "field": np.ascontiguousarray(self.field, dtype=dtype),
        }
        if self.geometry == "torus":
            return KuramotoParams(**arrays)
        return LoheParams(**arrays)


def _require_finite(name: str, value: FloatArray) -> None:
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        where = tuple(int(k) for k in bad[0])
        raise SpecError(f"{name} must be finite, got {value[where]} at index {where}")


def _phase_rates(omega: FloatArray, n: int) -> FloatArray:
    if omega.shape not in ((), (n,)):
        raise SpecError(
            f"omega must be a number or have shape ({n},), got {omega.shape}"
        )
    return np.broadcast_to(omega, (n,)).copy()


def _rotation_rates(omega: FloatArray, n: int, d: int) -> FloatArray:
    if d == 2 and omega.shape in ((), (n,)):
        quarter_turn = np.array([[0.0, -1.0], [1.0, 0.0]])
        return np.asarray(np.broadcast_to(omega, (n,))[:, None, None] * quarter_turn)
    if omega.shape not in ((d, d), (n, d, d)):
        raise SpecError(
            f"omega must have shape ({d}, {d}) or ({n}, {d}, {d}), got {omega.shape}"
        )
    if not np.allclose(omega, -np.swapaxes(omega, -1, -2), rtol=1e-12, atol=0.0):
        raise SpecError("omega must be antisymmetric: omega[a, b] = -omega[b, a]")
    return np.broadcast_to(omega, (n, d, d)).copy()
