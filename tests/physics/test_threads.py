"""Rows shared out over threads: all of them, once, whoever calls."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oscsim.physics import threads
from oscsim.physics.driven import settle
from oscsim.physics.threads import over_rows, usable_threads
from oscsim.solve.driven_noise import sample_driven
from oscsim.solve.noise import Stream, von_mises_fisher
from tests.helpers import random_units

MUCH, LITTLE = 1.0, 1e-6


@pytest.fixture
def three_threads(monkeypatch):
    monkeypatch.setattr(threads, "usable_threads", lambda: 3)
    monkeypatch.setattr(threads, "_WORTH_THREADS_S", 0.0)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 50_000])
@pytest.mark.parametrize("estimate", [MUCH, LITTLE])
def test_every_row_once(n, estimate):
    seen = np.zeros(n, int)

    def work(first, last):
        seen[first:last] += 1
        return -1

    assert over_rows(work, n, estimate) == -1
    assert (seen == 1).all()


@pytest.mark.parametrize("estimate", [MUCH, LITTLE])
def test_the_first_failure_counts(estimate):
    wrong = np.array([40_000, 9_000, 30_001])

    def work(first, last):
        inside = wrong[(wrong >= first) & (wrong < last)]
        return int(inside.min()) - first if inside.size else -1

    assert over_rows(work, 50_000, estimate) == 9_000


def callers(estimate):
    """Return the threads that work is done on, starting from this one."""
    found = set()

    def work(first, last):
        found.add(threading.get_ident())
        return -1

    over_rows(work, 50_000, estimate)
    return found


def test_little_work_stays_where_it_is(three_threads, monkeypatch):
    assert threading.get_ident() not in callers(MUCH)
    monkeypatch.setattr(threads, "_WORTH_THREADS_S", 1e-3)
    assert callers(LITTLE) == {threading.get_ident()}


def test_another_thread_works_alone():
    def look():
        return usable_threads(), callers(MUCH), threading.get_ident()

    with ThreadPoolExecutor(1) as pool:
        n_threads, found, own = pool.submit(look).result()
    assert n_threads == 1
    assert found == {own}


def test_an_error_in_a_thread_is_raised(three_threads):
    def work(first, last):
        raise MemoryError

    with pytest.raises(MemoryError):
        over_rows(work, 50_000, MUCH)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_threads_and_pieces_change_no_bit(d, monkeypatch):
    """One thread, three threads, and rows one by one."""
    n, noise = 2_011, 0.3
    rng = np.random.default_rng(d)
    h, z0, index = rng.normal(size=(n, d)), random_units(1, n, d), np.arange(n)
    t, kappa, stream = rng.exponential(size=n), rng.exponential(9, n), Stream(3, 4)

    def results(rows):
        drawn = sample_driven(h[rows], z0[rows], np.inf, noise, stream, index[rows])
        turned = von_mises_fisher(stream, index[rows], z0[rows], kappa[rows])
        return np.stack([settle(h[rows], z0[rows], t[rows]), drawn, turned])

    alone = results(slice(None))
    for i in (0, 70, n - 1):
        np.testing.assert_array_equal(results(slice(i, i + 1)), alone[:, i : i + 1])
    monkeypatch.setattr(threads, "usable_threads", lambda: 3)
    monkeypatch.setattr(threads, "_WORTH_THREADS_S", 0.0)
    np.testing.assert_array_equal(results(slice(None)), alone)
    np.testing.assert_array_equal(results(slice(5, None)), alone[:, 5:])
