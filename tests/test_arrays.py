"""Numbers of a caller: what passes is unchanged, what cannot be is one sentence."""

import datetime as dt

import numpy as np
import pytest
from scipy import sparse

from oscsim import memory
from oscsim.arrays import (
    real_array,
    real_number,
    real_sparse,
    real_view,
    seed_number,
    shown,
    whole_number,
)
from oscsim.errors import SpecError

TWO = np.array([[0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "value",
    [
        TWO,
        TWO.tolist(),
        TWO.astype(np.float32),
        TWO.astype(np.int8),
        TWO.astype(object),
        np.ma.array(TWO, mask=False),
        [np.array([0.0, 1.0]), (2, 0)],
    ],
)
def test_every_form_of_real_numbers_passes(value):
    found = real_array("x", value)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, TWO)
    assert not np.shares_memory(found, np.asarray(value))


def test_a_view_is_no_copy_and_lets_failed_states_pass():
    y = np.array([1.0, np.nan, np.inf])
    assert real_view("x", y) is y
    np.testing.assert_array_equal(real_view("x", [1, 2]), [1.0, 2.0])


def test_integers_beyond_64_bits_are_numbers():
    assert real_number("x", 10**20) == 1e20
    np.testing.assert_array_equal(real_array("x", [10**20, 1.5]), [1e20, 1.5])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (TWO * 1j, "x must hold real numbers, got type complex128"),
        (1j, "x must hold real numbers, got 1j"),
        ("1", "x must hold real numbers, got '1'"),
        ([["1", "2"]], "x must hold real numbers, got type <U1"),
        ([None, 1.0], "x must hold real numbers, got type object"),
        (None, "x must hold real numbers, got None"),
        (np.array(["2020-01-01"], "datetime64[D]"), "got type datetime64"),
        (dt.date(2020, 1, 1), r"got datetime.date\(2020, 1, 1\)"),
        ([[1, 2], [3]], "the rows of x must be equally long, got a ragged list"),
        ([1, [2]], "the rows of x must be equally long"),
        (np.ma.array(TWO, mask=[[0, 1], [0, 0]]), "x has masked entries"),
        ([[1.0, np.ma.masked]], "x has masked entries"),
        ([np.ma.array([1.0], mask=True), [1.0]], "x has masked entries"),
        (sparse.csr_array(TWO), "x must be an array, got a sparse matrix"),
        ([[0.0, 1.0], [np.nan, 0.0]], r"x must be finite, got nan at index \(1, 0\)"),
        ([0.0, -np.inf], "x must be finite, got -inf at index 1$"),
        (np.longdouble("1e400"), "x must be finite, got inf$"),
        (10**400, "x must fit into float64"),
        ([1.0, -(10**400)], "x must fit into float64"),
        (np.broadcast_to(1.0, (10**7, 10**7)), r"x of shape .* GB are free"),
    ],
)
def test_what_is_no_array_of_real_numbers_is_refused(value, message):
    with pytest.raises(SpecError, match=message) as caught:
        real_array("x", value)
    assert "\n" not in str(caught.value)


def test_what_cannot_become_an_array_is_refused():
    class Closed:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("it requires grad")

    with pytest.raises(SpecError, match=r"x must hold real numbers: .*requires grad"):
        real_array("x", Closed())


def test_one_number_is_one_number():
    assert real_number("x", np.float32(0.5)) == 0.5
    with pytest.raises(SpecError, match=r"x must be one number, got shape \(1,\)"):
        real_number("x", [1.0])


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, sparse.dok_array]
)
def test_sparse_matrices_keep_their_numbers(form):
    given = form(TWO)
    found = real_sparse("x", given)
    np.testing.assert_array_equal(found.toarray(), TWO)
    found.data[:] = 9
    np.testing.assert_array_equal(given.toarray(), TWO)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (sparse.csr_array(TWO * 1j), "x must hold real numbers, got type complex128"),
        (sparse.csr_array(TWO * np.nan), r"x must be finite, got nan at index \(0, 0"),
        (
            sparse.coo_array(([1.0, np.inf], ([0, 4], [1, 3])), shape=(5, 5)),
            r"x must be finite, got inf at index \(4, 3\)",
        ),
        (
            sparse.coo_array(([1.7e308, 1.7e308], ([2, 2], [1, 1])), shape=(5, 5)),
            r"x must be finite, got inf at index \(2, 1\)",
        ),
        (sparse.coo_array((10**14, 10**14)), r"x of shape .* GB are free"),
    ],
)
def test_sparse_faults_are_named_by_row_and_column(value, message):
    with pytest.raises(SpecError, match=message):
        real_sparse("x", value)


def test_whole_numbers_and_seeds():
    assert whole_number("n", np.uint8(3), 1) == 3
    assert type(seed_number(np.int64(5))) is int
    for wrong in (True, 2.0, "2", None, 0, 10**5000):
        with pytest.raises(SpecError, match=r"n must be a whole number in 1\.\.9, got"):
            whole_number("n", wrong, 1, 9)
    for wrong in (True, 2.0, "2", None, -1, 2**32, 10**5000):
        with pytest.raises(SpecError, match=r"seed must be .* \[0, 2\^32\), got"):
            seed_number(wrong)


def test_values_in_messages_are_short_and_on_one_line():
    assert shown(np.float64(0.1)) == "0.1"
    assert shown(10**5000) == "a whole number of 16610 bits"
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 500)) == 60
    assert "\n" not in shown(np.zeros((30, 30)))


def test_the_copy_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1e6)
    with pytest.raises(SpecError, match=r"x of shape .* needs 0\.018 GB of memory and"):
        real_array("x", np.zeros(2_000_000, np.int8))
