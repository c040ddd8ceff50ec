"""What byte models cost at the bits that softmax models of some width reach."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from oscsim.bridge.estimate import Scenario, estimate
from oscsim.bridge.judge import attention_case
from oscsim.energy.baselines import Shape
from oscsim.energy.components import Library
from oscsim.energy.factoring import factoring
from oscsim.energy.ledger import Ledger, Range, account
from oscsim.energy.measured import Measurement
from oscsim.errors import DataError
from oscsim.substrate.device import Device
from oscsim.typing import FloatArray

Way: TypeAlias = Literal["softmax", "substrate", "digital"]
Part: TypeAlias = Literal["system", "attention"]

N_LAYERS, N_HEADS, CONTEXT, N_BYTES, FF_OVER_MODEL = 2, 4, 64, 256, 4
"""Sizes that all byte models of the family share."""


PRICED_AS = {
    "int8-table": "digital softmax, table exponential",
    "int4-table": "digital softmax, 4 bits, table exponential",
}
"""Rival that prices a softmax model on a data path; the others at 8 bits."""


class Bits(NamedTuple):
    """Bits per byte of one digital model; p and d_osc are None for softmax.

    ``mode`` is the data path that they were measured on, one of
    `oscsim.study.quantised.MODES`, or empty for floating point.
    """

    p: int | None
    d_osc: int | None
    width: int
    bits: float
    mode: str = ""


@dataclass(frozen=True, eq=False)
class Point:
    """One model, done one way.

    Attributes
    ----------
    way : {"softmax", "substrate", "digital"}
        Digital softmax, oscillators on a device, or the same model digitally.
    model : Bits
        What it is and how well it predicts as a digital model.
    device : str
        Where oscillators settle; empty for what is digital.
    system, attention : Ledger
        Joules per token; of the attention stage alone, without overheads.
    """

    way: Way
    model: Bits
    device: str
    system: Ledger
    attention: Ledger


class Equal(NamedTuple):
    """A family at the bits of one softmax model.

    Attributes
    ----------
    way, p : str, int
        The family.
    width, mode : int, str
        Of the softmax model. Beside one of few bits the family has 8 bits too.
    part : {"system", "attention"}
        What is compared.
    status : str
        ``"reached"``; ``"not reached"`` if no model of the family is as good;
        ``"all better"`` if every one is better.
    joules : float
        Nominal J per token; nan unless reached.
    ratio : Range or None
        Over the softmax model, paired draws: an assumption range.
    """

    way: Way
    p: int
    width: int
    part: Part
    status: str
    joules: float
    ratio: Range | None
    mode: str = ""


def read_bits(path: Path) -> tuple[Bits, ...]:
    """Read the bits of every model of a scaling study.

    Parameters
    ----------
    path : Path
        A table such as ``data/benchmarks/scaling-bytes.csv``.

    Raises
    ------
    DataError
        If the table cannot be read or holds no bits of a softmax model.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [r for r in csv.DictReader(file) if r["quantity"] == "bits_per_byte"]
        found = tuple(
            Bits(
                int(row["p"]) if row["p"] else None,
                int(row["d_osc"]) if row["d_osc"] else None,
                int(row["width"]),
                float(row["value"]),
            )
            for row in rows
        )
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a table of a scaling study: {error!r}"
        ) from None
    if not any(model.d_osc is None for model in found):
        raise DataError(f"{path} holds no bits_per_byte of a softmax model")
    return found


def on_data_paths(
    models: Sequence[Bits], measurements: Sequence[Measurement]
) -> tuple[Bits, ...]:
    """Return the bits of models on digital data paths of few bits.

    The loss measured beside floating point on the same windows, its mean over
    trainings, is added to the model's bits: softmax at ``"int8"`` and wherever
    there is a price, oscillators at ``"int8"``.

    Parameters
    ----------
    models : sequence of Bits
        From `read_bits`.
    measurements : sequence of Measurement
        Of trainings of these models.

    Raises
    ------
    DataError
        If one of them was not measured.
    """
    found = []
    for model, mode in product(models, ("int8", *PRICED_AS)):
        if model.d_osc is not None and mode in PRICED_AS:
            continue
        key = (model.p, model.d_osc, model.width, mode)
        lost = [
            one.difference
            for one in measurements
            if one.task == "bytes"
            and one.family != "transformer"
            and (one.p, one.d_osc, one.width, one.mode) == key
        ]
        if not lost:
            raise DataError(
                f"no training with p, d_osc, width {key[:3]} was measured at {mode}"
            )
        found.append(model._replace(bits=model.bits + float(np.mean(lost)), mode=mode))
    return tuple(found)


