"""The result of a simulation."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from oscsim.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import xarray


def _nothing() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Saved states of one or more runs of the same network.

    Attributes
    ----------
    t : FloatArray, shape (n_saved,)
        Times (s), the first 0.
    y : FloatArray, shape (n_trajectories, n_saved, n_osc) or (..., n_osc, d)
        Phases (rad, not wrapped), or unit vectors. NaN after a failure.
    geometry : str
        ``"torus"`` or ``"sphere"``: which of the two ``y`` is.
    seed : int
        Seed of starts and noise.
    dt : float
        Step (s); NaN for an adaptive method without saved times.
    method : str
        Integration method.
    version : str
        Version of the package that made it.
    status : IntArray, shape (n_trajectories,)
        -1, or the step (from 1) at which the trajectory failed.
    is_complete : bool
        Whether the end was reached; False after an interruption, which leaves
        the times reached by all trajectories.
    t_observed : FloatArray, shape (n_observed,)
        Times (s) of ``r_observed``; empty unless asked for.
    r_observed : FloatArray, shape (n_trajectories, n_observed)
        Order parameter of every trajectory.
    frequency : FloatArray, shape (n_trajectories, n_osc)
        Mean dtheta/dt (rad/s) over the run, NaN where its end was not reached;
        empty unless asked for.
    """

    t: FloatArray
    y: FloatArray
    geometry: str
    seed: int
    dt: float
    method: str
    version: str
    status: IntArray
    is_complete: bool = True
    t_observed: FloatArray = field(default_factory=_nothing)
    r_observed: FloatArray = field(default_factory=_nothing)
    frequency: FloatArray = field(default_factory=_nothing)

    def to_xarray(self) -> "xarray.Dataset":
        """Return the states as a labelled data set.

        Returns
        -------
        xarray.Dataset
            Variable ``theta`` or ``z`` over (trajectory, time, oscillator
            [, component]), ``status`` over trajectory, if observed ``r`` over
            (trajectory, time_observed) and ``frequency`` over (trajectory,
            oscillator); the rest as attributes.
        """
        import xarray  # noqa: PLC0415 - slow to import and rarely needed

        is_torus = self.geometry == "torus"
        axes = ("trajectory", "time", "oscillator", "component")[: self.y.ndim]
        name, unit = ("theta", "rad") if is_torus else ("z", "1")
        data = xarray.Dataset(
            {
                name: (axes, self.y, {"units": unit}),
                "status": ("trajectory", self.status),
            },
            coords={"time": ("time", self.t, {"units": "s"})},
            attrs={
                "geometry": self.geometry,
                "seed": self.seed,
                "dt": self.dt,
                "method": self.method,
                "version": self.version,
                "is_complete": int(self.is_complete),
            },
        )
        if self.t_observed.size:
            data["r"] = (("trajectory", "time_observed"), self.r_observed)
            data.coords["time_observed"] = self.t_observed
        if self.frequency.size:
            axes = ("trajectory", "oscillator")
            data["frequency"] = (axes, self.frequency, {"units": "rad/s"})
        return data
