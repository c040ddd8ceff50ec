"""Small sweeps: the smallest model on a few of its sentences."""

import json
import sqlite3
from functools import cache
from pathlib import Path

from oscsim.design.run import Prepared, prepare
from oscsim.design.spec import parse_spec

DATA = Path(__file__).parents[2] / "data"
CHECKPOINT = str(DATA / "checkpoints" / "sva-osc-d2-s0")
SENTENCES = DATA / "datasets" / "sva" / "validation.jsonl"
RESULTS = (
    "digest, chip, value, clipped, zeroed, undriven, unsettled, joules_p10, "
    "joules_p50, joules_p90, latency, failure"
)


def content(**changed):
    """What a specification file would hold."""
    plain = {
        "name": "small",
        "checkpoints": [CHECKPOINT],
        "chips": 2,
        "axes": {"weight_bits": [3, 6], "coupling_mismatch": [0.0, 0.05]},
    }
    return {name: v for name, v in (plain | changed).items() if v is not None}


def spec(**changed):
    """A specification."""
    return parse_spec(content(**changed))


@cache
def few_sentences(folder: Path, n: int = 64) -> str:
    """A file of the first bundled sentences."""
    path = folder / f"sentences-{n}.jsonl"
    lines = SENTENCES.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:n]), encoding="utf-8")
    return str(path)


def small(folder: Path, **changed) -> Prepared:
    """A prepared sweep over few sentences."""
    return prepare(spec(**{"data": few_sentences(folder)} | changed))


def spec_file(folder: Path, **changed) -> Path:
    """The same as a TOML file; values are TOML already in JSON."""
    path = folder / "small.toml"
    given = content(data=few_sentences(folder), **changed)
    axes = given.pop("axes")
    lines = [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    lines += ["[axes]", *(f'"{n}" = {json.dumps(v)}' for n, v in axes.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def everything(path):
    """Every result and item of a store, without the seconds they took."""
    connection = sqlite3.connect(path)
    try:
        results = connection.execute(
            f"SELECT {RESULTS} FROM results ORDER BY digest, chip"
        ).fetchall()
        items = connection.execute(
            "SELECT digest, chip, numbers FROM items ORDER BY digest, chip"
        ).fetchall()
    finally:
        connection.close()
    return results, items
