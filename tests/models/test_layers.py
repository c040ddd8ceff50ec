"""Digital layers against slow formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.models.layers import couple, gelu, layer_norm, linear, softmax

RNG = np.random.default_rng(0)
SCORES = st.lists(st.floats(-50, 50), min_size=1, max_size=8).map(np.array)


def test_linear_is_a_sum_over_inputs():
    x, w, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(5, 4)), RNG.normal(size=5)
    for i, j, k in np.ndindex(2, 3, 5):
        expected = sum(x[i, j, n] * w[k, n] for n in range(4))
        assert linear(x, w)[i, j, k] == pytest.approx(expected)
        assert linear(x, w, b)[i, j, k] == pytest.approx(expected + b[k])


def test_layer_norm_uses_the_biased_variance_and_its_floor():
    x, gain, bias = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=4)
    for row, found in zip(x, layer_norm(x, gain, bias), strict=True):
        mean = sum(row) / 4
        variance = sum((value - mean) ** 2 for value in row) / 4
        expected = (row - mean) / math.sqrt(variance + 1e-5) * gain + bias
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(layer_norm(np.ones((1, 4)), gain, bias), [bias])


def test_gelu_is_the_exact_one():
    x = np.linspace(-6, 6, 49)
    expected = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x]
    np.testing.assert_allclose(gelu(x), expected, rtol=1e-12, atol=1e-15)
    tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert np.abs(gelu(x) - tanh).max() > 1e-4


@given(SCORES, st.floats(-100, 100))
def test_softmax_sums_to_one_and_forgets_a_shift(scores, shift):
    found = softmax(scores)
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(softmax(scores + shift), found, atol=1e-9)


def test_softmax_of_masked_scores():
    found = softmax(np.array([[0.0, -np.inf, 0.0], [-np.inf] * 3, [1e4, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.5, 0, 0.5], [0, 0, 0], [1, 0, 0]])


@given(SCORES)
def test_couplings_by_their_formulas(scores):
    for score, soft, rectified, unit in zip(
        scores,
        couple(scores, "softplus"),
        couple(scores, "relu"),
        couple(scores, "elu"),
        strict=True,
    ):
        expected = score if score > 20 else math.log1p(math.exp(score))
        assert soft == pytest.approx(expected, rel=1e-12)
        assert rectified == pytest.approx(max(score, 0.0) + 1e-3)
        assert unit == pytest.approx((score if score > 0 else math.expm1(score)) + 1)
        assert min(soft, rectified, unit) >= 0


def test_no_score_overflows():
    scores = np.array([-1e9, 1e9])
    for function in ("softplus", "relu", "elu"):
        found = couple(scores, function)
        assert np.isfinite(found).all()
        assert found[1] == pytest.approx(1e9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layers_keep_the_precision_they_are_given(dtype):
    x = RNG.normal(size=(2, 4)).astype(dtype)
    one = np.ones(4, dtype)
    for found in (
        linear(x, np.ones((3, 4), dtype), np.ones(3, dtype)),
        layer_norm(x, one, one),
        gelu(x),
        softmax(x),
        *(couple(x, name) for name in ("softplus", "relu", "elu")),
    ):
        assert found.dtype == dtype
