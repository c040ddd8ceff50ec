from io import StringIO

from rich.console import Console

from oscsim.energy.limits import physics_limits
from oscsim.energy.precision import precision
from oscsim.report.limits_table import precision_line, print_limits
from oscsim.substrate.device import Device


def printed(device):
    console = Console(file=StringIO(), width=300)
    print_limits(console, physics_limits(device), precision(device))
    return console.file.getvalue()


def test_each_bound_is_a_row_and_what_does_not_bind_is_in_brackets():
    out = printed(Device.load("ring-65nm"))
    row = next(line for line in out.splitlines() if "phase diffusion of a ring" in line)
    assert "3.9e+03 rad^2/s" in row
    assert row.split("│")[4].strip() == "3.96"
    time = next(line for line in out.splitlines() if "conversion of 8 bits" in line)
    assert "(1.63)" in time
    assert "In brackets" in out
    assert "limited by mismatch" in out


def test_a_device_without_any_bound_prints_only_its_precision():
    bare = Device.load("ring-65nm").changed(
        diffusion=0.0, adc_bits=None, weight_bits=None
    )
    out = printed(bare)
    assert "bounds of physics" not in out
    assert "heat none, mismatch 20.1 mrad (6.5 bits); limited by" in out


def test_the_sentence_names_each_cause():
    said = precision_line(precision(Device.load("ring-65nm")))
    assert said.startswith("A phase locked at |h| = 7.2e+07 rad/s: heat 7.36 mrad")
    assert "read-out 8 bits" in said
