"""Drivers of the other libraries, fixed step; fields are written for any of them.

Every function returns a callable that solves the problem once and gives the
final state as a numpy array. Libraries are imported inside: one that is missing
takes only its own rows with it.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.layouts import FieldInto
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


def numpy_in_place(
    parts: Sequence[tuple[FieldInto, np.ndarray]],
    dt: float,
    n_steps: int,
    retract: Callable[[np.ndarray], object] = keep,
) -> Run:
    """Classical Runge-Kutta without temporaries, one part after the other.

    Parts are fields that write into an array, with their starts; those of one
    problem lie along the last axis. Small enough, a part stays in cache.
    """

    def solve(drift: FieldInto, start: np.ndarray) -> np.ndarray:
        x = start.copy()
        k, stage, total = (np.empty_like(x) for _ in range(3))
        for _ in range(n_steps):
            drift(x, total)
            np.multiply(total, 0.5 * dt, out=stage)
            for reach, weight in ((0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
                np.add(x, stage, out=stage)
                drift(stage, k)
                if reach:
                    np.multiply(k, reach * dt, out=stage)
                    np.multiply(k, weight, out=k)
                np.add(total, k, out=total)
            np.multiply(total, dt / 6.0, out=total)
            np.add(x, total, out=x)
            retract(x)
        return x

    def run() -> np.ndarray:
        done = [solve(*part) for part in parts]
        return done[0] if len(done) == 1 else np.concatenate(done, -1)

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


def torch_field(make: Make, problem: Problem, dtype: str) -> tuple[Field, Any]:
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

    drift, start = torch_field(make, problem, dtype)

    def run() -> np.ndarray:
        x = start
        with torch.inference_mode():
            for _ in range(n_steps):
                x = retract(rk4_step(drift, x, problem.dt))
        return x.numpy()

    return run


def torch_compiled_rk4(
    make: Make, problem: Problem, retract: Retract = keep, dtype: str = "float64"
) -> Callable[[int], Run]:
    """One step by ``torch.compile``, which needs a C++ compiler; takes the steps."""
    import torch

    drift, start = torch_field(make, problem, dtype)
    step = torch.compile(lambda x: retract(rk4_step(drift, x, problem.dt)))

    def of(n_steps: int) -> Run:
        def run() -> np.ndarray:
            x = start
            with torch.no_grad():
                for _ in range(n_steps):
                    x = step(x)
            return x.numpy()

        return run

    return of


def torchdiffeq_rk4(
    make: Make, problem: Problem, n_steps: int, dtype: str = "float64"
) -> Run:
    """``odeint(method="rk4")``: the 3/8 rule, four evaluations a step."""
    import torch
    from torchdiffeq import odeint

    drift, start = torch_field(make, problem, dtype)
    times = torch.tensor([0.0, n_steps * problem.dt], dtype=start.dtype)
    options = {"step_size": problem.dt}

    def run() -> np.ndarray:
        with torch.no_grad():
            path = odeint(
                lambda _t, x: drift(x), start, times, method="rk4", options=options
            )
        return path[-1].numpy()

    return run


def jax_and_numpy() -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    return jax, jnp


def jax_field(make: Make, problem: Problem, dtype: str) -> tuple[Field, Any]:
    _, jnp = jax_and_numpy()
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
    jax, _ = jax_and_numpy()
    drift, start = jax_field(make, problem, dtype)

    def step(_: Any, x: Any) -> Any:
        return retract(rk4_step(drift, x, problem.dt)).astype(dtype)

    @jax.jit
    def solve(x: Any) -> Any:
        return jax.lax.fori_loop(0, n_steps, step, x)

    return lambda: np.asarray(solve(start))


def jax_blocks_rk4(
    make: Make,
    problem: Problem,
    n_steps: int,
    retract: Retract = keep,
    n_blocks: int = 1,
) -> Run:
    """One compiled function that takes all steps of a block before the next.

    For independent columns only: the last axis of arrays and start is cut.
    """
    jax, jnp = jax_and_numpy()

    def cut(array: np.ndarray) -> Any:
        return jnp.asarray(np.stack(np.split(array, n_blocks, -1)))

    blocks = cut(problem.start), *map(cut, problem.arrays)

    def one(block: Any) -> Any:
        x, *arrays = block
        drift = make(jnp, *arrays)

        def step(_: Any, x: Any) -> Any:
            return retract(rk4_step(drift, x, problem.dt))

        return jax.lax.fori_loop(0, n_steps, step, x)

    solve = jax.jit(lambda blocks: jax.lax.map(one, blocks))
    return lambda: np.concatenate(np.asarray(solve(blocks)), -1)


def diffrax_fixed(
    make: Make, problem: Problem, n_steps: int, dtype: str = "float64"
) -> Run:
    """Tsit5 with a constant step: six evaluations a step."""
    import diffrax

    jax, _ = jax_and_numpy()
    drift, start = jax_field(make, problem, dtype)

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
