"""What a sweep may be asked: axes, designs, and everything that is refused."""

from pathlib import Path

import numpy as np
import pytest

from oscsim.cli import main
from oscsim.design.axes import Axis, digital_places, grid, latin_hypercube
from oscsim.design.cells import points_of
from oscsim.design.run import prepare
from oscsim.design.spec import parse_spec, read_spec
from oscsim.errors import DeviceError, SpecError
from tests.design.specs import content, small, spec, spec_file


def test_a_grid_has_every_combination_once():
    points = points_of(spec())
    assert len(points) == 4
    assert {(p["weight_bits"], p["coupling_mismatch"]) for p in points} == {
        (3, 0.0),
        (3, 0.05),
        (6, 0.0),
        (6, 0.05),
    }


@pytest.mark.parametrize(
    ("scale", "position"), [("linear", lambda x: x), ("log", np.log)]
)
def test_a_latin_hypercube_has_one_point_in_every_part_of_every_axis(scale, position):
    low, high, n = 0.01, 10.0, 40
    axes = [
        Axis("diffusion", (), low, high, scale),
        Axis("readout_noise", (), low, high, scale),
    ]
    points = latin_hypercube(axes, n, seed=3)
    for axis in axes:
        at = position(np.array([p[axis.name] for p in points]))
        parts = n * (at - position(low)) / (position(high) - position(low))
        assert sorted(parts.astype(int)) == list(range(n))


def test_a_latin_hypercube_rounds_bits_and_repeats_with_its_seed():
    axes = [Axis("weight_bits", (), 2.0, 8.0), Axis("start", ("random", "previous"))]
    points = latin_hypercube(axes, 50, seed=1)
    assert {type(p["weight_bits"]) for p in points} == {int}
    assert {p["weight_bits"] for p in points} == set(range(2, 9))
    assert {p["start"] for p in points} == {"random", "previous"}
    assert points == latin_hypercube(axes, 50, seed=1)
    assert points != latin_hypercube(axes, 50, seed=2)


def test_a_latin_hypercube_of_whole_numbers_has_every_point_once(tmp_path):
    axes = {"weight_bits": {"low": 3, "high": 5}, "adc_bits": {"low": 4, "high": 6}}
    ready = small(tmp_path, axes=axes, design="latin-hypercube", samples=200)
    points = [tuple(cell.point.values()) for cell in ready.cells]
    assert sorted(points) == [(w, a) for w in (3, 4, 5) for a in (4, 5, 6)]


def test_a_point_given_twice_is_told(tmp_path):
    twice = [{"weight_bits": 5}] * 2
    with pytest.raises(SpecError, match="a point is given twice"):
        small(tmp_path, axes=None, design="list", points=twice)


@pytest.mark.parametrize(
    "name", ["a\0b", "../../x", "a/b", "a\\b", ".hidden", "x.", " x", "a\nb", "c:d"]
)
def test_a_name_that_could_leave_the_folder_is_refused(name):
    with pytest.raises(SpecError, match="cannot name a file"):
        spec(name=name)


@pytest.mark.parametrize("name", ["noise-2", "Rauschen über D, v1.2", "a b"])
def test_other_names_are_kept(name):
    assert spec(name=name).name == name


@pytest.mark.parametrize("chips", ["2", True, 2.0, 2.5])
@pytest.mark.parametrize("field", ["chips", "repeats", "windows", "seed"])
def test_only_whole_numbers_are_whole_numbers(field, chips):
    with pytest.raises(SpecError, match=f"{field}.*integer"):
        spec(**{field: chips})


@pytest.mark.parametrize("values", [[0.0, -0.0], [1, 1.0], ["a", "a"]])
def test_equal_values_of_an_axis_are_one(values):
    with pytest.raises(SpecError, match="repeats a value"):
        spec(axes={"coupling_mismatch": values})


def test_a_twin_with_oscillators_is_refused():
    path = content()["checkpoints"][0]
    other = path.replace("-s0", "-s1")
    with pytest.raises(SpecError, match=r"twins: .* has oscillators"):
        prepare(spec(twins=[other]))
    assert prepare(spec(twins=[path.replace("osc-d2", "softmax")])).twins


