"""Joules at equal bits, on families whose curve is known."""

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from oscsim.energy.ledger import Ledger
from oscsim.energy.measured import Measurement
from oscsim.energy.pricing import Entry
from oscsim.errors import DataError
from oscsim.report.equal_accuracy_figure import equal_accuracy_figure
from oscsim.study.equal_accuracy import (
    Bits,
    Point,
    equal_accuracy,
    on_data_paths,
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


def measured(mode, difference, p=None, d_osc=None, width=64):
    return Measurement(
        checkpoint="",
        sha256="",
        family="softmax" if p is None else "oscillator",
        task="bytes",
        p=p,
        d_osc=d_osc,
        width=width,
        heads=4,
        layers=2,
        mode=mode,
        metric="bits_per_byte",
        items=1,
        value=0.0,
        floating=0.0,
        difference=difference,
        low95=0.0,
        high95=0.0,
    )


SOFTMAX_LOSSES = [
    measured("int8", 0.01),
    measured("int8", 0.03),
    measured("int8-table", 0.05),
    measured("int4-table", 0.7),
    measured("int6", 9.0),
]


def test_a_data_path_adds_the_loss_that_was_measured():
    models = [Bits(None, None, 64, 2.3), Bits(4, 8, 64, 2.4)]
    losses = [
        *SOFTMAX_LOSSES,
        measured("int8", 0.004, 4, 8),
        measured("int4", 9.0, 4, 8),
    ]
    found = on_data_paths(models, losses)
    assert [(one.d_osc, one.mode) for one in found] == [
        (None, "int8"),
        (None, "int8-table"),
        (None, "int4-table"),
        (8, "int8"),
    ]
    assert [one.bits for one in found] == pytest.approx([2.32, 2.35, 3.0, 2.404])
    with pytest.raises(DataError, match=r"\(4, 8, 64\) was measured at int8"):
        on_data_paths(models, SOFTMAX_LOSSES)
    with pytest.raises(DataError, match=r"\(None, None, 32\) was measured at int8"):
        on_data_paths([Bits(None, None, 32, 2.5)], losses)


def test_few_bits_are_priced_as_the_rivals_are():
    modes = ("", "int8", "int8-table", "int4-table")
    models = [Bits(None, None, 32, 2.4, mode) for mode in modes]
    found = price_models(models, Device.load("sphere-generic"), n_draws=4)
    full, eight, table, four = (one.system.nominal_j() for one in found)
    assert full == eight, "softmax is priced at 8 bits"
    assert four < table < full
    figure = equal_accuracy_figure(found)
    labels = [
        one.get_label() for one in figure.axes[0].lines if "softmax" in one.get_label()
    ]
    assert labels == [
        "softmax, width 32",
        "softmax, 8 bits",
        "softmax, 8 bits, table exponential",
        "softmax, 4 bits, table: beyond the axis",
    ]


def test_few_bits_are_compared_with_eight_bits():
    """The family in floating point has the bits of floating softmax alone."""

    def moded(one, mode):
        return replace(one, model=one.model._replace(mode=mode))

    table = moded(point("softmax", None, None, 2.4, 8.0), "int4-table")
    floating = point("substrate", 4, 2, 2.3, 5.0)
    eight = moded(point("substrate", 4, 2, 2.4, 5.0), "int8")
    found = equal_accuracy([SOFTMAX, table, floating, eight])
    assert [(one.mode, one.status, one.joules) for one in found[::2]] == [
        ("", "reached", 5.0),
        ("int4-table", "reached", 5.0),
    ]
    assert [one.mode for one in equal_accuracy([SOFTMAX, table, floating])] == ["", ""]


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
