"""Which checkpoints of a sweep are one model of several d_osc and trainings."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from oscsim.design.table import SweepTable
from oscsim.design.training import SHARED

OWN = ("d_osc", "attention", "p", "coupling", "mask_readout")
"""Parts of a configuration that an oscillator model does not share with its twin."""


@dataclass(frozen=True)
class Family:
    """Checkpoints that differ in d_osc and in the seed of their training only.

    Attributes
    ----------
    name : str
        Unlike that of the other families of the sweep.
    p, width : int or None
        Exponent of the read-out, and d_model.
    members : dict of int to tuple of str
        Names of the trainings by d_osc, rising.
    twins : tuple of str
        Trainings of the model without oscillators of the same size.
    repeated : tuple of str
        Checkpoints that were left out: another one has their d_osc and seed.
    """

    name: str
    p: int | None
    width: int | None
    members: Mapping[int, tuple[str, ...]]
    twins: tuple[str, ...]
    repeated: tuple[str, ...]

    @property
    def has_trainings(self) -> bool:
        """Whether some d_osc has several trainings."""
        return any(len(names) > 1 for names in self.members.values())


def families(table: SweepTable) -> tuple[Family, ...]:
    """Return the families of a sweep that have two d_osc or more.

    Members share their whole configuration but d_osc, the items, and what
    `oscsim.design.training.training_of` says but the seed; twins the configuration
    but what makes it oscillate. Trainings of which nothing says the seed are told
    apart by their weights.

    Parameters
    ----------
    table : SweepTable
        Names its checkpoints and says what they are.
    """
    groups: dict[str, list[str]] = {}
    for name, about in table.subjects.items():
        if not about["is_twin"] and table.d_osc(name) is not None:
            groups.setdefault(_shared(about, ("d_osc",)), []).append(name)
    found = []
    for names in groups.values():
        kept, repeated = _trainings(table, names)
        dimensions = sorted({_dimension(table, name) for name in kept})
        if len(dimensions) < 2:
            continue
        about = table.subjects[names[0]]
        like = _shared(about, OWN)
        twins, again = _trainings(
            table,
            [
                other
                for other, one in table.subjects.items()
                if one["is_twin"] and _shared(one, OWN) == like
            ],
        )
        found.append(
            Family(
                name="",
                p=about["config"].get("p"),
                width=about["config"].get("d_model"),
                members={
                    d: tuple(n for n in kept if table.d_osc(n) == d) for d in dimensions
                },
                twins=tuple(twins),
                repeated=(*repeated, *again),
            )
        )
    return tuple(_named(found))


def _dimension(table: SweepTable, name: str) -> int:
    return table.d_osc(name) or 0


def _shared(about: Mapping[str, Any], left_out: Iterable[str]) -> str:
    """Return what a member shares with the others, as text to compare."""
    gone = set(left_out)
    config = {
        name: value
        for name, value in about["config"].items()
        # What is not there and what is None are the same.
        if name not in gone and value is not None
    }
    training = about.get("training") or {}
    data = {name: about.get(name) for name in ("metric", "items", "data_sha256")}
    shared = {name: training.get(name) for name in SHARED}
    return json.dumps([config, shared, data], sort_keys=True)


def _trainings(
    table: SweepTable, names: Iterable[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return one checkpoint of every training, and those that repeat one."""
    seen: dict[tuple[int, Any], str] = {}
    repeated = []
    for name in names:
        about = table.subjects[name]
        training = about.get("training") or {}
        which = training.get("seed", about.get("sha256", name))
        key = (_dimension(table, name), which)
        if key in seen:
            repeated.append(name)
        seen.setdefault(key, name)
    return list(seen.values()), tuple(repeated)


def _named(found: list[Family]) -> Iterable[Family]:
    """Give families names that tell them apart, as short as they may be."""
    names = [_short(one) for one in found]
    if len(set(names)) < len(names):
        names = [f"{_short(one)}, width {one.width}" for one in found]
    for number, (name, one) in enumerate(zip(names, found, strict=True)):
        alone = names.count(name) == 1
        said = name if alone else f"{name}, family {number + 1}"
        yield Family(**{**one.__dict__, "name": said})


def _short(one: Family) -> str:
    return "oscillators" if one.p is None else f"p = {one.p}"
