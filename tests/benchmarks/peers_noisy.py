"""Drivers of the other libraries for noisy mean fields."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.peers import Make, jax_and_numpy
from tests.benchmarks.problems import Problem

NoisyRun = Callable[[float, float], np.ndarray]
"""Takes the coupling and the diffusion, returns the final phases."""


def numpy_noisy(make: Make, problem: Problem, n_steps: int) -> NoisyRun:
    """Euler-Maruyama in a Python loop with numpy's own generator."""
    rng = np.random.default_rng(7)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        drift, dt = make(np, *problem.arrays, coupling), problem.dt
        x, deviation = problem.start, math.sqrt(2 * diffusion * dt)
        for _ in range(n_steps):
            x = x + dt * drift(x) + deviation * rng.standard_normal(x.size)
        return x

    return run


def numpy_noisy_in_place(problem: Problem, n_steps: int) -> NoisyRun:
    """The same without temporaries, and normals for many steps at a time."""
    (omega,), start, dt = problem
    generator = np.random.Generator(np.random.SFC64(7))
    many = min(50, n_steps)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        x, base, kicks = start.copy(), dt * omega, np.empty((many, start.size))
        s, c = np.empty_like(x), np.empty_like(x)
        for k in range(n_steps):
            if k % many == 0:
                generator.standard_normal(out=kicks)
                kicks *= math.sqrt(2 * diffusion * dt)
                kicks += base
            np.sin(x, out=s)
            np.cos(x, out=c)
            by_sine, by_cosine = coupling * dt * s.mean(), coupling * dt * c.mean()
            np.multiply(c, by_sine, out=c)
            np.multiply(s, by_cosine, out=s)
            x += c
            x -= s
            x += kicks[k % many]
        return x

    return run


def jax_noisy(
    make: Make, problem: Problem, n_steps: int, *, at_once: bool = False
) -> NoisyRun:
    """Euler-Maruyama in one compiled loop, threefry normals.

    A key split off in every step of a ``fori_loop``, or all normals before a
    ``scan``.
    """
    jax, jnp = jax_and_numpy()
    arrays = [jnp.asarray(a) for a in problem.arrays]
    start = jnp.asarray(problem.start)

    @jax.jit
    def solve(x: Any, coupling: Any, diffusion: Any) -> Any:
        drift, dt, key = make(jnp, *arrays, coupling), problem.dt, jax.random.key(7)
        deviation = jnp.sqrt(2 * diffusion * dt)

        def moved(x: Any, noise: Any) -> Any:
            return x + dt * drift(x) + deviation * noise

        def step(_: Any, carried: Any) -> Any:
            x, key = carried
            key, now = jax.random.split(key)
            return moved(x, jax.random.normal(now, x.shape)), key

        if at_once:
            noise = jax.random.normal(key, (n_steps, *x.shape))
            return jax.lax.scan(lambda x, w: (moved(x, w), None), x, noise)[0]
        return jax.lax.fori_loop(0, n_steps, step, (x, key))[0]

    return lambda coupling, diffusion: np.asarray(solve(start, coupling, diffusion))


