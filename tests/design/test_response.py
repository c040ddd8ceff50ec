"""Quadratic surfaces through scattered points, and what they refuse."""

import dataclasses
import time

import numpy as np
import pytest

from oscsim.design.axes import Axis, latin_hypercube
from oscsim.design.interactions import interactions, sobol, sobol_of_surface
from oscsim.design.response import numeric_axes, response_surface
from oscsim.design.rule import fit_rule
from oscsim.design.surrogate import surrogates
from oscsim.errors import SpecError
from tests.design.test_rule import table

AXES = ("coupling_mismatch", "stuck_off")


def scattered(loss, n=60, scatter=0.0):
    """A store whose points are a latin hypercube."""
    points = latin_hypercube([Axis(name, (), 0.0, 1.0) for name in AXES], n, seed=4)
    made = table(lambda _m, _p: 0.0, {"coupling_mismatch": [0.0]})
    cell, cells = made.cells[0], []
    rng = np.random.default_rng(1)
    for k, point in enumerate(points):
        lost = loss(*point.values()) + scatter * rng.standard_normal(6)
        cells.append(
            dataclasses.replace(
                cell, digest=str(k), point=point, values=2.0 * (1 + lost)
            )
        )
    drawn = {name: {"low": 0.0, "high": 1.0} for name in AXES}
    return dataclasses.replace(made, cells=tuple(cells), spec={"axes": drawn})


def test_a_quadratic_is_recovered_exactly():
    made = scattered(lambda a, b: 0.1 + 0.2 * a - 0.3 * b + 0.4 * a * b + 0.5 * b**2)
    surface = response_surface(made, "m", AXES)
    assert surface.r2 == pytest.approx(1.0, abs=1e-9)
    low = [min(made.axis(n)) for n in AXES]
    high = [max(made.axis(n)) for n in AXES]
    for shares in ([0.0, 0.0], [1.0, 0.3], [0.5, 1.0]):
        a, b = (lo + s * (hi - lo) for lo, s, hi in zip(low, shares, high, strict=True))
        truth = 0.1 + 0.2 * a - 0.3 * b + 0.4 * a * b + 0.5 * b**2
        assert surface.at_shares(np.array([shares]))[0] == pytest.approx(
            truth, abs=1e-9
        )


def test_a_hypercube_of_five_numbers_takes_no_grid_of_them_all():
    """100 values each: 10^10 combinations, 80 GB, of which 100 were run."""
    names = ("coupling_mismatch", "stuck_off", "stuck_on", "readout_noise", "diffusion")
    made = scattered(lambda a, b: a + b, n=100)
    drawn = latin_hypercube([Axis(n, (), 0.0, 1.0) for n in names], 100, seed=4)
    cells = tuple(
        dataclasses.replace(cell, point=point)
        for cell, point in zip(made.cells, drawn, strict=True)
    )
    made = dataclasses.replace(made, cells=cells)
    started = time.process_time()
    rule = fit_rule(made)
    assert not rule.rules
    with pytest.raises(SpecError, match="has 10,000,000,000 combinations, m has 100"):
        sobol(made, "m", names, rule.held)
    assert interactions(rule) == ()
    _, why_not = surrogates(made)
    assert why_not == {"m": "100 cells have a value, a full grid has 10,000,000,000"}
    assert time.process_time() - started < 2


def test_goodness_is_of_points_left_out():
    """More terms than the data carry fit them, and foretell none of the others."""
    made = scattered(lambda a, b: 0.0 * a * b, n=14, scatter=1.0)
    with pytest.raises(SpecError, match="does not describe the loss of m"):
        response_surface(made, "m", AXES)


def test_a_list_whose_points_leave_an_axis_out_has_no_surface():
    made = scattered(lambda a, b: a + b)
    first, *others = made.cells
    point = {"coupling_mismatch": first.point["coupling_mismatch"]}
    cells = (dataclasses.replace(first, point=point), *others)
    with pytest.raises(SpecError, match="some of m leave out stuck_off"):
        response_surface(dataclasses.replace(made, cells=cells), "m", AXES)


def test_sobol_indices_of_a_surface_are_those_of_its_function():
    made = scattered(lambda a, b: a + 2 * b)
    found = sobol_of_surface(made, "m", AXES)
    assert found.first == pytest.approx([0.2, 0.8], abs=0.02)
    assert found.surface_r2 == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(SpecError, match="combinations"):
        sobol(made, "m", AXES, {})


@pytest.mark.parametrize(
    ("n", "axes", "said"),
    [
        (11, AXES, "needs 12 cells at least, m has 11"),
        (60, AXES[:1], "two axes at least"),
    ],
)
def test_too_little_is_refused(n, axes, said):
    with pytest.raises(SpecError, match=said):
        response_surface(scattered(lambda a, b: a + b, n=n), "m", axes)


def test_numbers_with_a_good_end_are_the_axes():
    made = table(
        lambda _m, p: 0.0, {"coupling_mismatch": [0, 1], "coupling_max": [1, 2]}
    )
    assert numeric_axes(made) == ("coupling_mismatch",)
