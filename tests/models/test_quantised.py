"""Few bits against true integers, closed forms and the exact pass."""

from functools import partial

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.models.arithmetic import EXACT, shares
from oscsim.models.fixed_query import Pass, forward, settle_digital
from oscsim.models.quantised import (
    EXP_TABLE,
    TABLE_STEP,
    Quantised,
    Scale,
    Watched,
    least_squares_scale,
    rounded_tables,
)
from tests.bridge.runs import random_model

IDS = np.array([[1, 4, 7, 0], [2, 0, 0, 0], [3, 5, 6, 8]])
RNG = np.random.default_rng(1)


def calibrated(bits=8, **options):
    """One layer of 24 inputs, a product and an average, with their ranges."""
    weights = {"one.weight": RNG.normal(size=(5, 24)), "one.bias": np.arange(5.0)}
    x, a, b = (RNG.normal(size=(2, 7, n)) for n in (24, 9, 6))
    affinity, value = RNG.random((2, 7, 7)) ** 4, RNG.normal(size=(2, 7, 3))
    watched = Watched([bits])
    watched.linear(weights, "one", x)
    watched.product("two", a, np.swapaxes(RNG.normal(size=(2, 6, 9)), 1, 2))
    watched.average("three", affinity, value)
    path = Quantised(weights, watched.scales[bits], bits, **options)
    return path, weights, x, a, b, affinity, value


def as_int32(x, scale):
    whole = scale.rounded(x)
    assert (whole == np.rint(whole)).all()
    assert whole.min() >= scale.low
    assert whole.max() <= scale.high
    return whole.astype(np.int32)


@pytest.mark.parametrize("bits", [4, 8])
def test_products_have_the_bits_of_int32(bits):
    path, weights, x, a, _, affinity, value = calibrated(bits)
    own = path.scales["one"]
    tensor, columns = path.tensors["one"]
    total = as_int32(x.reshape(-1, 24), own) @ tensor.astype(np.int32).T
    assert total.dtype == np.int32
    expected = total * (own.step * columns.step) + weights["one.bias"]
    found = path.linear(weights, "one", x)
    np.testing.assert_array_equal(found, expected.reshape(2, 7, 5))
    left, right = path.scales["two, left"], path.scales["two, right"]
    b = np.swapaxes(RNG.normal(size=(2, 6, 9)), 1, 2)
    total = np.matmul(as_int32(a, left), as_int32(b, right))
    np.testing.assert_array_equal(
        path.product("two", a, b), total * (left.step * right.step)
    )
    right = path.scales["three, right"]
    top = 2.0 ** np.ceil(np.log2(affinity.max(-1, keepdims=True)))
    rows = Scale(top / (2**bits - 1), 0, 2**bits - 1)
    whole = as_int32(affinity, rows)
    total = np.matmul(whole, as_int32(value, right))
    mean = total * right.step / whole.sum(-1, keepdims=True)
    np.testing.assert_array_equal(path.average("three", affinity, value), mean)


def test_a_shift_of_an_affinity_row_changes_no_average():
    path, *_, affinity, value = calibrated()
    moved = affinity * 2.0 ** RNG.integers(-9, 9, (2, 7, 1))
    np.testing.assert_array_equal(
        path.average("three", moved, value), path.average("three", affinity, value)
    )
    ones = np.ones((2, 7, 7))
    whole, scale = path._affinities(ones)
    assert (whole == 255).all(), "a power of two is its own full scale"
    assert (scale.step == 1 / 255).all()
    nothing = path.average("three", 0 * affinity, value)
    assert (nothing == 0).all()


@pytest.mark.parametrize("bits", [4, 6, 8])
def test_uniform_values_are_rounded_with_the_variance_of_a_step(bits):
    """Least squares: 2 L + 1 equal cells over (-1, 1), each with step^2 / 12."""
    x = np.random.default_rng(2).uniform(-1, 1, 100_000)
    scale = least_squares_scale(x, bits)
    error = scale.rounded(x) * scale.step - x
    assert scale.step == pytest.approx(1 / (2 ** (bits - 1) - 0.5), rel=0.02)
    assert np.mean(error**2) == pytest.approx(scale.step**2 / 12, rel=0.05)


def test_a_range_gives_outliers_up_for_the_rest():
    """Of 10,000 normal values one lies at 40: 4 bits are not spent on it."""
    x = np.append(np.random.default_rng(3).normal(size=10_000), 40.0)
    least = least_squares_scale(x, 4)
    widest = Scale(40.0 / least.high, least.low, least.high)
    assert least.step < 0.5 * widest.step

    def square(scale):
        return np.mean((scale.rounded(x) * scale.step - x) ** 2)

    assert square(least) < 0.8 * square(widest)