def diffrax_noisy(
    make: Make, problem: Problem, n_steps: int, *, tree: bool = False
) -> NoisyRun:
    """Diffrax's Euler; its fastest noise for fixed steps, or the default tree."""
    import diffrax
    import lineax

    jax, jnp = jax_and_numpy()
    arrays = [jnp.asarray(a) for a in problem.arrays]
    start = jnp.asarray(problem.start)
    t1 = n_steps * problem.dt

    @jax.jit
    def solve(x: Any, coupling: Any, diffusion: Any) -> Any:
        drift, key = make(jnp, *arrays, coupling), jax.random.key(7)
        if tree:
            noise: Any = diffrax.VirtualBrownianTree(
                0.0, t1, problem.dt / 2, x.shape, key
            )
        else:
            noise = diffrax.UnsafeBrownianPath(x.shape, key)
        spread = lineax.DiagonalLinearOperator(
            jnp.full(x.shape, jnp.sqrt(2 * diffusion))
        )
        terms = diffrax.MultiTerm(
            diffrax.ODETerm(lambda _t, y, _a: drift(y)),
            diffrax.ControlTerm(lambda _t, _y, _a: spread, noise),
        )
        adjoint = (
            diffrax.RecursiveCheckpointAdjoint() if tree else diffrax.DirectAdjoint()
        )
        return diffrax.diffeqsolve(
            terms,
            diffrax.Euler(),
            0.0,
            t1,
            problem.dt,
            x,
            stepsize_controller=diffrax.ConstantStepSize(),
            adjoint=adjoint,
            max_steps=n_steps + 2,
        ).ys[-1]

    return lambda coupling, diffusion: np.asarray(solve(start, coupling, diffusion))


def torchsde_noisy(
    make: Make,
    problem: Problem,
    n_steps: int,
    n_trajectories: int = 1,
    *,
    lean: bool = False,
) -> NoisyRun:
    """torchsde's Euler on a batch of trajectories (diagonal noise).

    ``lean``: a constant noise strength made once, and inference mode.
    """
    import torch
    import torchsde

    arrays = [torch.tensor(a) for a in problem.arrays]
    start = torch.tensor(problem.start)[None].repeat(n_trajectories, 1)
    times = torch.tensor([0.0, n_steps * problem.dt], dtype=torch.float64)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        drift = make(torch, *arrays, coupling)
        strength = math.sqrt(2 * diffusion)
        constant = torch.full_like(start, strength)

        class System(torch.nn.Module):
            noise_type, sde_type = "diagonal", "ito"

            def f(self, _t: Any, y: Any) -> Any:
                return drift(y)

            def g(self, _t: Any, y: Any) -> Any:
                return constant if lean else torch.full_like(y, strength)

        with torch.inference_mode() if lean else torch.no_grad():
            path = torchsde.sdeint(
                System(), start, times, method="euler", dt=problem.dt
            )
        return path[-1].numpy()

    return run


def sdeint_noisy(make: Make, problem: Problem, n_steps: int) -> NoisyRun:
    """``sdeint.itoEuler``, which wants the full noise matrix."""
    import sdeint

    times = np.arange(n_steps + 1) * problem.dt
    identity = np.eye(problem.start.size)
    generator = np.random.default_rng(7)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        drift = make(np, *problem.arrays, coupling)
        spread = math.sqrt(2 * diffusion) * identity
        path = sdeint.itoEuler(
            lambda y, _t: drift(y),
            lambda _y, _t: spread,
            problem.start,
            times,
            generator=generator,
        )
        return np.asarray(path[-1])

    return run


def brian2_noisy(problem: Problem, n_steps: int) -> NoisyRun:
    """Brian 2: generated code for the phases, the mean in a network operation."""
    import brian2

    brian2.BrianLogger.suppress_hierarchy("brian2")
    (omega,) = problem.arrays
    brian2.defaultclock.dt = problem.dt * brian2.second
    group = brian2.NeuronGroup(
        omega.size,
        """dx/dt = (w + pull)/second + sqrt(2*D/second)*xi : 1
        pull = k*(cos(x)*mean_s - sin(x)*mean_c) : 1
        w : 1
        k : 1 (shared)
        D : 1 (shared)
        mean_s : 1 (shared)
        mean_c : 1 (shared)""",
        method="euler",
    )
    group.w = omega

    @brian2.network_operation(when="start")
    def mean() -> None:
        x = group.x[:]
        group.mean_s, group.mean_c = np.sin(x).mean(), np.cos(x).mean()

    network = brian2.Network(group, mean)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        group.x = problem.start
        group.k, group.D = coupling, diffusion
        network.run(n_steps * problem.dt * brian2.second)
        return np.array(group.x[:])  # a view of the running state

    return run