def test_a_grid_runs_through_the_last_axis_fastest():
    axes = [Axis("weight_bits", (1, 2)), Axis("adc_bits", (3, 4))]
    assert [tuple(p.values()) for p in grid(axes)] == [(1, 3), (1, 4), (2, 3), (2, 4)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("none", set()),
        ("layer0", {(0, 0), (0, 1), (0, 2)}),
        ("layer1.head2", {(1, 2)}),
        ("layer0.head1+layer1", {(0, 1), (1, 0), (1, 1), (1, 2)}),
    ],
)
def test_places_that_stay_digital(text, places):
    assert digital_places(text, n_layers=2, n_heads=3) == places


@pytest.mark.parametrize("text", ["layer2", "layer0.head3", "head1", "", "all", "3"])
def test_a_place_that_does_not_exist_is_refused(text):
    with pytest.raises(SpecError, match="is no place of a model with layers"):
        digital_places(text, n_layers=2, n_heads=3)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"axes": {"weight_bit": [3]}}, "did you mean 'weight_bits'"),
        ({"axes": {"layer0.settletime": [3]}}, "did you mean 'settle_time'"),
        ({"axes": {"temperature": [300]}}, r"digital, .*; fields are .*diffusion"),
        ({"axes": {"noise": [0.1]}}, "is diffusion or relative_diffusion, that of"),
        ({"axes": {"layer0.noise": [0.1]}}, "is diffusion or relative_diffusion"),
        ({"axes": {"d_osc": [2, 8]}}, "list several under checkpoints"),
        ({"axes": {"weight_bits": []}}, "axes.weight_bits is empty"),
        ({"axes": {}}, "axes: a design 'grid' needs them"),
        ({"axes": {"weight_bits": 3}}, "axes.weight_bits must be a list"),
        ({"axes": {"weight_bits": [3, 3]}}, "repeats a value"),
        ({"axes": {"weight_bits": [[3]]}}, "is no number and no name"),
        ({"axes": {"weight_bits": {"low": 1, "high": 3}}}, "must be a list"),
        ({"samples": 3}, "samples: not for a design 'grid'"),
        ({"design": "latin-hypercube"}, "samples: a design 'latin-hypercube' needs"),
        ({"design": "list", "axes": {}}, "points: a design 'list' needs them"),
        ({"design": "star"}, "design"),
        ({"checkpoints": []}, "checkpoints"),
        ({"checkpoints": None}, "checkpoints"),
        ({"chip": 3}, "unknown key 'chip'"),
        ({"chips": 0}, "chips must be a whole number"),
        ({"seed": -1}, "seed"),
        ({"rung": "spice"}, "rung"),
        ({"rung": "digital"}, "nothing settles at rung digital"),
        ({"precision": {"half_width": 0.0, "most_chips": 9}}, "half_width"),
        ({"precision": {"half_width": 0.1, "most_chips": 9}}, "at least 4 to begin"),
        (
            {"precision": {"half_width": 0.1, "most_chips": 2}, "chips": 4},
            "most_chips = 2 is fewer than chips = 4",
        ),
    ],
)
def test_what_is_wrong_is_named(changed, said):
    with pytest.raises(SpecError, match=said):
        parse_spec(content(**changed))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"low": 3, "high": 1}, "needs low < high"),
        ({"low": 0, "high": 1, "scale": "log"}, "low > 0 on a log scale"),
        ({"low": 0, "high": 1, "scale": "cube"}, "must be linear or log"),
        ({"low": 0}, "must have low, high"),
        ({"low": 0, "high": 1, "n": 3}, "must have low, high"),
        ({"low": "a", "high": 1}, "is no finite number"),
        ({"low": float("nan"), "high": 1}, "is no finite number"),
    ],
)
def test_a_range_that_is_wrong_is_named(table, said):
    asked = content(design="latin-hypercube", samples=4, axes={"diffusion": table})
    with pytest.raises(SpecError, match=said):
        parse_spec(asked)


