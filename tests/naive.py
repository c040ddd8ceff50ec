"""Slow, obvious twins of the kernels, written by other means."""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm


def philox4x32(counter, key):
    """Ten rounds on Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (b >> 32) ^ c[1] ^ k[0],
            b % 2**32,
            (a >> 32) ^ c[3] ^ k[1],
            a % 2**32,
        ]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return tuple(c)


def uniform_pair(stream, step, index):
    """The two numbers of one block."""
    w = philox4x32((stream.chip, stream.repeat, step, index), stream[:2])
    return tuple(
        (2 * (((high << 32) | low) >> 12) + 1) / 2**53 for high, low in (w[:2], w[2:])
    )


def normals(stream, item, n, step=0):
    """The normal numbers of one item."""
    blocks = -(-n // 2)
    out = []
    for block in range(blocks):
        u, v = uniform_pair(stream, step, item * blocks + block)
        z = math.sqrt(-2 * math.log(u)) * np.exp(2j * math.pi * v)
        out += [z.real, z.imag]
    return out[:n]


def settled(h, z0, t):
    """Return the driven state after a time by turning in the plane of h and z0."""
    length = np.linalg.norm(h)
    along = h / length
    across = z0 - (z0 @ along) * along
    phi = np.arctan2(np.linalg.norm(across), z0 @ along)
    phi = 2 * np.arctan(np.tan(phi / 2) * np.exp(-length * t))
    return np.cos(phi) * along + np.sin(phi) * across / np.linalg.norm(across)


def driven_ode(h, omega, z0, t):
    """One driven oscillator by an adaptive solver."""
    solution = solve_ivp(
        lambda _, z: omega @ z + h - (z @ h) * z,
        (0, t),
        z0,
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    return solution.y[:, -1]


def driven_expm(h, omega, z0, t):
    """One driven oscillator by the exponential of its generator."""
    d = len(h)
    g = np.zeros((d + 1, d + 1))
    g[:d, :d], g[:d, d], g[d, :d] = omega, h, h
    u = expm(g * t) @ np.append(z0, 1.0)
    return u[:d] / u[d]


def kuramoto_drift(theta, omega, field):
    """omega + Im(h exp(-i theta)) with the field as a complex number."""
    h = field[:, 0] + 1j * field[:, 1]
    return omega + (h * np.exp(-1j * theta)).imag


def lohe_drift(z, omega, field):
    """Omega z + (I - z z^T) h with the projector written out."""
    return np.stack(
        [
            m @ x + (np.eye(len(x)) - np.outer(x, x)) @ h
            for m, x, h in zip(omega, z, field, strict=True)
        ]
    )


def order_parameter(theta):
    return abs(np.exp(1j * np.asarray(theta)).mean())


def noisy_path(h, omega, z0, t, diffusion, stream, item, step=0.05):
    """One noisy driven oscillator: half a drift, a kick, a drift, ..., half a drift.

    ``omega`` is a matrix; the whole time is stepped.
    """
    d = len(h)
    speed = np.linalg.norm(h) + np.sqrt((omega**2).sum() / 2) + (d - 1) * diffusion
    n_steps = math.ceil(t * speed / step)
    dt, z = t / n_steps, driven_expm(h, omega, z0, t / n_steps / 2)
    for k in range(n_steps):
        if d == 2:
            angle = math.sqrt(2 * diffusion * dt) * normals(stream, item, 1, k)[0]
            z = expm(angle * np.array([[0.0, -1.0], [1.0, 0.0]])) @ z
        else:
            g = np.array(normals(stream, item, d, k))
            g = math.sqrt(2 * diffusion * dt * (1 + diffusion * dt)) * (g - (g @ z) * z)
            size = np.linalg.norm(g)
            turn = 2 * math.atan(size / 2)
            z = math.cos(turn) * z + math.sin(turn) * g / size
        z = driven_expm(h, omega, z, dt if k + 1 < n_steps else dt / 2)
    return z


def coupled_phases(theta, omega, weights, lag=0.0, field=None, shil=0.0, shil_phase=0):
    """The right-hand side with every pair's sine written out."""
    n = len(theta)
    lag = np.broadcast_to(lag, (n, n))
    out = []
    for i in range(n):
        rate = omega[i]
        for j in range(n):
            rate += weights[i][j] * math.sin(theta[j] - theta[i] - lag[i][j])
        if field is not None:
            size = math.hypot(*field[i])
            rate += size * math.sin(math.atan2(field[i][1], field[i][0]) - theta[i])
        rate -= np.broadcast_to(shil, n)[i] * math.sin(
            2 * theta[i] - np.broadcast_to(shil_phase, n)[i]
        )
        out.append(rate)
    return np.array(out)


def coupled_by_harmonics(theta, omega, weights, harmonics):
    """Im sum_k (a_k + i b_k) exp(i k (theta_j - theta_i)) as a matrix of pairs."""
    apart = np.subtract.outer(theta, theta).T
    pull = sum(
        ((a + 1j * b) * np.exp(1j * (k + 1) * apart)).imag
        for k, (a, b) in enumerate(harmonics)
    )
    return omega + (np.asarray(weights) * pull).sum(axis=1)


def coupled_vectors(z, omega, weights, field=None):
    """Omega z + (I - z z^T)(sum_j K_ij z_j + h) with projectors and loops."""
    n, d = z.shape
    out = []
    for i in range(n):
        push = sum(weights[i][j] * z[j] for j in range(n))
        push = push + (0.0 if field is None else field[i])
        turn = omega[i] @ z[i] if len(omega) else 0.0
        out.append(turn + (np.eye(d) - np.outer(z[i], z[i])) @ push)
    return np.array(out)


def phase_energy(theta, weights):
    """-(1/2) sum_ij K_ij cos(theta_i - theta_j)."""
    e = np.exp(1j * np.asarray(theta))
    return -0.5 * (e.conj() @ weights @ e).real


def component_noise(stream, n, step, d=1):
    """The normal numbers of one step: phases 64 apart share a block."""
    if d > 1:
        return np.array([normals(stream, i, d, step) for i in range(n)])
    out = []
    for i in range(n):
        block = 64 * (i // 128) + i % 64
        out.append([normals(stream, block, 2, step)[i % 128 // 64]])
    return np.array(out)


def coupled_field(weights, copies, gain, offset, *, in_turn, has_self):
    """Field of latched phases through unequal couplers, pair by pair."""
    batch, heads, time, _ = weights.shape
    k = copies.shape[-1]
    field = np.zeros((batch, time, k), complex)
    row = {
        pair: n
        for n, pair in enumerate((t, u) for t in range(time) for u in range(t + 1))
    }
    for b, t, j in np.ndindex(batch, time, k):
        for u in range(t + 1):
            if u == t and not has_self:
                continue
            slot = u if in_turn else row[t, u]
            c = gain[slot, j] * weights[b, j * heads // k, t, u] + offset[slot, j]
            field[b, t, j] += c * copies[b, u, j]
    return field


def phase_flow(theta, field, time, detuning=0.0):
    """Angle turned by d theta = (Im(e^{-i theta} G) + w) dt, by an ODE solver."""
    shape = np.broadcast_shapes(np.shape(theta), np.shape(field), np.shape(time))
    theta, field, time, detuning = (
        np.broadcast_to(x, shape).ravel() for x in (theta, field, time, detuning)
    )

    def slope(_, y):
        return time * (np.imag(np.exp(-1j * y) * field) + detuning)

    end = solve_ivp(slope, (0, 1), theta, rtol=1e-12, atol=1e-12).y[:, -1]
    return (end - theta).reshape(shape)
