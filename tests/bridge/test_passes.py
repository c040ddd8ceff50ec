"""Fixed blocks of 64, filled up; threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.bridge.passes import (
    BLOCK,
    blocks,
    in_float64,
    run_blocks,
    thread_count,
)
from oscsim.errors import SpecError
from oscsim.models.fixed_query import Pass, forward
from tests.bridge.runs import bundled, random_model


@given(st.integers(1, 300))
def test_blocks_cover_every_item_once(n):
    ids = np.arange(3 * n).reshape(n, 3) + 1
    positions = np.arange(n) % 3
    parts = list(blocks(ids, positions, 0))
    assert len(parts) == -(-n // BLOCK)
    for part in parts:
        assert part.ids.shape == (BLOCK, 3)
        real = part.items >= 0
        assert real.sum() == part.n_real
        assert real[: part.n_real].all()
        np.testing.assert_array_equal(part.ids[real], ids[part.rows])
        np.testing.assert_array_equal(part.positions[real], positions[part.rows])
        assert (part.ids[~real] == 0).all()
        assert (part.positions[~real] == 0).all()
    numbers = np.concatenate([part.items[part.items >= 0] for part in parts])
    np.testing.assert_array_equal(numbers, np.arange(n))


def test_without_positions_a_block_has_none():
    assert next(blocks(np.ones((3, 2), int), None, 7)).positions is None
    assert (next(blocks(np.ones((3, 2), int), None, 7)).ids[3:] == 7).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_outputs_come_in_the_order_of_the_data(threads):
    model = random_model(3)
    ids = np.random.default_rng(1).integers(1, 11, (200, 6))
    with ThreadPoolExecutor(threads) as pool:
        found = run_blocks(
            model.weights, model.config, list(blocks(ids, None, 0)), Pass, pool
        )
    np.testing.assert_allclose(
        found.logits, forward(model.weights, model.config, ids), atol=1e-12
    )
    assert found.counts.tokens == 1200


def test_an_error_in_a_block_is_passed_on():
    def broken(_drive, _counts):
        raise ZeroDivisionError

    model = random_model(3)
    parts = list(blocks(np.ones((100, 6), int), None, 0))
    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
        run_blocks(model.weights, model.config, parts, lambda: Pass(broken), pool)


def test_threads_are_at_least_one():
    assert thread_count(3) == 3
    assert thread_count(None) >= 1
    for n in (0, -1):
        with pytest.raises(SpecError, match=f"threads must be at least 1, got {n}"):
            thread_count(n)
    with pytest.raises(SpecError, match="threads must be at most 1024, got 1025"):
        thread_count(1025)


def test_weights_are_run_in_float64():
    found = in_float64(bundled().weights)
    assert {w.dtype for w in found.values()} == {np.dtype(np.float64)}
    assert {w.dtype for w in bundled().weights.values()} == {np.dtype(np.float32)}
