import numpy as np
import pytest

from oscsim.errors import NetlistError
from oscsim.spice.values import require_names, spice_number, spice_value


@pytest.mark.parametrize(
    ("given", "written", "amount"),
    [
        ("1 F", "1", 1.0),
        ("2 A", "2", 2.0),
        ("10 Mohm", "10Meg", 1e7),
        ("10 mohm", "10m", 1e-2),
        ("10MΩ", "10Meg", 1e7),
        ("4.7 uH", "4.7u", 4.7e-6),
        ("4.7 µH", "4.7u", 4.7e-6),
        ("3 fF", "3f", 3e-15),
        ("1 MHz", "1Meg", 1e6),
        (" -2.5e3 V", "-2.5e3", -2500.0),
        ("10k", "10k", 1e4),
        ("1Meg", "1Meg", 1e6),
        ("5 S", "5", 5.0),
        (1, "1", 1.0),
        (np.float64(0.125), "0.125", 0.125),
        (1e-14, "1e-14", 1e-14),
        (1e22, "1e+22", 1e22),
    ],
)
def test_a_quantity_keeps_its_amount(given, written, amount):
    """SPICE reads F as femto, A as atto and M as milli."""
    assert spice_value(given) == written
    assert spice_number(spice_value(given)) == amount


@pytest.mark.parametrize(
    "given",
    ["10M", "1f", "1 a", "", "ohm", "1 parsec", "1\n.control", "{1+1}", "1 F 2", "١"],
)
def test_what_is_no_quantity_is_refused(given):
    with pytest.raises(NetlistError, match="is no quantity"):
        spice_value(given)


@pytest.mark.parametrize("given", [np.inf, -np.inf, np.nan])
def test_values_are_finite(given):
    with pytest.raises(NetlistError, match="finite values only"):
        spice_value(given)


def test_an_expression_is_no_plain_number():
    with pytest.raises(NetlistError, match="not a plain number"):
        spice_number("{2*pi}")


def test_plain_names_are_taken():
    require_names(("a", "B2", "a_b", "0"))


@pytest.mark.parametrize(
    "name", ["", "a b", "a\n.control", "a=1", "{a}", "v(a)", "a;b", "*a", "é", "a."]
)
def test_a_name_with_another_character_is_refused(name):
    with pytest.raises(NetlistError, match="cannot stand in a netlist"):
        require_names(("fine", name))


@pytest.mark.parametrize("names", [("a", "A"), ("x1", "y", "X1"), ("a", "a")])
def test_names_that_are_one_to_spice_are_refused(names):
    with pytest.raises(NetlistError, match="ignores case"):
        require_names(names)
