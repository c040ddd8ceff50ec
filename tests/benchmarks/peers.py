"""Drivers of the other libraries; each takes a field written for any of them.

Every function returns a callable that solves the problem once and gives the
final state as a numpy array. Libraries are imported inside: one that is missing
takes only its own rows with it.
"""

import logging
import math
import tempfile
from collections.abc import Callable, Iterable
from contextlib import chdir
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tests.benchmarks.problems import Field, Problem

Make = Callable[..., Field]
Run = Callable[[], np.ndarray]
Retract = Callable[[Any], Any]


def rk4_step(drift: Field, x: Any, dt: float) -> Any:
    """One classical Runge-Kutta step in any array library."""
    k1 = drift(x)
    k2 = drift(x + 0.5 * dt * k1)
    k3 = drift(x + 0.5 * dt * k2)
    k4 = drift(x + dt * k3)
    return x + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)


def keep(x: Any) -> Any:
    """Leave a state as it is."""
    return x


def unit_rows(x: Any) -> Any:
    """Divide rows by their lengths."""
    return x / (x * x).sum(1)[:, None] ** 0.5


def in_precision(array: Any, dtype: str) -> Any:
    """Return real numbers in a precision; integers stay."""
    is_real = np.issubdtype(array.dtype, np.floating)
    return array.astype(dtype, copy=False) if is_real else array


def numpy_rk4(
    make: Make,
    problem: Problem,
    n_steps: int,
    retract: Retract = keep,
    dtype: str = "float64",
) -> Run:
    """Classical Runge-Kutta in a Python loop."""
    drift = make(np, *(in_precision(a, dtype) for a in problem.arrays))
    start = problem.start.astype(dtype)

    def run() -> np.ndarray:
        x = start
        for _ in range(n_steps):
            x = retract(rk4_step(drift, x, problem.dt))
        return x

    return run


def torch_array(array: Any, dtype: str) -> Any:
    """Return a tensor; a SciPy matrix becomes a sparse one, integers stay."""
    import torch

    kind = getattr(torch, dtype)
    if hasattr(array, "indptr"):
        parts = (array.indptr, array.indices, array.data)
        rows, columns, values = (torch.tensor(p) for p in parts)
        return torch.sparse_csr_tensor(rows, columns, values.to(kind), array.shape)
    tensor = torch.tensor(array)
    return tensor.to(kind) if tensor.is_floating_point() else tensor.long()


def _torch_field(make: Make, problem: Problem, dtype: str) -> tuple[Field, Any]:
    import warnings

    import torch

    with warnings.catch_warnings():  # torch calls its sparse layout a prototype
        warnings.simplefilter("ignore")
        arrays = [torch_array(a, dtype) for a in problem.arrays]
    return make(torch, *arrays), torch_array(problem.start, dtype)


def torch_rk4(
    make: Make,
    problem: Problem,
    n_steps: int,
    retract: Retract = keep,
    dtype: str = "float64",
) -> Run:
    """Classical Runge-Kutta on tensors in a Python loop, without gradients."""
    import torch

    drift, start = _torch_field(make, problem, dtype)

    def run() -> np.ndarray:
        x = start
        with torch.inference_mode():
            for _ in range(n_steps):
                x = retract(rk4_step(drift, x, problem.dt))
        return x.numpy()

    return run


def torchdiffeq_rk4(
    make: Make, problem: Problem, n_steps: int, dtype: str = "float64"
) -> Run:
    """``odeint(method="rk4")``: the 3/8 rule, four evaluations a step."""
    import torch
    from torchdiffeq import odeint

    drift, start = _torch_field(make, problem, dtype)
    times = torch.tensor([0.0, n_steps * problem.dt], dtype=start.dtype)
    options = {"step_size": problem.dt}

    def run() -> np.ndarray:
        with torch.no_grad():
            path = odeint(
                lambda _t, x: drift(x), start, times, method="rk4", options=options
            )
        return path[-1].numpy()

    return run


