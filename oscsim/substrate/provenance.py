"""Where the numbers of a device come from, and what prices its actions."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


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


class EnergyMap(BaseModel):
    """Which components price the substrate's actions.

    ``prices[action]`` is a list of component ids meaning their product. The
    oscillators' node (None for parts of no CMOS node) and the digital logic's node
    are separate; nothing is extrapolated between nodes. ``areas[part]`` is likewise a
    product of components with one area; a part that is absent has no known area.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    oscillator_node_nm: Annotated[int, Field(gt=0)] | None = None
    digital_node_nm: Annotated[int, Field(gt=0)]
    prices: dict[str, list[str]]
    areas: dict[str, list[str]] = Field(default_factory=dict)
