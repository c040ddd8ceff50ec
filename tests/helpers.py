"""Shared measures of agreement."""

import numpy as np

LIMIT = 4.0


def z_score(samples, exact):
    """Deviation of the mean of ``samples`` from ``exact`` in standard errors."""
    samples = np.asarray(samples)
    error = samples.std(ddof=1) / np.sqrt(samples.size)
    return abs(samples.mean() - exact) / error


def assert_mean(samples, exact, *wrong):
    """The mean is within 4 standard errors of ``exact``, and 8 off every ``wrong``."""
    z = z_score(samples, exact)
    assert z < LIMIT, f"{z:.1f} standard errors from {exact}"
    for value in wrong:
        z = z_score(samples, value)
        assert z > 2 * LIMIT, f"no power: only {z:.1f} standard errors from {value}"


def assert_variance(samples, exact, *wrong):
    """Same for the variance of samples whose mean is known to be 0."""
    assert_mean(np.asarray(samples) ** 2, exact, *wrong)


def estimate_order(steps, errors):
    """Slope of log error against log step."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def coarsen(increments, factor):
    """Add up ``factor`` successive increments of one path (axis 0 is time)."""
    return increments.reshape(-1, factor, *increments.shape[1:]).sum(axis=1)


def unit(x):
    x = np.asarray(x, dtype=float)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def random_units(seed, n, d):
    return unit(np.random.default_rng(seed).standard_normal((n, d)))


def antisymmetric(seed, n, d, scale=1.0):
    m = scale * np.random.default_rng(seed).standard_normal((n, d, d))
    return (m - m.swapaxes(1, 2)) / 2
