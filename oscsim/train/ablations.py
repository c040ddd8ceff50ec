"""The table of Kuramoto attention with one switch turned at a time."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from oscsim.errors import SpecError
from oscsim.files import write_whole

BASE = "base"


@dataclass(frozen=True)
class Variant:
    """What is changed of the model that ships, and what was published about it.

    Attributes
    ----------
    name : str
        As in the table.
    switches : mapping
        Fields of `oscsim.models.kuramoto_config.KuramotoConfig`.
    published : float or None
        Bits per character more than the published base: 1 million parameters,
        enwik8 characters, the full published budget [1]_.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585, ablations.
    """

    name: str
    switches: Mapping[str, Any] = field(default_factory=dict)
    published: float | None = None


VARIANTS = (
    Variant(BASE),
    Variant("value-linear", {"value": "linear"}, 0.25),
    Variant("no-ffn", {"ffn": "off"}, 0.27),
    Variant("no-gates", {"gates": False}, 0.09),
    Variant("omega-zero", {"omega": "zero"}),
    Variant("bound-norm", {"bound": "norm"}),
    Variant("unwrapped", {"phase_convention": "unwrapped"}),
    Variant("one-head", {"n_heads": 1}),
    Variant("flow", {"update": "flow"}),
)
"""The base first: the others are said by their difference from it."""


class Budget(NamedTuple):
    """What all variants of one table have in common.

    Attributes
    ----------
    tokens : int
        Bytes seen.
    seed : int
        Of initialisation and windows.
    learning_rate : float
        Peak rate.
    n_osc, layers : int
        Size of the model.
    """

    tokens: int
    seed: int
    learning_rate: float
    n_osc: int
    layers: int


class Ablation(NamedTuple):
    """One row.

    Attributes
    ----------
    variant : str
        Name.
    parameters : int
        Trained numbers; they differ between variants.
    validation_bits, test_bits : float
        Bits per byte on the first 256 KiB of the two splits.
    budget : Budget
        Shared by all rows.
    commit : str
        Of the sources that trained it.
    """

    variant: str
    parameters: int
    validation_bits: float
    test_bits: float
    budget: Budget
    commit: str


COLUMNS = (
    "variant",
    "parameters",
    "validation_bits",
    "test_bits",
    "validation_minus_base",
    "test_minus_base",
    "published_minus_base_bpc",
    *Budget._fields,
    "commit",
)


def write_table(path: Path, rows: Sequence[Ablation]) -> None:
    """Write the rows in full, with differences and what was published.

    Parameters
    ----------
    path : Path
        A ``.csv``.
    rows : sequence of Ablation
        The base first.
    """
    published = {variant.name: variant.published for variant in VARIANTS}
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow(
            (
                row.variant,
                row.parameters,
                row.validation_bits,
                row.test_bits,
                row.validation_bits - rows[0].validation_bits,
                row.test_bits - rows[0].test_bits,
                published[row.variant],
                *row.budget,
                row.commit,
            )
        )
    write_whole(path, text.getvalue().encode())


def read_table(path: Path, budget: Budget) -> list[Ablation]:
    """Return the rows that are done, none if there is no file.

    Raises
    ------
    SpecError
        If the file is no such table, or its rows had another budget.
    """
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            found = csv.DictReader(file, strict=True)
            if tuple(found.fieldnames or ()) != COLUMNS:
                raise ValueError
            rows = [_parsed(row) for row in found]
    except (OSError, KeyError, ValueError, TypeError, csv.Error):
        raise SpecError(
            f"{path} is no table of ablations: give --out another name"
        ) from None
    known = [variant.name for variant in VARIANTS[: len(rows)]]
    if [row.variant for row in rows] != known:
        raise SpecError(
            f"{path} holds {', '.join(row.variant for row in rows)}: not the first "
            "variants in their order; give --out another name"
        )
    for row in rows:
        if row.budget != budget:
            raise SpecError(
                f"{path} holds {row.variant} at {row.budget}, asked for was {budget}: "
                "give --out another name"
            )
    return rows


def _parsed(row: Mapping[str, str]) -> Ablation:
    return Ablation(
        variant=row["variant"],
        parameters=int(row["parameters"]),
        validation_bits=float(row["validation_bits"]),
        test_bits=float(row["test_bits"]),
        budget=Budget(
            int(row["tokens"]),
            int(row["seed"]),
            float(row["learning_rate"]),
            int(row["n_osc"]),
            int(row["layers"]),
        ),
        commit=row["commit"],
    )
