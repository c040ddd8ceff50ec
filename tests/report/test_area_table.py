"""Areas as a table: sums, what is not known, area times time."""

from io import StringIO

import pytest
from rich.console import Console

from oscsim.bridge.array import on_array
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.report.area_table import area_notes, area_rows, print_area
from oscsim.substrate.device import Device

SHAPE = Shape(1, 2, 8, 16, 2, [4], True, "softplus", 5)
RING = Device.load("ring-65nm").changed(
    oscillators=8, tiles=2, couplers_per_oscillator=8
)


def found(device=RING):
    return on_array(device, SHAPE, 4, batch=2, library=Library.load())


def test_rows_add_up_and_name_their_components():
    array = found()
    rows = area_rows(array.area)
    assert rows[0][0] == "16 oscillators"
    assert rows[0][1] == "0.004 mm2"
    assert rows[2][3] == "area.coupler_cell_65"
    assert rows[5] == ("digital logic, bus and clock", "not known", "", "")
    numbers = [float(row[1].split()[0]) for row in rows if row[1].endswith("mm2")]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], rel=0.01)


def test_area_times_time_per_token_of_every_sweep():
    array = found()
    said = " ".join(area_notes(array, array.area))
    first = array.area.nominal_mm2 * 1e6 / array.timed[0].tokens_per_s
    assert f"{first:.3g} um2 s (prefill, 1)" in said
    assert "um2 s (decode, 2)" in said


def test_an_array_of_which_nothing_is_known():
    energy = RING.energy.model_copy(update={"areas": {}, "digital_node_nm": 7})
    array = found(RING.changed(energy=energy.model_dump()))
    assert area_rows(array.area)[-1] == ("sum of the known", "none", "", "")
    assert not any("um2 s" in note for note in area_notes(array, array.area))


def test_it_fits_a_terminal_of_100_columns():
    console = Console(file=StringIO(), width=100)
    print_area(console, found())
    out = console.file.getvalue()
    assert "area, as far as it is known" in out
    assert "at least this much" in " ".join(out.split())
