"""W4: independent unit vectors in constant fields, stepped and settled."""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ive

import oscsim as osc
from oscsim.physics.driven import settle
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.stream import Stream
from tests.benchmarks import ceilings, engine, layouts, peers, problems
from tests.benchmarks.entries import Entry, Row, Scale, by, fixed_step, once, ours
from tests.benchmarks.measure import Contender, alternate, largest_difference

KAPPA = 8.0
"""|h| / D of the noisy driven vectors, their median."""

BLOCK = 16_384
"""Components per block of the contenders that go block by block."""


def w4_driven(scale: Scale, d: int) -> list[Row]:
    """Independent unit vectors in constant fields, stepped."""
    n, steps = scale.of(65_536, 512), 200
    few, n_checked = scale.of(max(5, 40 // d), 5), scale.of(20, 10)
    problem = problems.driven(n, d)
    turned = layouts.reversed_axes(problem)
    entries = [
        *ours(lambda: osc.Network.driven(problem.arrays[0]), problem, steps),
        *_rows(problem, few),
        *_columns(turned, few),
    ]
    exact = problems.settled(problem, n_checked * problem.dt)
    contenders = fixed_step(exact, n_checked, problem.dt, entries)
    contenders += ceilings.products(scale.of(2048, 256))
    contenders.append(ceilings.operations(scale.of(200_000, 2000)))
    return alternate(f"W4 d={d}", contenders, scale.repeats, size=n, dimension=d)


def _in_either_layout(
    problem: problems.Problem, field: Any, unit: Any
) -> list[tuple[str, str, str, Any]]:
    """Return (title, library, family, solve) of peers that take rows or columns."""
    return [
        (
            "jax fori_loop",
            "jax",
            "jax",
            by(peers.jax_rk4, field, problem, retract=unit),
        ),
        (
            "torch loop",
            "torch",
            "torch",
            by(peers.torch_rk4, field, problem, retract=unit),
        ),
        (
            "torch.compile",
            "torch",
            "torch",
            once(lambda: peers.torch_compiled_rk4(field, problem, unit)),
        ),
        (
            "torchdiffeq rk4",
            "torchdiffeq",
            "torch",
            by(peers.torchdiffeq_rk4, field, problem),
        ),
        (
            "diffrax Tsit5",
            "diffrax",
            "diffrax",
            by(peers.diffrax_fixed, field, problem),
        ),
    ]


def _rows(problem: problems.Problem, few: int) -> list[Entry]:
    """Return the peers on vectors as rows, (n, d)."""
    field, unit = problems.driven_field, peers.unit_rows
    einsum = problems.driven_einsum_field
    return [
        Entry(f"{title}, (n, d)", library, family, solve, few)
        for title, library, family, solve in (
            (
                "numpy einsum",
                "numpy",
                "numpy",
                by(peers.numpy_rk4, einsum, problem, retract=unit),
            ),
            *_in_either_layout(problem, field, unit),
        )
    ]


def _columns(turned: problems.Problem, few: int) -> list[Entry]:
    """Return the peers on vectors as columns, (d, n): our own arrangement."""
    field, unit = layouts.columns_field, layouts.unit_columns
    d, n = turned.start.shape
    n_blocks = max(1, n * d // BLOCK)

    def in_blocks(n_steps: int) -> engine.Run:
        arrays = (turned.arrays[0], turned.start)
        cut = zip(*(np.array_split(a, n_blocks, 1) for a in arrays), strict=True)
        parts = [
            (layouts.columns_into(np.ascontiguousarray(h)), np.ascontiguousarray(z))
            for h, z in cut
        ]
        return peers.numpy_in_place(
            parts, turned.dt, n_steps, layouts.unit_columns_into
        )

    einsum = layouts.columns_einsum_field
    return [
        Entry(f"{title}, (d, n)", library, family, solve, few, is_turned=True)
        for title, library, family, solve in (
            (
                "numpy einsum",
                "numpy",
                "numpy",
                by(peers.numpy_rk4, einsum, turned, retract=unit),
            ),
            ("numpy einsum, blocks, out=", "numpy", "numpy", in_blocks),
            (
                "jax einsum",
                "jax",
                "jax",
                by(peers.jax_rk4, einsum, turned, retract=unit),
            ),
            (
                "jax lax.map over blocks",
                "jax",
                "jax",
                by(
                    peers.jax_blocks_rk4, field, turned, retract=unit, n_blocks=n_blocks
                ),
            ),
            *_in_either_layout(turned, field, unit),
        )
    ]


def w4_settled(scale: Scale, d: int) -> list[Row]:
    """The same vectors without stepping: closed form, and exact draw with noise."""
    n, steps = scale.of(65_536, 512), 200
    problem = problems.driven(n, d)
    (field,), start, dt = problem
    exact = problems.settled(problem, steps * dt)
    length = np.linalg.norm(field, axis=1)
    diffusion = float(np.median(length)) / KAPPA
    kappa = length / diffusion
    # Mean alignment of the von Mises-Fisher law, a ratio of Bessel functions.
    expected = ive(d / 2, kappa) / ive(d / 2 - 1, kappa)
    numbers = np.arange(n)
    network = osc.Network.driven(field)

    def z_score(state: np.ndarray) -> float:
        along = (np.asarray(state).reshape(n, d) * field).sum(1) / length - expected
        return float(abs(along.mean()) / (along.std() / math.sqrt(n)))

    def draw() -> np.ndarray:
        return sample_driven(field, start, math.inf, diffusion, Stream(7, 9), numbers)

    def stepped_noise() -> np.ndarray:
        path = osc.simulate(
            network,
            t1=steps * dt,
            dt=dt,
            method="euler-maruyama",
            diffusion=diffusion,
            start=start,
            seed=7,
        )
        return path.y[:, -1]

    law = {"error_kind": "|mean alignment - exact| in standard errors"}
    contenders = [
        Contender(
            "200 steps of RK4",
            "oscsim",
            engine.rk4(network, start, dt, steps),
            1,
            largest_difference(exact),
            family="stepped",
        ),
        Contender(
            "closed form",
            "oscsim",
            partial(settle, field, start, steps * dt),
            1,
            largest_difference(exact),
            family="closed",
        ),
        *(
            Contender(
                f"closed form, |h| times {factor:g}",
                "oscsim",
                partial(settle, factor * field, start, steps * dt),
                1,
                family="closed scaled",
                extra={"factor": factor},
            )
            for factor in (1e-6, 1e-3, 1e3)
        ),
        Contender(
            "exact draw with noise",
            "oscsim",
            draw,
            1,
            z_score,
            family="draw",
            extra=law,
        ),
        Contender(
            "200 noisy steps",
            "oscsim",
            stepped_noise,
            1,
            z_score,
            family="stepped noise",
            extra=law | {"note": "transient at t = 4, and a step's bias"},
        ),
    ]
    contenders += ceilings.reads("of the arrays", 3 * 8 * n * d, scale.of(20, 2))
    contenders.append(ceilings.draws(scale.of(50_000, 500)))
    return alternate(
        f"W4 settled d={d}", contenders, scale.repeats, size=n, dimension=d
    )
