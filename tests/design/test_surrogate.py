"""Between the cells of a full grid: as rules read, exact at cells, silent elsewhere."""

import itertools

import numpy as np
import pytest

from oscsim.design.curve import is_log, position, value_at
from oscsim.design.reading import Reading
from oscsim.design.surrogate import split_axes, surrogates
from oscsim.errors import SpecError
from tests.report.sheet_sample import CHIPS, NOISES, sweep_table


def naive(grid, numbers, content):
    """Multilinear interpolation, corner by corner in plain Python."""
    shares, below = [], []
    for name, values in zip(grid.axes, grid.values, strict=True):
        where = position(values)
        at = position(np.array([numbers[name]]), values)[0]
        k = next(k for k in reversed(range(len(where) - 1)) if k == 0 or where[k] <= at)
        below.append(k)
        shares.append((at - where[k]) / (where[k + 1] - where[k]))
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(shares)):
        weight = 1.0
        for side, share in zip(corner, shares, strict=True):
            weight *= share if side else 1 - share
        place = tuple(k + side for k, side in zip(below, corner, strict=True))
        total += weight * content[place]
    return total


def test_between_cells_the_loss_is_read_and_the_rest_multilinear():
    (grid, *_), _ = surrogates(sweep_table())
    reading = Reading(grid.values, grid.better, grid.metric / grid.digital - 1)
    assert grid.better == ("smaller", "larger")
    rng = np.random.default_rng(1)
    for _ in range(50):
        numbers = {
            "relative_diffusion": float(rng.choice([0, 1]) * 10 ** rng.uniform(-4, 0)),
            "weight_bits": float(rng.uniform(3, 6)),
        }
        found = grid.at(numbers)
        (loss,) = reading.at(np.array([list(numbers.values())]))
        assert found.loss == pytest.approx(loss, abs=1e-12)
        assert found.metric == pytest.approx(grid.digital * (1 + loss), abs=1e-12)
        joules = naive(grid, numbers, grid.joules[..., 1])
        assert found.joules[1] == pytest.approx(joules, rel=1e-12)
        spread = naive(grid, numbers, grid.half_width)
        assert found.half_width == pytest.approx(spread, rel=1e-12)


def test_at_a_cell_it_is_the_cell():
    table = sweep_table()
    grids, why_not = surrogates(table)
    assert not why_not
    assert [grid.subject for grid in grids] == ["osc-d2", "osc-d8", "osc-d16"]
    for grid in grids:
        for number in grid.cells.ravel():
            cell = table.cells[number]
            found = grid.at(cell.point)
            assert cell.subject == grid.subject
            assert found.metric == cell.values.mean()
            assert found.joules == pytest.approx(cell.joules, rel=1e-14)
            assert found.latency_s == pytest.approx(cell.latency_s)
            error = cell.values.std(ddof=1) / np.sqrt(CHIPS)
            # Student's t of 2 degrees of freedom, 97.5 %.
            assert found.half_width == pytest.approx(4.30265 * error, rel=1e-5)


def test_of_an_accuracy_less_is_a_loss():
    (grid, *_), _ = surrogates(sweep_table(metric="accuracy"))
    found = grid.at({"relative_diffusion": 1.0, "weight_bits": 3})
    assert found.loss == pytest.approx(1 - found.metric / grid.digital)
    assert found.loss > 0.05


def test_outside_the_data_there_is_no_number():
    (grid, *_), _ = surrogates(sweep_table())
    with pytest.raises(SpecError, match=r"weight_bits = 7 .* 3 to 6: nothing is pred"):
        grid.at({"relative_diffusion": 0.0, "weight_bits": 7})
    with pytest.raises(SpecError, match="got no weight_bits"):
        grid.at({"relative_diffusion": 0.0})


def test_a_missing_cell_leaves_its_model_without_a_grid():
    table = sweep_table(
        kept=lambda point: point != {"relative_diffusion": 0.1, "weight_bits": 4}
    )
    grids, why_not = surrogates(table)
    assert not grids
    assert why_not["osc-d8"] == "14 cells have a value, a full grid has 15"


