"""Which fields a device has of which kind, and what values they take."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

Spread = Annotated[float, Field(ge=0, le=10)]
Rate = Annotated[float, Field(ge=0, le=1e18)]
PositiveRate = Annotated[float, Field(gt=0, le=1e18)]
Seconds = Annotated[float, Field(ge=0, le=1e6)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Bits = Annotated[int, Field(ge=1, le=24)]
Number = Annotated[int, Field(ge=1, le=10**12)]
Rung: TypeAlias = Literal["digital", "ideal", "finite", "noisy", "device"]

Kind: TypeAlias = Literal[
    "ideal", "ring", "lc", "relaxation", "josephson", "mechanical", "sphere"
]

SINGLE_PHASE: tuple[Kind, ...] = (
    "ring",
    "lc",
    "relaxation",
    "josephson",
    "mechanical",
)
RUNGS: tuple[Rung, ...] = ("digital", "ideal", "finite", "noisy", "device")

IMPERFECTIONS = (
    "weight_bits",
    "anchor_bits",
    "coupling_mismatch",
    "coupling_offset",
    "anchor_mismatch",
    "anchor_gain_mismatch",
    "frequency_mismatch",
    "frequency_offset",
    "stuck_off",
    "stuck_on",
    "settle_time",
    "start",
    "diffusion",
    "readout_noise",
    "adc_bits",
)

SIZES = (
    "oscillators",
    "couplers_per_oscillator",
    "tiles",
    "bus_bits",
    "bus_hz",
    "write_endurance",
)

DIGITAL_RATES = ("digital_macs_per_s", "digital_ops_per_s")

CHARACTERISTICS = (
    "frequency_hz",
    "weak_coupling",
    "coupling_max",
    "range_limit",
    "query_slots",
    "write_time",
    "read_time",
    "runs_while_loading",
    "winding_counter",
    *SIZES,
    *DIGITAL_RATES,
)
