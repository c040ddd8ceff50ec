"""Where the numbers of a device come from, and what prices its actions."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

UNITS = {
    "frequency_hz": "Hz",
    "weak_coupling": "|h| / (2 pi f)",
    "coupling_max": "rad/s",
    "weight_bits": "bit",
    "anchor_bits": "bit",
    "coupling_mismatch": "relative",
    "coupling_offset": "full scales",
    "anchor_mismatch": "rad",
    "anchor_gain_mismatch": "relative",
    "frequency_mismatch": "relative",
    "frequency_offset": "rad/s",
    "stuck_off": "fraction",
    "stuck_on": "fraction",
    "settle_time": "s",
    "diffusion": "rad^2/s",
    "adc_bits": "bit",
    "write_time": "s",
    "read_time": "s",
    "oscillators": "a tile",
    "couplers_per_oscillator": "anchors",
    "tiles": "tiles",
    "bus_bits": "bit",
    "bus_hz": "Hz",
    "write_endurance": "writes",
    "digital_macs_per_s": "1/s",
    "digital_ops_per_s": "1/s",
}
"""The one unit of each number of a device, in seconds: nothing is converted."""


MODEL_UNITS = {
    "settle_time": "model time",
    "diffusion": "rad^2 per model time",
    "frequency_offset": "rad per model time",
}


class Provenance(BaseModel):
    """Where one number of a device comes from.

    ``confidence`` is ``primary`` (read in the source), ``secondary`` (read in
    a text that quotes it), ``derived`` (arithmetic on such numbers),
    ``memory`` (to be verified) or ``assumed`` (a choice).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: str
    source: str
    confidence: Literal["primary", "secondary", "derived", "memory", "assumed"]


def required_unit(name: str, oscillator: str, time_unit: str) -> str | None:
    """Return the unit that a number of a device must have, None for what has none.

    In model units a time or a rate is one of the model's own.
    """
    if name == "readout_noise":
        # an ideal oscillator is read by its phase or by component, as d_osc says
        return {"sphere": "per component", "ideal": None}.get(oscillator, "rad")
    own = MODEL_UNITS if time_unit == "model" else {}
    return own.get(name, UNITS.get(name))


class EnergyMap(BaseModel):
    """Which components price the substrate's actions.

    ``prices[action]`` is a list of component ids meaning their product, or a list
    of such lists meaning the sum of the products. The oscillators' node (None for
    parts of no CMOS node) and the digital logic's node are separate; nothing is
    extrapolated between nodes.
    ``bits[action]`` is the resolution for which a price is taken as it is; absent
    means that of the components.
    ``areas[part]`` is a product of components with one area; a part that is absent
    has no known area.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    oscillator_node_nm: Annotated[int, Field(gt=0, strict=True)] | None = None
    digital_node_nm: Annotated[int, Field(gt=0, strict=True)]
    prices: dict[str, list[str] | list[list[str]]]
    bits: dict[str, Annotated[int, Field(ge=1, le=24, strict=True)]] = Field(
        default_factory=dict
    )
    areas: dict[str, list[str]] = Field(default_factory=dict)
