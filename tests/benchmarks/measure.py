"""Alternated timing: every contender in turn, wall and CPU time, error, load."""

import math
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

REST = 0.05
"""Seconds between two contenders: longer than idle BLAS threads spin."""


class MissingPeerError(Exception):
    """A peer that is not installed or does not work here."""


@dataclass(frozen=True)
class Contender:
    """One way to do the work of a row.

    Attributes
    ----------
    name, library : str
        What is run, and the distribution whose version is reported.
    run : callable
        Does the work once and returns the final state.
    units : float
        Steps (or trajectory-steps) that one run does.
    error : callable
        Error of such a final state against the reference.
    dtype : str
        Precision of the arithmetic.
    family : str
        Peers of one family compete for one target: its fastest counts.
    extra : dict
        Anything else that belongs in the row.
    """

    name: str
    library: str
    run: Callable[[], Any]
    units: float
    error: Callable[[Any], float] | None = None
    dtype: str = "float64"
    family: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Missing:
    """A contender that could not be made, and why."""

    name: str
    library: str
    reason: str
    family: str = ""


def attempt(
    name: str, library: str, make: Callable[[], Contender], family: str = ""
) -> Contender | Missing:
    """Return the contender, or why there is none; a peer may fail in any way."""
    try:
        return make()
    except (Exception, SystemExit) as error:
        return Missing(name, library, reason_of(error), family)


def reason_of(error: BaseException) -> str:
    """Return one line that says what went wrong."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:240]


def alternate(
    row: str, contenders: Iterable[Contender | Missing], repeats: int, **sizes: int
) -> list[dict[str, Any]]:
    """Time all contenders in turn, ``repeats`` rounds, and return the rows.

    The first, untimed call of each compiles what there is to compile and gives
    the state whose error is stated. ``sizes`` are written into every row.
    """
    rows: list[dict[str, Any]] = []
    ready: list[tuple[Contender, dict[str, Any]]] = []
    for contender in contenders:
        if isinstance(contender, Missing):
            rows.append(_missing(row, contender))
            continue
        try:
            entry = _first_call(row, contender)
        except Exception as error:
            gone = Missing(
                contender.name, contender.library, reason_of(error), contender.family
            )
            rows.append(_missing(row, gone))
            continue
        ready.append((contender, entry))
        rows.append(entry)
    watch = LoadWatch()
    for _ in range(repeats):
        for contender, entry in ready:
            time.sleep(REST)
            cpu, wall = time.process_time(), time.perf_counter()
            contender.run()
            entry["wall_s"].append(time.perf_counter() - wall)
            entry["cpu_s"].append(time.process_time() - cpu)
    load = watch.read()
    for contender, entry in ready:
        entry["wall_per_unit_s"] = statistics.median(entry["wall_s"]) / contender.units
        entry["cpu_per_unit_s"] = min(entry["cpu_s"]) / contender.units
        entry["load"] = load
        entry.update(sizes)
    return rows


def _first_call(row: str, contender: Contender) -> dict[str, Any]:
    wall = time.perf_counter()
    state = contender.run()
    first = time.perf_counter() - wall
    error = contender.error(state) if contender.error is not None else None
    return {
        "row": row,
        "contender": contender.name,
        "library": contender.library,
        "version": version_of(contender.library),
        "family": contender.family,
        "dtype": contender.dtype,
        "units": contender.units,
        "error": error if error is None or math.isfinite(error) else str(error),
        "first_call_s": first,
        "wall_s": [],
        "cpu_s": [],
        **contender.extra,
    }


def _missing(row: str, gone: Missing) -> dict[str, Any]:
    return {
        "row": row,
        "contender": gone.name,
        "library": gone.library,
        "family": gone.family,
        "missing": gone.reason,
    }


def version_of(library: str) -> str:
    """Return the installed version of a distribution."""
    if library == "oscsim":
        import oscsim

        return oscsim.__version__
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


class LoadWatch:
    """How busy the machine was with other processes, in processors."""

    def __init__(self) -> None:
        self.before = self._now()

    def read(self) -> dict[str, float | None]:
        """Return load average and processors used by others since the start."""
        after = self._now()
        elapsed = after[0] - self.before[0]
        others = None
        if after[2] is not None and self.before[2] is not None and elapsed > 0:
            own = after[1] - self.before[1]
            others = max(0.0, (after[2] - self.before[2] - own) / elapsed)
        return {"average_1min": os.getloadavg()[0], "others_processors": others}

    @staticmethod
    def _now() -> tuple[float, float, float | None]:
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        stat = Path("/proc/stat")
        busy = None
        if stat.is_file():
            ticks = [int(k) for k in stat.read_text().split("\n", 1)[0].split()[1:9]]
            user, nice, system, _idle, _wait, irq, soft, _steal = ticks
            busy = (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), own, busy


def largest_difference(expected: Any) -> Callable[[Any], float]:
    """Return a function that gives the largest absolute error of a state."""
    expected = np.asarray(expected, dtype=np.float64)

    def error(state: Any) -> float:
        found = np.asarray(state, dtype=np.float64).reshape(expected.shape)
        return float(np.abs(found - expected).max())

    return error
