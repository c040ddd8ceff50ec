"""How well trained models do at the precision that is priced, as measured."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from oscsim.bundled import data_folder
from oscsim.errors import DataError

MOST_LOST: Mapping[str, float] = {
    "bits_per_byte": 0.02,
    "hard_accuracy": 0.01,
    "accuracy": 0.01,
}
"""What a data path may lose and still count as equally accurate; a choice."""
UNEQUAL = "not at equal accuracy"
UNITS = {"bits_per_byte": "bits per byte", "hard_accuracy": "% of hard sentences"}
ITEMS = {"bits_per_byte": "windows", "hard_accuracy": "sentences"}


class Measurement(NamedTuple):
    """One training of a model on one digital data path.

    Attributes
    ----------
    checkpoint, sha256 : str
        Its folder, and the digest of its weights and configuration.
    family, task : str
        ``"oscillator"``, ``"softmax"`` or ``"transformer"``; the task.
    p, d_osc : int or None
        Of oscillators.
    width, heads, layers : int
        Sizes.
    mode : str
        ``"int8"``, ``"int6"``, ``"int4"``, with ``"-table"`` if the exponential
        of the softmax comes from a table.
    metric, items : str, int
        What the values are, and over how many windows, sentences or clips.
    value, floating, difference, low95, high95 : float
        As `oscsim.study.quantised.Quality`.
    """

    checkpoint: str
    sha256: str
    family: str
    task: str
    p: int | None
    d_osc: int | None
    width: int
    heads: int
    layers: int
    mode: str
    metric: str
    items: int
    value: float
    floating: float
    difference: float
    low95: float
    high95: float

    @property
    def sizes(self) -> tuple[str, int, int, int]:
        """What a model and its softmax twin have in common."""
        return self.task, self.width, self.heads, self.layers


@dataclass(frozen=True)
class Accuracies:
    """What is known of the rivals of one model, in words.

    Attributes
    ----------
    twin, own : mapping of str to str
        Of its softmax twin and of itself on a digital data path, by mode.
    unknown : str
        Said of everything else.
    """

    twin: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    own: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unknown: str = "accuracy not measured"

    def of_twin(self, mode: str) -> str:
        """Return what is known of the twin."""
        return self.twin.get(mode, self.unknown)

    def of_itself(self, mode: str) -> str:
        """Return what is known of the same model."""
        return self.own.get(mode, self.unknown)


NOT_MEASURED = Accuracies()
NO_WEIGHTS = Accuracies(unknown="no weights, accuracy unknown")


def read_measurements(path: Path | None = None) -> tuple[Measurement, ...]:
    """Read a table of models on digital data paths.

    Parameters
    ----------
    path : Path, optional
        By default the bundled table, ``data/benchmarks/quantised.csv``.

    Raises
    ------
    DataError
        If it cannot be read or a row is malformed.
    """
    path = data_folder("benchmarks") / "quantised.csv" if path is None else path
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return tuple(_measurement(row) for row in csv.DictReader(file))
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a table of measured data paths: {error!r}"
        ) from None


def _measurement(row: Mapping[str, str]) -> Measurement:
    power, d_osc = (int(row[name]) if row[name] else None for name in ("p", "d_osc"))
    return Measurement(
        checkpoint=row["checkpoint"],
        sha256=row["sha256"],
        family=row["family"],
        task=row["task"],
        p=power,
        d_osc=d_osc,
        width=int(row["width"]),
        heads=int(row["heads"]),
        layers=int(row["layers"]),
        mode=row["mode"],
        metric=row["metric"],
        items=int(row["items"]),
        value=float(row["value"]),
        floating=float(row["floating"]),
        difference=float(row["difference"]),
        low95=float(row["low95"]),
        high95=float(row["high95"]),
    )


def accuracies_of(
    sha256: str, measurements: Sequence[Measurement] | None = None
) -> Accuracies:
    """Return what was measured of a checkpoint and of its softmax twin.

    The twin has its task, width, heads and layers; all its trainings count.
    A softmax model is its own twin, and then only that training counts.

    Parameters
    ----------
    sha256 : str
        Digest of the checkpoint's weights and configuration.
    measurements : sequence of Measurement, optional
        By default those that are bundled.
    """
    rows = read_measurements() if measurements is None else measurements
    own = [row for row in rows if row.sha256 == sha256]
    if not own:
        return NOT_MEASURED
    if own[0].family == "oscillator":
        twin = [r for r in rows if (r.family, *r.sizes) == ("softmax", *own[0].sizes)]
        return Accuracies(_by_mode(twin), _by_mode(own))
    return Accuracies(_by_mode(own), {})


def _by_mode(rows: Sequence[Measurement]) -> dict[str, str]:
    modes = dict.fromkeys(row.mode for row in rows)
    return {mode: said([r for r in rows if r.mode == mode]) for mode in modes}


def said(rows: Sequence[Measurement]) -> str:
    """Return what trainings of one model reach on one data path, and lose.

    Parameters
    ----------
    rows : sequence of Measurement
        At least one; of one mode and one metric.
    """
    first, n = rows[0], len(rows)
    lost = sum(row.difference for row in rows) / n
    scale, form = (1.0, ".3f") if first.metric == "bits_per_byte" else (100.0, ".1f")
    value = scale * sum(row.value for row in rows) / n
    if n == 1 and first.low95 == first.high95:
        spread = "none decided otherwise"
    elif n == 1:
        spread = f"95 % interval {scale * first.low95:+{form}} to "
        spread += f"{scale * first.high95:+{form}}"
    else:
        ends = [scale * row.difference for row in rows]
        spread = f"{n} trainings, {min(ends):+{form}} to {max(ends):+{form}}"
    text = (
        f"{value:{form}} {UNITS.get(first.metric, '% of clips')}, "
        f"{scale * lost:+{form}} on floating point ({spread}; {first.items:,} "
        f"{ITEMS.get(first.metric, 'clips')})"
    )
    most = MOST_LOST[first.metric]
    if lost * (1 if first.metric == "bits_per_byte" else -1) > most:
        text += f": {UNEQUAL} (loses more than {scale * most:g})"
    return text
