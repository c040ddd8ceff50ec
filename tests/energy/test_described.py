import pytest

from oscsim.energy.baselines import Shape
from oscsim.energy.described import parse_shape, stated_clamps
from oscsim.errors import SpecError

LINE = "T=128,H=4,d_model=128,d_osc=8,layers=2,coupling=softplus"


def test_sizes_and_what_was_assumed():
    shape, assumed = parse_shape(LINE)
    assert shape == Shape(2, 4, 128, 512, 8, [128], True, "softplus", 256)
    assert assumed == (
        "d_ff = 512 (4 d_model)",
        "256 outputs at every position",
        "read-out exponent p = 1",
        "a causal mask",
    )


def test_everything_given_leaves_nothing_assumed():
    text = f"{LINE}, d_ff = 100, outputs=10, p=4, causal=False".replace(
        "d_osc=8", "d_osc=2"
    )
    shape, assumed = parse_shape(text)
    assert (shape.d_ff, shape.n_outputs, shape.power) == (100, 10, 4)
    assert (shape.causal, shape.d_osc) == (False, 2)
    assert assumed == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"takes NAME=VALUE,NAME=VALUE, got ''"),
        ("T", r"takes NAME=VALUE,NAME=VALUE, got 'T'"),
        ("T=", r"takes NAME=VALUE,NAME=VALUE, got 'T='"),
        (LINE.replace("layers=2,", ""), r"layers is missing in"),
        (f"family=kuramoto,{LINE}", r"family = kuramoto: .* so give a checkpoint"),
        (f"{LINE},n_osc=64", r"n_osc = 64: only fixed-query .* give a checkpoint"),
        (f"{LINE},width=3", r"unknown name 'width', one of T, H, "),
        (f"{LINE},T=3", r"T is given twice"),
        (LINE.replace("T=128", "T=0"), r"T must be a whole number from 1, got 0"),
        (LINE.replace("T=128", "T=-5"), r"T must be a whole number from 1, got -5"),
        (LINE.replace("T=128", "T=1.5"), r"T must be a whole number from 1, got 1.5"),
        (LINE.replace("H=4", "H=3"), r"n_heads = 3 does not divide d_model = 128"),
        (LINE.replace("d_osc=8", "d_osc=1"), r"d_osc must be at least 2, got 1"),
        (LINE.replace("softplus", "tanh"), r"coupling must be softplus.*got 'tanh'"),
        (f"{LINE},p=3", r"p must be 1, 2 or 4, got 3"),
        (LINE.replace("T=128", "T=1_6"), r"T must be a whole number from 1, got 1_6"),
        (LINE.replace("T=128", "T=١٦"), r"T must be a whole number from 1, got ١٦"),
        (LINE.replace("T=128", "T=²"), r"T must be a whole number from 1, got ²"),
        (LINE.replace("T=128", "T=300000000"), r"T must be at most 1,048,576, got 3"),
        (LINE.replace("T=128", "T=" + 20 * "9"), r"T must be at most 1,048,576, got 9"),
        (
            LINE.replace("d_model=128", "d_model=1" + 400 * "0"),
            r"d_model must be at most 1,048,576, got 401 digits",
        ),
        (
            LINE.replace("layers=2", "layers=1" + 200 * "0"),
            r"layers must be at most 1,024, got 201 digits",
        ),
        (f"{LINE},d_ff=99999999", r"d_ff must be at most 4,194,304, got 99999999"),
        (f"{LINE},causal=yes", r"causal must be true or false, got 'yes'"),
    ],
)
def test_lines_that_describe_no_model(text, message):
    with pytest.raises(SpecError, match=message):
        parse_shape(text)


def test_the_clamp_is_unknown_unless_stated():
    assert stated_clamps(LINE) is None
    assert stated_clamps(f"{LINE},clamps=no") is False
    assert stated_clamps(f"{LINE},p=1,clamps=yes") is True
    assert parse_shape(f"{LINE},clamps=no") == parse_shape(LINE)
    with pytest.raises(SpecError, match=r"clamps must be yes or no, got 'maybe'"):
        stated_clamps(f"{LINE},clamps=maybe")
    with pytest.raises(SpecError, match=r"with p = 1 factors, got p = 4"):
        stated_clamps(f"{LINE},p=4,clamps=no")


def test_the_largest_sizes_that_are_counted():
    shape, _ = parse_shape(
        "T=1048576,H=1,d_model=1048576,d_osc=2,layers=1024,coupling=relu"
    )
    assert shape.pairs == 1048576 * 1048577 // 2
