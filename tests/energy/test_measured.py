"""What a table of measurements says of a model and of its twin."""

import pytest

from oscsim.energy.measured import (
    NOT_MEASURED,
    Accuracies,
    Measurement,
    accuracies_of,
    read_measurements,
    said,
)
from oscsim.errors import DataError


def row(sha256="a", mode="int8", **fields):
    values = {
        "checkpoint": "c",
        "sha256": sha256,
        "family": "softmax",
        "task": "bytes",
        "p": None,
        "d_osc": None,
        "width": 64,
        "heads": 4,
        "layers": 2,
        "mode": mode,
        "metric": "bits_per_byte",
        "items": 4096,
        "value": 2.31,
        "floating": 2.3,
        "difference": 0.01,
        "low95": 0.008,
        "high95": 0.012,
    }
    return Measurement(**(values | fields))


TWINS = (
    row("s0", difference=0.01),
    row("s1", difference=0.02, value=2.33),
    row("s0", "int4-table", difference=0.5, value=2.8),
    row("narrow", width=32, difference=1.0),
)
OSCILLATOR = row("o", family="oscillator", p=4, d_osc=8, value=2.32, difference=0.003)


def test_an_oscillator_model_has_the_trainings_of_its_twin_and_its_own():
    found = accuracies_of("o", (*TWINS, OSCILLATOR))
    assert found.of_twin("int8") == (
        "2.320 bits per byte, +0.015 on floating point "
        "(2 trainings, +0.010 to +0.020; 4,096 windows)"
    )
    assert found.of_itself("int8") == (
        "2.320 bits per byte, +0.003 on floating point "
        "(95 % interval +0.008 to +0.012; 4,096 windows)"
    )
    assert found.of_twin("int4-table").endswith(
        ": not at equal accuracy (loses more than 0.02)"
    )
    assert found.of_twin("int6") == found.of_itself("int4") == "accuracy not measured"


def test_a_softmax_model_is_its_own_twin_alone():
    found = accuracies_of("s1", (*TWINS, OSCILLATOR))
    assert found.of_twin("int8").startswith("2.330 bits per byte, +0.020")
    assert set(found.twin) == {"int8"}
    assert found.of_itself("int8") == "accuracy not measured"


def test_an_unknown_training_has_nothing():
    assert accuracies_of("x", TWINS) is NOT_MEASURED
    assert Accuracies(unknown="?").of_twin("int8") == "?"


@pytest.mark.parametrize(
    ("difference", "metric", "fails"),
    [
        (0.0199, "bits_per_byte", False),
        (0.0201, "bits_per_byte", True),
        (-0.5, "bits_per_byte", False),
        (-0.0099, "hard_accuracy", False),
        (-0.0101, "hard_accuracy", True),
        (-0.0101, "accuracy", True),
        (0.5, "accuracy", False),
    ],
)
def test_a_loss_beyond_the_threshold_is_said(difference, metric, fails):
    text = said([row(difference=difference, metric=metric)])
    assert ("not at equal accuracy (loses more than " in text) == fails


def test_accuracies_are_in_percent_of_what_was_counted():
    fields = {"metric": "hard_accuracy", "items": 1224, "value": 0.893}
    assert said([row(difference=-0.004, low95=-0.01, high95=0.002, **fields)]) == (
        "89.3 % of hard sentences, -0.4 on floating point "
        "(95 % interval -1.0 to +0.2; 1,224 sentences)"
    )
    same = said([row(difference=0.0, low95=0.0, high95=0.0, **fields)])
    assert "(none decided otherwise; 1,224 sentences)" in same


def test_the_bundled_table_holds_every_rival_that_is_priced():
    rows = read_measurements()
    assert {r.family for r in rows} == {"oscillator", "softmax", "transformer"}
    for r in rows:
        assert r.low95 <= r.difference <= r.high95
        assert r.value - r.floating == pytest.approx(r.difference, abs=2e-6)
        modes = {other.mode for other in rows if other.sha256 == r.sha256}
        tables = {"int8-table", "int4-table"} if r.family != "oscillator" else set()
        assert modes == {"int8", "int6", "int4"} | tables


def test_a_table_that_is_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("checkpoint,sha256\na,b\n")
    with pytest.raises(DataError, match=r"t.csv is not a table of .* KeyError"):
        read_measurements(path)
    with pytest.raises(DataError, match=r"FileNotFoundError"):
        read_measurements(tmp_path / "none.csv")
    names = Measurement._fields
    cells = [str(value or "") for value in row()._replace(width="wide")]
    path.write_text(",".join(names) + "\n" + ",".join(cells) + "\n")
    with pytest.raises(DataError, match=r"'wide'"):
        read_measurements(path)
