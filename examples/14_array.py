"""A model of bytes on an array of 28 nm rings: does it fit, how fast is a token.

The settling time is measured: the model runs on chips, and the p99 of the times that
its own drives need replaces the time that the device description gives. The digital
part is timed at rates that are given, and its phases may overlap with other sweeps.
"""

import argparse
from pathlib import Path

from rich.console import Console

import oscsim as osc
from oscsim.bridge.array import attention_of
from oscsim.bridge.cost import shape_of
from oscsim.energy.settling import settle_quantile
from oscsim.energy.timeline import sweeps
from oscsim.errors import DeviceError
from oscsim.report.canvas import png
from oscsim.report.numbers import percent, quantity
from oscsim.report.timeline_figure import timeline_figure
from oscsim.report.timeline_table import print_timelines

MODEL = Path(__file__).parents[1] / "data" / "checkpoints" / "bytes-osc-d2-p4"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--macs", type=float, default=1e12, help="digital, per second")
parser.add_argument("--ops", type=float, default=2e11, help="elementwise, per second")
parser.add_argument("--figure", type=Path, default=Path("array.png"))
parser.add_argument("--quick", action="store_true", help="fewer windows")
given = parser.parse_args()
device = osc.Device.load("ring-28nm").changed(tiles=4)
checkpoint = osc.load_checkpoint(MODEL)
windows = 2 if given.quick else 16
run = osc.infer(checkpoint, device=device, chips=1, windows=windows, repeats=1)
tally = run.tallies[0]
quantiles = {
    q: settle_quantile(device, tally, q, of_driven=True) for q in (0.5, 0.9, 0.99)
}
share = percent(tally.undriven / tally.oscillators, 1)
print(f"{tally.oscillators:,} oscillators of {windows} windows, {share} undriven;")
print("the others settle to 0.01 rad in", end=" ")
print(", ".join(f"{quantity(t, 's')} (p{100 * q:g})" for q, t in quantiles.items()))
print(f"the device gives {quantity(device.settle_time, 's')}\n")
model = attention_of(checkpoint.fixed_query, run.data.context)
rates = {"macs_per_s": given.macs, "ops_per_s": given.ops}
rates["shape"] = shape_of(run, run.existing_lengths)
measured = quantiles[0.99]
for time in (device.settle_time, measured):
    found = sweeps(device, model, batch=64, settle_s=time, **rates)
    print_timelines(Console(width=100), found)
for change in ({"couplers_per_oscillator": 32}, {"write_endurance": 1e9}):
    try:
        sweeps(device.changed(**change), model, batch=1)
    except DeviceError as error:
        print(f"refused: {error}")
arrays = [device.changed(oscillators=n) for n in (16, 64, 256)]
drawn = timeline_figure(arrays, model, settle_s=measured, **rates)
given.figure.write_bytes(png(drawn))
