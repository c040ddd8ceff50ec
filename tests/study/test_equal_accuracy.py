"""Joules at equal bits, on families whose curve is known."""

import math
from types import MappingProxyType

import numpy as np
import pytest

from oscsim.energy.ledger import Ledger
from oscsim.energy.pricing import Entry
from oscsim.errors import DataError
from oscsim.report.equal_accuracy_figure import equal_accuracy_figure
from oscsim.study.equal_accuracy import (
    Bits,
    Point,
    equal_accuracy,
    price_models,
    read_bits,
)
from oscsim.substrate.device import Device


def ledger(joules, draws=None):
    drawn = np.array([joules, joules] if draws is None else draws, float)
    return Ledger(
        tokens=1,
        entries=(Entry("value", "mac", "x", joules),),
        draws=MappingProxyType({"system": drawn}),
    )


def point(way, p, d_osc, bits, joules, draws=None):
    one = ledger(joules, draws)
    return Point(way, Bits(p, d_osc, 64, bits), "", one, one)


SOFTMAX = point("softmax", None, None, 2.3, 10.0, [10.0, 20.0])


def test_between_neighbours_the_logarithm_is_linear():
    """A third of the way from 2.2 to 2.5 in bits: 40^(2/3) 5^(1/3) = 20."""
    family = [
        point("substrate", 4, 2, 2.5, 5.0, [5.0, 10.0]),
        point("substrate", 4, 8, 2.2, 40.0, [40.0, 40.0]),
        point("substrate", 4, 32, 2.1, 1e6),
    ]
    system, attention = equal_accuracy([SOFTMAX, *family])
    assert (system.part, attention.part) == ("system", "attention")
    assert (system.status, system.width, system.p) == ("reached", 64, 4)
    assert system.joules == pytest.approx(20.0)
    paired = [20.0 / 10, 40 ** (2 / 3) * 10 ** (1 / 3) / 20]
    assert system.ratio.p50 == pytest.approx(np.mean(paired))


@pytest.mark.parametrize(
    ("bits", "status"), [((2.6, 2.4), "not reached"), ((2.2, 2.1), "all better")]
)
def test_nothing_is_extrapolated(bits, status):
    family = [point("digital", 1, d, b, 1.0) for d, b in zip((2, 8), bits, strict=True)]
    for one in equal_accuracy([SOFTMAX, *family]):
        assert one.status == status
        assert math.isnan(one.joules)
        assert one.ratio is None


def test_a_family_of_one_is_compared_only_at_its_own_bits():
    (one, _) = equal_accuracy([SOFTMAX, point("digital", 1, 2, 2.3, 7.0)])
    assert (one.status, one.joules) == ("reached", 7.0)


def test_models_are_priced_as_softmax_on_a_device_and_digitally():
    models = [Bits(None, None, 32, 2.4), Bits(4, 8, 32, 2.4), Bits(4, 16, 32, 2.3)]
    found = price_models(models, Device.load("sphere-generic"), reuse=16.0, n_draws=4)
    assert [p.way for p in found] == ["softmax", *["substrate", "digital"] * 2]
    softmax, substrate, digital, larger, _ = found
    assert substrate.device == "sphere-generic"
    assert (softmax.device, digital.device) == ("", "")
    assert softmax.attention.nominal_j() < digital.attention.nominal_j()
    assert substrate.system.nominal_j() < larger.system.nominal_j()
    assert substrate.attention.nominal_j() < 0.2 * substrate.system.nominal_j()
    axes = equal_accuracy_figure(found).axes
    assert [ax.get_title() for ax in axes] == ["system total", "attention stage alone"]
    (line,) = [one for one in axes[0].lines if one.get_label() == "oscillators, p = 4"]
    expected = [p.system.nominal_j() * 1e9 for p in (substrate, larger)]
    assert list(line.get_xdata()) == pytest.approx(expected)


def test_tables_that_are_none(tmp_path):
    header = "quantity,p,d_osc,width,dimensions,value\n"
    for text, message in (
        ("nonsense\n1\n", r"is not a table of a scaling study: KeyError"),
        (f"{header}bits_per_byte,4,2,wide,,2.0\n", r"not a table .*'wide'"),
        (f"{header}bits_per_byte,4,2,64,,2.0\n", r"no bits_per_byte of a softmax"),
    ):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataError, match=message):
            read_bits(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"FileNotFoundError"):
        read_bits(tmp_path / "none.csv")
    (tmp_path / "t.csv").write_text(f"{header}bits_per_byte,,,64,,2.0\ngap,,,64,,0\n")
    assert read_bits(tmp_path / "t.csv") == (Bits(None, None, 64, 2.0),)