def test_two_cells_at_one_place_are_no_grid():
    """A third axis that only some points name."""
    table = sweep_table()
    other = table.cells[0].__dict__ | {"point": table.cells[0].point | {"stuck_on": 0}}
    cells = (*table.cells[1:], table.cells[1].__class__(**other))
    doubled = table.__class__(**table.__dict__ | {"cells": (*cells, table.cells[0])})
    _, why_not = surrogates(doubled)
    assert why_not["osc-d2"] == (
        "16 cells have a value, relative_diffusion, weight_bits 15 combinations: only "
        "some of the points give stuck_on"
    )


def test_choices_that_no_cell_has_are_not_gone_through():
    """Six choices of 20 values drawn 20 times: 20 places, not 64 million."""
    names = [f"layer{k}.device" for k in range(6)]
    table = sweep_table(axes={"weight_bits": range(2, 22)}, models=("osc-d2",))
    cells = tuple(
        cell.__class__(**cell.__dict__ | {"point": dict.fromkeys(names, f"d{k}")})
        for k, cell in enumerate(table.cells)
    )
    grids, why_not = surrogates(table.__class__(**table.__dict__ | {"cells": cells}))
    assert [grid.chosen[names[0]] for grid in grids] == [f"d{k}" for k in range(20)]
    assert not why_not


def test_axes_that_are_no_numbers_are_chosen():
    axes = {
        "device": ("a", "b"),
        "weight_bits": (3, "none"),
        "coupling_mismatch": (0, 1),
    }
    table = sweep_table(axes={"device": ("a", "b"), "relative_diffusion": NOISES})
    grids, _ = surrogates(table)
    assert [grid.chosen for grid in grids[:2]] == [{"device": "a"}, {"device": "b"}]
    at = {"relative_diffusion": 0.01}
    assert grids[1].at(at).loss - grids[0].at(at).loss == pytest.approx(0.02, rel=0.01)
    mixed = sweep_table(axes={"device": axes["device"], "coupling_mismatch": (0, 1)})
    assert split_axes(mixed) == (("coupling_mismatch",), ("device",))
    bits = {**axes, "device": ("a", "b")}
    del bits["device"]
    assert split_axes(_with(bits)) == (("coupling_mismatch",), ("weight_bits",))


def _with(axes):
    """A table whose points are those of the axes, its values those of another."""
    table = sweep_table(axes={"a": range(4)}, models=("osc-d2",))
    points = [
        dict(zip(axes, one, strict=True)) for one in itertools.product(*axes.values())
    ]
    cells = tuple(
        cell.__class__(**cell.__dict__ | {"point": point})
        for cell, point in zip(table.cells, points, strict=True)
    )
    return table.__class__(**table.__dict__ | {"cells": cells})


def test_cells_left_out_say_how_far_a_line_misses():
    """Of a straight line nothing; of a kink half of it."""
    (grid,), _ = surrogates(
        sweep_table(axes={"stuck_on": (0.0, 1.0, 2.0)}, models=("osc-d2",))
    )
    straight = grid.__class__(**grid.__dict__ | {"metric": np.array([1.0, 2.0, 3.0])})
    assert straight.left_out == (0.0, 0.0)
    bent = grid.__class__(**grid.__dict__ | {"metric": np.array([1.0, 2.0, 1.0])})
    assert bent.left_out == (1.0, 1.0)
    (short,), _ = surrogates(
        sweep_table(axes={"stuck_on": (0.0, 1.0)}, models=("osc-d2",))
    )
    assert short.left_out is None


def test_positions_have_an_inverse():
    for scale in (np.array(NOISES), np.array([3.0, 4.0, 6.0]), np.array([-1.0, 0, 20])):
        for value in (scale[0], 0.3 * scale[0] + 0.7 * scale[1], scale[-1]):
            at = position(np.array([value]), scale)[0]
            assert value_at(float(at), scale) == pytest.approx(value, rel=1e-12)
    assert is_log(np.array(NOISES))
    assert not is_log(np.array([-1.0, 0.0, 20.0]))
