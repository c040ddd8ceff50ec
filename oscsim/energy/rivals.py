"""Everything that a substrate is compared with, counted and priced alike."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.bundled import data_folder
from oscsim.counts import Counts
from oscsim.energy.baselines import (
    Shape,
    count_body,
    digital_oscillator,
    digital_oscillator_factored,
    digital_softmax,
)
from oscsim.energy.components import Library, read_toml
from oscsim.energy.factoring import Factoring
from oscsim.energy.measured import NOT_MEASURED, Accuracies
from oscsim.energy.prices import Prices
from oscsim.energy.window_shape import WindowShape
from oscsim.errors import ComponentError, SpecError
from oscsim.models import counting
from oscsim.models.kuramoto_config import TransformerConfig
from oscsim.models.phase_counting import transformer_body

DEFAULT_NODE = 45
SAME = "same model, 8-bit data path"
SOFTMAX = "softmax twin, 8-bit data path"


@dataclass(frozen=True)
class Rival:
    """One thing to be compared with.

    Attributes
    ----------
    name : str
        In words.
    counts : Counts
        What it executes.
    prices : Prices
        What that costs.
    remark : str
        Whether it is the same model at the same precision; where not, what
        differs.
    accuracy : str
        What was measured of it, or that nothing was.
    """

    name: str
    counts: Counts
    prices: Prices
    remark: str
    accuracy: str = NOT_MEASURED.unknown


def rivals(
    shape: Shape,
    node_nm: int,
    factors: Factoring | None,
    library: Library,
    *,
    reuse: float = 1.0,
    accuracies: Accuracies = NOT_MEASURED,
) -> tuple[Rival, ...]:
    """Return every rival of a model at one node.

    Parameters
    ----------
    shape : Shape
        The model.
    node_nm : int
        Node of the digital logic.
    factors : Factoring or None
        Whether the read-out may be factored; None for a model that has no
        oscillators, whose oscillator rivals are left out.
    library : Library
        The components; states the utilisation of the GPU.
    reuse : float
        Uses of one byte read from on-chip memory.
    accuracies : Accuracies
        What was measured of the model and of its softmax twin.

    Returns
    -------
    tuple of Rival
        Digital softmax first.

    Raises
    ------
    ComponentError
        If the node has no table.
    """
    digital, unknown = Prices.digital(node_nm), accuracies.unknown
    softmax = digital_softmax(shape, reuse=reuse)
    twin, own = accuracies.of_twin("int8"), accuracies.of_itself("int8")
    found = [Rival("digital softmax", softmax, digital, SOFTMAX, twin)]
    if factors is not None:
        direct = digital_oscillator(shape, reuse=reuse)
        name = "same oscillator model, digital"
        found.append(Rival(name, direct, digital, SAME, own))
    if factors is not None and factors.readout:
        name = "same oscillator model, digital, read-out factored"
        folded = digital_oscillator_factored(shape, reuse=reuse)
        found.append(Rival(name, folded, digital, SAME, unknown))
    others = other_softmax(
        shape, softmax, node_nm, library, reuse=reuse, accuracies=accuracies
    )
    return (*found, *others)


def other_softmax(
    shape: Shape | WindowShape,
    softmax: Counts,
    node_nm: int,
    library: Library,
    *,
    reuse: float = 1.0,
    accuracies: Accuracies = NOT_MEASURED,
) -> tuple[Rival, ...]:
    """Return the other ways to do a softmax model, or one as large.

    Parameters
    ----------
    shape : Shape or WindowShape
        Its sizes; a `WindowShape` of a transformer.
    softmax : Counts
        It done digitally, at the same reuse.
    node_nm, library, reuse, accuracies
        As `rivals`.
    """
    digital, unknown = Prices.digital(node_nm), accuracies.unknown
    return (
        *repriced(softmax, node_nm, accuracies),
        Rival(
            "linear attention",
            linear_attention(shape, reuse=reuse),
            digital,
            "another model",
            unknown,
        ),
        Rival(
            "softmax on in-memory compute",
            in_memory_softmax(shape, reuse=reuse),
            _priced("in_memory", node_nm),
            "softmax twin, 4-bit multiplications, 6-bit converters",
            unknown,
        ),
        Rival(
            "analog softmax on in-memory compute",
            analog_softmax(shape, reuse=reuse),
            _priced("analog_softmax", node_nm),
            "softmax twin, analog, 180 nm circuit, settling time assumed",
            unknown,
        ),
        replace(on_gpu(softmax, library), accuracy=unknown),
    )


def repriced(
    softmax: Counts, node_nm: int, accuracies: Accuracies = NOT_MEASURED
) -> tuple[Rival, ...]:
    """Return digital softmax with cheaper arithmetic, whatever was counted.

    Parameters
    ----------
    softmax : Counts
        A digital model with softmax attention.
    node_nm : int
        Node of the digital logic.
    accuracies : Accuracies
        What was measured of that model.
    """
    return (
        Rival(
            "digital softmax, table exponential",
            softmax,
            _priced("table_exponential", node_nm),
            "softmax twin, exponential of 8 bits",
            accuracies.of_twin("int8-table"),
        ),
        Rival(
            "digital softmax, 4 bits, table exponential",
            softmax,
            _priced("four_bit", node_nm),
            "softmax twin at 4 bits",
            accuracies.of_twin("int4-table"),
        ),
    )


def on_gpu(softmax: Counts, library: Library) -> Rival:
    """Return digital softmax on a GPU, which its multiply-accumulates pay for.

    All else, memory included, is in the power of the board.

    Parameters
    ----------
    softmax : Counts
        A digital model with softmax attention.
    library : Library
        The components; states the utilisation.
    """
    counts = Counts(tokens=softmax.tokens)
    for (phase, action), number in softmax.actions.items():
        if action == "mac":
            counts.add(phase, "gpu_mac", number)
    used = 1 / library["rival.gpu_peak_over_used"].value
    return Rival(
        "digital softmax on a GPU",
        counts,
        Prices.of(_table(DEFAULT_NODE)["gpu"]),
        f"softmax twin in bf16 at 4 nm, power of the board at {used:.0%} of its "
        "peak, which needs large batches",
    )


def linear_attention(shape: Shape | WindowShape, *, reuse: float = 1.0) -> Counts:
    """Count linear attention with ``phi(x) = elu(x) + 1`` on the same sizes.

    ``S += phi(k) v^T``, ``n += phi(k)``, then ``phi(q) S / (phi(q) n)``: per
    head and token 2 d^2 + d multiply-accumulates, the sums (two bytes an
    element) stored after every token of a causal model, else once per head
    and item.

    Parameters
    ----------
    shape : Shape or WindowShape
        The model; ``d_osc``, ``coupling`` and ``power`` play no part.
    reuse : float
        Uses of one byte read from on-chip memory.
    """
    counts = _body(shape, reuse)
    d, rows = shape.d_head, shape.n_heads * shape.rows
    stores = rows if shape.causal else shape.n_heads * len(shape.lengths)
    state = (d + 1) * d * counting.STATE_BYTES
    for _ in range(shape.n_layers):
        counts.add("weights", "coupling_elu", 2 * rows * d)
        counts.add("weights", "add", 2 * rows * d)
        counts.add("value", "mac", 2 * rows * d * d)
        counts.add("value", "add", rows * d)
        counts.add("similarity", "mac", rows * d)
        counts.add("value", "sram_read_byte", (stores + rows) * state / reuse)
        counts.add("value", "sram_write_byte", stores * state / reuse)
        counts.add("normalise", "recip", rows)
        counts.add("normalise", "mul", rows * d)
    return counts


def in_memory_softmax(shape: Shape | WindowShape, *, reuse: float = 1.0) -> Counts:
    """Count softmax between two in-memory multiplications.

    Keys and values are written into the arrays. Every score is converted, the
    softmax is digital, every weight is written back, and the mixed value is
    converted.
    """
    counts = _in_arrays(shape, reuse)
    for _ in range(shape.n_layers):
        rows = shape.n_heads * shape.rows
        counts.add("weights", "state_read", shape.pairs)
        counting.count_softmax(counts, shape.pairs, rows, shape.d_head)
        counts.add("load", "coupling_write", shape.pairs)
    return counts


def analog_softmax(shape: Shape | WindowShape, *, reuse: float = 1.0) -> Counts:
    """Count an analog softmax between two in-memory multiplications.

    Scores stay currents: one input of the circuit per score for its settling
    time; only the mixed value is converted.
    """
    counts = _in_arrays(shape, reuse)
    settle = _content().analog_softmax_settle_s
    seconds = shape.n_layers * shape.pairs * settle
    counts.add("normalise", "analog_softmax_s", seconds)
    return counts


def _body(shape: Shape | WindowShape, reuse: float) -> Counts:
    """Return everything but the attention stage."""
    if isinstance(shape, Shape):
        return count_body(shape, reuse)
    config = shape.config
    if not isinstance(config, TransformerConfig):
        raise SpecError(f"a {config.family} model has no other softmax: its twin has")
    return transformer_body(config, shape.windows, shape.time, reuse=reuse)


def _in_arrays(shape: Shape | WindowShape, reuse: float) -> Counts:
    counts = _body(shape, reuse)
    macs = shape.pairs * shape.d_head
    for _ in range(shape.n_layers):
        counting.count_cache_write(counts, shape.rows, 2 * shape.d_model)
        counts.add("weights", "cim_mac", macs)
        counts.add("value", "cim_mac", macs)
        counts.add("readout", "state_read", shape.rows * shape.d_model)
    return counts


class _Rivals(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int
    analog_softmax_settle_s: Annotated[float, Field(gt=0)]
    node: dict[int, dict[str, dict[str, list[str]]]]


def _content() -> _Rivals:
    try:
        return _Rivals.model_validate(read_toml(data_folder("energy") / "rivals.toml"))
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ComponentError(f"rivals.toml: {where}: {detail['msg']}") from None


def _table(node_nm: int) -> dict[str, dict[str, list[str]]]:
    tables = _content().node
    if node_nm not in tables:
        known = ", ".join(str(node) for node in sorted(tables))
        raise ComponentError(
            f"no prices of rivals for {node_nm} nm, and none are extrapolated: "
            f"one of {known}"
        )
    return tables[node_nm]


def _priced(kind: str, node_nm: int) -> Prices:
    digital = Prices.digital(node_nm)
    own = Prices.of(_table(node_nm)[kind]).terms
    return Prices(
        {**digital.terms, **own}, overheads=digital.overheads, digital_node_nm=node_nm
    )
