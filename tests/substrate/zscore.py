"""Statistical checks that can fail: a z-score, and its negative control."""

import math

import numpy as np


def z_score(samples, exact):
    """Return how many standard errors the mean of samples is from ``exact``."""
    samples = np.asarray(samples, dtype=float).ravel()
    return (samples.mean() - exact) / (samples.std(ddof=1) / math.sqrt(samples.size))


def assert_mean(samples, exact):
    """Check a mean that is not 0, and that a mean off by a factor 2 is refused."""
    assert abs(z_score(samples, exact)) < 4
    for wrong in (2 * exact, exact / 2):
        assert abs(z_score(samples, wrong)) > 4


def assert_unrelated(a, b, share=0.2):
    """Check that two draws of mean 0 do not depend on each other.

    The control is ``b`` with a share of ``a`` in it.
    """
    a, b = (np.asarray(x, dtype=float).ravel() / np.std(x) for x in (a, b))
    assert abs(z_score(a * b, 0.0)) < 4
    assert abs(z_score(a * (b + share * a), 0.0)) > 4


def assert_normal(samples, sigma):
    """Check mean 0, deviation ``sigma`` and the fourth moment of a normal law.

    A mean of a quarter of the deviation would be refused.
    """
    samples = np.asarray(samples, dtype=float).ravel()
    assert abs(z_score(samples, 0.0)) < 4
    assert abs(z_score(samples, sigma / 4)) > 4
    assert_mean(samples**2, sigma**2)
    assert_mean(samples**4, 3 * sigma**4)
