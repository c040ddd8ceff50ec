"""The file in which ngspice leaves its waveforms, binary or as text."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oscsim.errors import SimulatorError, SpecError
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class Waveforms:
    """Waveforms of one transient analysis.

    Attributes
    ----------
    time : FloatArray, shape (n_points,)
        Times (s), in uneven steps.
    signals : dict of str to FloatArray
        Values of shape (n_points,) by lower-case name, e.g. ``"v(p0)"`` (V) or
        ``"i(vdd)"`` (A). A source that delivers has a negative current.
    """

    time: FloatArray
    signals: dict[str, FloatArray]

    def signal(self, name: str) -> FloatArray:
        """Return one waveform.

        Parameters
        ----------
        name : str
            Its name in any case.

        Raises
        ------
        SpecError
            If it was not saved.
        """
        try:
            return self.signals[name.lower()]
        except KeyError:
            known = ", ".join(self.signals)
            raise SpecError(f"no signal {name!r} was saved: one of {known}") from None


def read_raw(path: Path) -> Waveforms:
    """Read the first plot of an ngspice raw file.

    Parameters
    ----------
    path : Path
        The file, binary (float64) or text.

    Returns
    -------
    Waveforms

    Raises
    ------
    SimulatorError
        If the file is no raw file, holds no points or fewer than it says, is
        complex, or its first variable is not the time.
    """
    content = path.read_bytes()
    found = re.search(rb"^(Binary|Values):[ \t]*\r?\n", content, re.MULTILINE)
    if found is None:
        raise SimulatorError(f"{path.name} is no raw file of ngspice: no values in it")
    header = content[: found.start()].decode("latin1")
    names = _names(header, path.name)
    n_points = _number(header, "No. Points", path.name)
    if "complex" in _field(header, "Flags", path.name):
        raise SimulatorError(f"{path.name} holds complex values: run a .tran analysis")
    if n_points == 0:
        raise SimulatorError(f"{path.name} holds 0 points: the analysis did not start")
    body = content[found.end() :]
    read = _binary if found.group(1) == b"Binary" else _text
    table = read(body, n_points, len(names))
    if table is None:
        raise SimulatorError(
            f"{path.name} ends before the {n_points} points of {len(names)} variables "
            "that it announces"
        )
    if names[0] != "time":
        raise SimulatorError(
            f"{path.name} has {names[0]!r} as its first variable: run a .tran analysis"
        )
    columns = table.T.copy()
    return Waveforms(columns[0], dict(zip(names[1:], columns[1:], strict=True)))


def _binary(body: bytes, n_points: int, n_names: int) -> FloatArray | None:
    size = 8 * n_points * n_names
    if len(body) < size:
        return None
    return np.frombuffer(body[:size], dtype="<f8").reshape(n_points, n_names)


def _text(body: bytes, n_points: int, n_names: int) -> FloatArray | None:
    """Every point is its number and then a value of each variable."""
    words = body.split()[: n_points * (n_names + 1)]
    if len(words) < n_points * (n_names + 1):
        return None
    return np.array(words, dtype=float).reshape(n_points, n_names + 1)[:, 1:]


def _names(header: str, file: str) -> list[str]:
    """Return the variables in order, in lower case."""
    _, _, listed = header.partition("Variables:\n")
    names = [line.split()[1].lower() for line in listed.splitlines() if line.strip()]
    announced = _number(header, "No. Variables", file)
    if len(names) != announced:
        raise SimulatorError(
            f"{file} announces {announced} variables and lists {len(names)}"
        )
    return names


def _number(header: str, name: str, file: str) -> int:
    return int(_field(header, name, file))


def _field(header: str, name: str, file: str) -> str:
    found = re.search(rf"^{re.escape(name)}:\s*(\S.*)$", header, re.MULTILINE)
    if found is None:
        raise SimulatorError(f"{file} is no raw file of ngspice: it has no {name!r}")
    return found.group(1)