def test_more_cells_than_anyone_can_run_are_refused_at_once():
    bits = list(range(1, 25))
    names = ("weight_bits", "anchor_bits", "adc_bits")
    axes = dict.fromkeys(names, bits) | {"diffusion": list(range(1000))}
    with pytest.raises(SpecError, match="13,824,000 cells"):
        parse_spec(content(axes=axes))


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"axes": {"weight_bits": [99]}}, DeviceError, "weight_bits"),
        ({"axes": {"settle_time": [-1.0]}}, DeviceError, "settle_time"),
        ({"set": {"weightbits": 3}}, DeviceError, "unknown key 'weightbits'"),
        ({"device": "ring-66nm"}, DeviceError, "no device 'ring-66nm'"),
        ({"axes": {"device": ["ring-66nm"]}}, DeviceError, "no device"),
        (
            {"axes": {"weight_bits": [3]}, "rung": "noisy"},
            DeviceError,
            "weight_bits cannot act at rung noisy",
        ),
        (
            {"axes": {"relative_diffusion": [-1.0]}},
            SpecError,
            "relative_diffusion must be a finite number >= 0",
        ),
        (
            {"axes": {"relative_settle_time": [0.0]}},
            SpecError,
            "relative_settle_time must be > 0",
        ),
        ({"axes": {"digital": ["layer7"]}}, SpecError, "is no place of a model"),
        ({"axes": {"layer7.weight_bits": [3]}}, SpecError, "there is no layer 7"),
        (
            {"axes": {"relative_diffusion": [0.1], "diffusion": [1e5, 2e5]}},
            SpecError,
            "relative_diffusion and diffusion set the same field",
        ),
    ],
)
def test_a_value_that_no_device_can_have_is_refused_before_the_work(
    tmp_path, changed, error, said
):
    with pytest.raises(error, match=said):
        small(tmp_path, **changed)


def test_two_names_for_one_cell_are_refused(tmp_path):
    same = [{"weight_bits": 5}, {"weight_bits": 5, "coupling_mismatch": 0.02}]
    with pytest.raises(SpecError, match="two cells are the same"):
        small(
            tmp_path,
            axes=None,
            design="list",
            points=same,
            set={"coupling_mismatch": 0.02},
        )


def test_a_softmax_model_has_no_cells():
    twin = content()["checkpoints"][0].replace("osc-d2", "softmax")
    with pytest.raises(SpecError, match="has no oscillators"):
        prepare(spec(checkpoints=[twin]))


def test_a_file_that_is_no_specification_is_told(tmp_path):
    with pytest.raises(SpecError, match="there is no sweep specification"):
        read_spec(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("axes = [", encoding="utf-8")
    with pytest.raises(SpecError, match=r"broken\.toml is not a sweep specification"):
        read_spec(broken)
    with pytest.raises(SpecError, match="is not a sweep specification"):
        read_spec(tmp_path)


def test_paths_of_a_file_start_at_its_folder(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(
        'checkpoints = ["models/a"]\ndata = "d.jsonl"\ndevice = "my.toml"\n'
        '[axes]\ndevice = ["x.toml", "ring-65nm"]\n',
        encoding="utf-8",
    )
    found = read_spec(path)
    assert found.name == "one"
    assert found.checkpoints == (str(tmp_path / "models/a"),)
    assert found.data == str(tmp_path / "d.jsonl")
    assert found.device == str(tmp_path / "my.toml")
    assert found.axes["device"] == [str(tmp_path / "x.toml"), "ring-65nm"]


@pytest.mark.parametrize("workers", [0, -1, 10_000])
def test_workers_that_cannot_be_are_told_by_their_option(tmp_path, capsys, workers):
    path = spec_file(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(path), "--workers", str(workers)])
    assert ended.value.code == 2
    assert "--workers must be 1 to 1,024, got" in capsys.readouterr().err


def test_a_field_is_set_or_varied():
    content = {
        "name": "a",
        "checkpoints": ["a"],
        "set": {"diffusion": 0.1},
        "axes": {"relative_diffusion": [0.0, 1.0]},
    }
    with pytest.raises(SpecError, match=r"set: diffusion is varied by axis relati"):
        parse_spec(content)
    parse_spec(content | {"axes": {"layer0.diffusion": [0.0, 1.0]}})


def test_devices_of_points_lie_beside_the_specification():
    points = [{"device": "own.toml"}, {"device": "ring-65nm"}]
    content = {"name": "a", "checkpoints": ["a"], "design": "list", "points": points}
    found = parse_spec(content, Path("there"))
    assert [p["device"] for p in found.points] == ["there/own.toml", "ring-65nm"]


def test_devices_of_one_file_name_are_two_devices(tmp_path):
    preset = Path(__file__).parents[2] / "data" / "devices" / "ring-65nm.toml"
    text = preset.read_text(encoding="utf-8")
    other = text.replace("[weight_bits]\nvalue = 5", "[weight_bits]\nvalue = 3")
    for folder, said in (("a", text), ("b", other)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d.toml").write_text(said, encoding="utf-8")
    names = [str(tmp_path / folder / "d.toml") for folder in "ab"]
    ready = small(tmp_path, axes={"device": names})
    assert [cell.setting.device.weight_bits for cell in ready.cells] == [5, 3]