def _jax() -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    return jax, jnp


def _jax_field(make: Make, problem: Problem, dtype: str) -> tuple[Field, Any]:
    _, jnp = _jax()
    arrays = [
        jnp.asarray(a, dtype=dtype if np.issubdtype(a.dtype, np.floating) else None)
        for a in problem.arrays
    ]
    return make(jnp, *arrays), jnp.asarray(problem.start, dtype=dtype)


def jax_rk4(
    make: Make,
    problem: Problem,
    n_steps: int,
    retract: Retract = keep,
    dtype: str = "float64",
) -> Run:
    """Classical Runge-Kutta in one compiled ``fori_loop``."""
    jax, _ = _jax()
    drift, start = _jax_field(make, problem, dtype)

    def step(_: Any, x: Any) -> Any:
        return retract(rk4_step(drift, x, problem.dt)).astype(dtype)

    @jax.jit
    def solve(x: Any) -> Any:
        return jax.lax.fori_loop(0, n_steps, step, x)

    return lambda: np.asarray(solve(start))


def diffrax_fixed(
    make: Make, problem: Problem, n_steps: int, dtype: str = "float64"
) -> Run:
    """Tsit5 with a constant step: six evaluations a step."""
    import diffrax

    jax, _ = _jax()
    drift, start = _jax_field(make, problem, dtype)

    @jax.jit
    def solve(x: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _t, y, _a: drift(y)),
            diffrax.Tsit5(),
            0.0,
            n_steps * problem.dt,
            problem.dt,
            x,
            stepsize_controller=diffrax.ConstantStepSize(),
            max_steps=n_steps + 2,
        ).ys[-1]

    return lambda: np.asarray(solve(start))


def diffrax_adaptive(make: Make, problem: Problem, t1: float) -> Callable[[float], Run]:
    """Tsit5 with error control; the result takes the tolerance."""
    import diffrax

    jax, _ = _jax()
    drift, start = _jax_field(make, problem, "float64")

    @jax.jit
    def solve(x: Any, tolerance: Any) -> Any:
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda _t, y, _a: drift(y)),
            diffrax.Tsit5(),
            0.0,
            t1,
            None,
            x,
            stepsize_controller=control,
            max_steps=100_000,
        ).ys[-1]

    return lambda tolerance: lambda: np.asarray(solve(start, tolerance))


def scipy_adaptive(
    make: Make, problem: Problem, t1: float, method: str
) -> Callable[[float], Run]:
    """``solve_ivp`` with a numpy field; the result takes the tolerance."""
    drift = make(np, *problem.arrays)

    def solve(tolerance: float) -> np.ndarray:
        done = solve_ivp(
            lambda _t, x: drift(x),
            (0.0, t1),
            problem.start,
            method=method,
            rtol=tolerance,
            atol=tolerance,
            t_eval=[t1],
        )
        return done.y[:, -1]

    return lambda tolerance: lambda: solve(tolerance)


def kuramoto_package(problem: Problem, n_steps: int) -> Run:
    """PyPI ``kuramoto``: sines of all differences under ``odeint``.

    It divides its coupling by the number of neighbours, n - 1 here, and saves
    T / dt states of which the last is the state at T.
    """
    from kuramoto import Kuramoto

    weight, omega = problem.arrays
    n = len(omega)
    adjacency = (weight > 0).astype(float)
    logging.getLogger().setLevel(logging.ERROR)

    def run() -> np.ndarray:
        model = Kuramoto(
            coupling=float(weight.max()) * (n - 1),
            dt=problem.dt,
            T=n_steps * problem.dt,
            natfreqs=omega,
        )
        return model.run(adj_mat=adjacency, angles_vec=problem.start)[:, -1]

    return run


