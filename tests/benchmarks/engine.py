"""Our own contenders, through the public interface only."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

import oscsim as osc

Run = Callable[[], np.ndarray]


def rk4(
    network: osc.Network,
    start: np.ndarray,
    dt: float,
    n_steps: int,
    dtype: str = "float64",
    **options: Any,
) -> Run:
    """Return a fixed-step run that gives the final states."""

    def run() -> np.ndarray:
        path = osc.simulate(
            network,
            t1=n_steps * dt,
            dt=dt,
            method="rk4",
            start=start,
            dtype=dtype,
            **options,
        )
        return path.y[:, -1]

    return run


def adaptive(
    network: osc.Network, start: np.ndarray, t1: float
) -> Callable[[float], Run]:
    """Return a run with error control; it takes the tolerance."""

    def at(tolerance: float) -> Run:
        def run() -> np.ndarray:
            path = osc.simulate(
                network,
                t1=t1,
                method="adaptive",
                start=start,
                rtol=tolerance,
                atol=tolerance,
            )
            return path.y[:, -1]

        return run

    return at


def noisy(
    omega: np.ndarray,
    start: np.ndarray,
    dt: float,
    n_steps: int,
    n_trajectories: int = 1,
    method: Literal["heun", "euler-maruyama"] = "euler-maruyama",
    n_threads: int | None = None,
) -> Callable[[float, float], np.ndarray]:
    """Return an all-to-all run that takes coupling and diffusion."""

    def run(coupling: float, diffusion: float) -> np.ndarray:
        network = osc.Network.kuramoto("all-to-all", omega=omega, coupling=coupling)
        path = osc.simulate(
            network,
            t1=n_steps * dt,
            dt=dt,
            method=method,
            diffusion=diffusion,
            start=start,
            n_trajectories=n_trajectories,
            seed=7,
            n_threads=n_threads,
        )
        return path.y[:, -1]

    return run