def test_what_is_never_negative_uses_all_steps():
    assert least_squares_scale(np.array([0.0, 1.0]), 8)[1:] == (0, 255)
    assert least_squares_scale(np.array([-0.1, 1.0]), 8)[1:] == (-127, 127)
    rows = least_squares_scale(np.array([[1.0, 2.0], [0.0, 0.0]]), 8, per_channel=True)
    assert rows[1:] == (-127, 127)
    assert rows.step[0] == pytest.approx(2 / 127, rel=0.05)
    assert np.isfinite(rows.step[1])


def test_the_table_is_the_exponential_in_256_entries_of_8_bits():
    assert len(EXP_TABLE) == 256
    assert (EXP_TABLE[0], EXP_TABLE[-2], EXP_TABLE[-1]) == (1.0, 1 / 255, 0.0)
    exact = np.exp(-TABLE_STEP * np.arange(256))
    assert np.abs(EXP_TABLE - exact).max() <= 0.5 / 255 + 1e-12
    assert (np.rint(255 * EXP_TABLE) == 255 * EXP_TABLE).all()
    path, *_ = calibrated(table=True)
    x = -np.linspace(0, 8, 10_001)
    found = path.exponential(x)
    # Half a step of the index and half a step of the output.
    bound = np.exp(x) * np.expm1(TABLE_STEP / 2) + 0.5 / 255
    assert (np.abs(found - np.exp(x)) <= bound + 1e-12).all()
    assert np.abs(found - np.exp(x)).max() > 0.8 * 0.5 / 255
    assert path.exponential(np.array([-np.inf, -6.3, 0.0])).tolist() == [0, 0, 1]
    plain, *_ = calibrated()
    np.testing.assert_array_equal(plain.exponential(x), np.exp(x))


def outputs(model, path, weights=None):
    weights = model.weights if weights is None else weights
    run = Pass(partial(settle_digital, arithmetic=path), arithmetic=path)
    return forward(weights, model.config, IDS, run=run)


@pytest.mark.parametrize("d_osc", [3, None])
def test_the_error_halves_with_every_bit(d_osc):
    """Rounding errors are proportional to the step: a factor of 16 in 4 bits."""
    kind = {} if d_osc else {"attention": "softmax"}
    model = random_model(d_osc, **kind)
    exact = outputs(model, EXACT)
    watched = Watched([6, 10, 14, 16])
    np.testing.assert_array_equal(outputs(model, watched), exact)
    errors = []
    for bits in (6, 10, 14):
        path = Quantised(model.weights, watched.scales[bits], bits)
        found = outputs(model, path, rounded_tables(model.weights, bits))
        errors.append(np.sqrt(np.mean((found - exact) ** 2)))
    ratios = np.divide(errors[:-1], errors[1:])
    assert (ratios > 8).all()
    assert (ratios < 32).all()


def test_every_operand_of_a_model_is_rounded():
    model = random_model(3)
    watched = Watched([8])
    outputs(model, watched)
    names = {name.split(".", 2)[-1] for name in watched.scales[8]}
    assert names == {
        *(f"attn.W_{part}" for part in "qkvo"),
        *("scores, left", "scores, right", "drive, right"),
        *("similarity, left", "similarity, right", "values, right"),
        *("ffn.0", "ffn.3", "head"),
    }
    path = Quantised(model.weights, watched.scales[8], 8)
    assert len(path.tensors) == 6 * model.config.n_layers + 1
    tables = rounded_tables(model.weights, 4)
    changed = {n for n in tables if (tables[n] != model.weights[n]).any()}
    assert changed == {"embedding.weight", "pos_enc.pe"}
    for row in tables["embedding.weight"]:
        assert len(np.unique(row)) <= 15


def test_shares_sum_to_one_or_are_nothing():
    found = shares(np.array([[1.0, 3.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.25, 0.75], [0.0, 0.0]]


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpecError, match=r"data path of 1 bits: give 2 to 16"):
        least_squares_scale(np.ones(3), 1)
    with pytest.raises(SpecError, match=r"data path of 17 bits"):
        least_squares_scale(np.ones(3), 17)
    wide = Scale(np.float64(1.0), -32767, 32767)
    path = Quantised({}, {"a, left": wide, "a, right": wide}, 16)
    with pytest.raises(SpecError, match=r"sums of 3 products reach 3,221,028,867"):
        path.product("a", np.ones((1, 3)), np.ones((3, 1)))
    assert path.product("a", np.ones((1, 1)), np.ones((1, 1))) == 1
    with pytest.raises(SpecError, match=r"readout = 'prefix' with another arithmetic"):
        Pass(readout="prefix", arithmetic=path)