def price_models(
    models: Sequence[Bits],
    device: Device,
    *,
    node_nm: int | None = None,
    reuse: float = 1.0,
    n_draws: int = 4096,
) -> tuple[Point, ...]:
    """Price byte models as softmax, on a device, and digitally.

    Read-outs are not factored: the clamp acts in every trained model of the
    family with p = 1, and p = 4 does not factor.

    Parameters
    ----------
    models : sequence of Bits
        From `read_bits`.
    device : Device
        Where oscillators of every d_osc settle.
    node_nm, reuse, n_draws
        As `oscsim.bridge.estimate.estimate`.
    """
    library, found = Library.load(), []
    for model in models:
        shape = Shape(
            N_LAYERS,
            N_HEADS,
            model.width,
            FF_OVER_MODEL * model.width,
            model.d_osc or 2,
            [CONTEXT],
            True,
            "softplus",
            N_BYTES,
            model.p or 1,  # type: ignore[arg-type]
        )
        is_softmax = model.d_osc is None
        whole = estimate(
            shape,
            None if is_softmax else device,
            None if is_softmax else factoring("softplus", shape.power, clamps=True),
            title="",
            node_nm=node_nm,
            reuse=reuse,
            n_draws=n_draws,
            library=library,
        )
        named = {one.name: one for one in (*whole.rivals, *whole.subjects)}
        softmax = named[PRICED_AS.get(model.mode, "digital softmax")]
        ways: list[tuple[Way, Scenario]] = [("softmax", softmax)]
        if not is_softmax:
            ways = [("substrate", whole.subjects[0]), ("digital", whole.rivals[1])]
        for way, one in ways:
            stage = account(*attention_case(one.case), library, n_draws)
            where = device.name if way == "substrate" else ""
            found.append(Point(way, model, where, one.ledger, stage))
    return tuple(found)


def equal_accuracy(points: Sequence[Point]) -> tuple[Equal, ...]:
    """Return what each family costs at the bits of each softmax model.

    Between neighbouring models of a family the logarithm of the joules is
    linear in the bits, draw by draw; nothing is extrapolated. Softmax in floating
    point is compared with families in floating point, on a data path of few bits
    with families of 8 bits.
    """
    found = []
    softmax = [point for point in points if point.way == "softmax"]
    families = {(p.way, p.model.p) for p in points if p.way != "softmax"}
    parts: tuple[Part, ...] = ("system", "attention")
    for target in softmax:
        mode = "int8" if target.model.mode else ""
        for key in sorted(families, key=str):
            family = [
                o for o in points if (o.way, o.model.p, o.model.mode) == (*key, mode)
            ]
            if family:
                found += [_equal(family, target, part) for part in parts]
    return tuple(found)


def _equal(family: Sequence[Point], target: Point, part: Part) -> Equal:
    order = sorted(family, key=lambda point: point.model.bits)
    bits, wanted = [point.model.bits for point in order], target.model.bits
    status = "reached"
    if wanted < bits[0]:
        status = "not reached"
    elif wanted > bits[-1]:
        status = "all better"
    way, p, width = order[0].way, order[0].model.p or 1, target.model.width
    mode = target.model.mode
    if status != "reached":
        return Equal(way, p, width, part, status, math.nan, None, mode)
    ledgers = [getattr(point, part) for point in order]
    theirs: Ledger = getattr(target, part)
    nominal = np.array([ledger.nominal_j() for ledger in ledgers])[:, None]
    drawn = np.array([ledger.draws["system"] for ledger in ledgers])
    joules = float(_between(bits, nominal, wanted)[0])
    ratio = _between(bits, drawn, wanted) / theirs.draws["system"]
    p10, p50, p90 = np.quantile(ratio, [0.1, 0.5, 0.9])
    spread = Range(float(p10), float(p50), float(p90))
    return Equal(way, p, width, part, status, joules, spread, mode)


def _between(bits: Sequence[float], joules: FloatArray, wanted: float) -> FloatArray:
    upper = min(max(1, int(np.searchsorted(bits, wanted))), len(bits) - 1)
    if upper == 0:
        only: FloatArray = joules[0]
        return only
    share = (wanted - bits[upper - 1]) / (bits[upper] - bits[upper - 1])
    log = (1 - share) * np.log(joules[upper - 1]) + share * np.log(joules[upper])
    result: FloatArray = np.exp(log)
    return result