def jitcode_adaptive(
    problem: Problem, t1: float
) -> tuple[Callable[[float], Run], Callable[[], None]]:
    """JiTCODE's DOP853 on compiled C; also returns what builds it."""
    from jitcode import jitcode, y
    from symengine import sin

    weight, omega = problem.arrays
    n = len(omega)

    def equations() -> Iterable[Any]:
        for i in range(n):
            yield float(omega[i]) + sum(
                float(weight[i, j]) * sin(y(j) - y(i)) for j in range(n) if j != i
            )

    ode = jitcode(equations, n=n, verbose=False)

    def build() -> None:
        # Its setuptools call looks for packages in the current folder.
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            ode.generate_f_C(simplify=False)
            ode.compile_C()

    def at(tolerance: float) -> Run:
        def run() -> np.ndarray:
            ode.set_integrator("dop853", rtol=tolerance, atol=tolerance)
            ode.set_initial_value(problem.start, 0.0)
            return np.asarray(ode.integrate(t1))

        return run

    return at, build


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


def jax_noisy(make: Make, problem: Problem, n_steps: int) -> NoisyRun:
    """Euler-Maruyama in one compiled ``fori_loop``, threefry normals."""
    jax, jnp = _jax()
    arrays = [jnp.asarray(a) for a in problem.arrays]
    start = jnp.asarray(problem.start)

    @jax.jit
    def solve(x: Any, coupling: Any, diffusion: Any) -> Any:
        drift, dt = make(jnp, *arrays, coupling), problem.dt
        deviation = jnp.sqrt(2 * diffusion * dt)

        def step(_: Any, carried: Any) -> Any:
            x, key = carried
            key, now = jax.random.split(key)
            noise = jax.random.normal(now, x.shape)
            return x + dt * drift(x) + deviation * noise, key

        return jax.lax.fori_loop(0, n_steps, step, (x, jax.random.key(7)))[0]

    return lambda coupling, diffusion: np.asarray(solve(start, coupling, diffusion))


def diffrax_noisy(
    make: Make, problem: Problem, n_steps: int, *, tree: bool = False
) -> NoisyRun:
    """Diffrax's Euler; its fastest noise for fixed steps, or the default tree."""
    import diffrax
    import lineax

    jax, jnp = _jax()
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
    make: Make, problem: Problem, n_steps: int, n_trajectories: int = 1
) -> NoisyRun:
    """torchsde's Euler on a batch of trajectories (diagonal noise)."""
    import torch
    import torchsde

    arrays = [torch.tensor(a) for a in problem.arrays]
    start = torch.tensor(problem.start)[None].repeat(n_trajectories, 1)
    times = torch.tensor([0.0, n_steps * problem.dt], dtype=torch.float64)

    def run(coupling: float, diffusion: float) -> np.ndarray:
        drift = make(torch, *arrays, coupling)

        class System(torch.nn.Module):
            noise_type, sde_type = "diagonal", "ito"

            def f(self, _t: Any, y: Any) -> Any:
                return drift(y)

            def g(self, _t: Any, y: Any) -> Any:
                return torch.full_like(y, math.sqrt(2 * diffusion))

        with torch.no_grad():
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


def brian2_sparse(problem: Problem, n_steps: int) -> Run:
    """Brian 2 with summed synapses: the coupling is frozen within a step."""
    import brian2

    brian2.BrianLogger.suppress_hierarchy("brian2")
    neighbours, weight, omega = problem.arrays
    n, degree = neighbours.shape
    brian2.defaultclock.dt = problem.dt * brian2.second
    group = brian2.NeuronGroup(
        n, "dx/dt = (w + c)/second : 1\nw : 1\nc : 1", method="rk4"
    )
    group.w = omega
    synapses = brian2.Synapses(
        group, group, "c_post = k*sin(x_pre - x_post) : 1 (summed)\nk : 1"
    )
    synapses.connect(i=neighbours.ravel(), j=np.repeat(np.arange(n), degree))
    synapses.k = weight.ravel()
    network = brian2.Network(group, synapses)

    def run() -> np.ndarray:
        group.x = problem.start
        network.run(n_steps * problem.dt * brian2.second)
        return np.array(group.x[:])  # a view of the running state

    return run
