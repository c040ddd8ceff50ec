"""Device descriptions as files and plain data."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from oscsim.bundled import data_folder
from oscsim.errors import DeviceError


def presets() -> tuple[str, ...]:
    """Return the names of the devices that ship with the package."""
    return tuple(sorted(path.stem for path in data_folder("devices").glob("*.toml")))


def read_toml(name: str | Path) -> tuple[Path, dict[str, Any]]:
    """Return the path and the content of a preset, or of a file ending in .toml.

    Parameters
    ----------
    name : str or Path
        Name of a preset, or a path.

    Raises
    ------
    DeviceError
        If there is no such preset or file, or it is not TOML.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = data_folder("devices") / f"{name}.toml"
        if not path.is_file():
            raise DeviceError(
                f"no device {str(name)!r}: one of {', '.join(presets())}, "
                "or a path ending in .toml"
            )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DeviceError(f"device file {path} does not exist") from None
    except tomllib.TOMLDecodeError as error:
        raise DeviceError(f"device file {path} is not TOML: {error}") from None
    except (OSError, ValueError) as error:
        raise DeviceError(f"device file {path} cannot be read: {error}") from None
    return path, content


def split_provenance(
    content: Mapping[str, Any], where: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of the fields, and where they come from.

    Parameters
    ----------
    content : mapping
        A number stands alone or as a table with ``value`` and its provenance.
    where : str
        Named in the error.

    Raises
    ------
    DeviceError
        If ``provenance`` is not a table.
    """
    fields: dict[str, Any] = {}
    provenance = content.get("provenance", {})
    if not isinstance(provenance, Mapping):
        raise DeviceError(
            f"{where}: provenance must be a table of fields, got {provenance!r}"
        )
    provenance = dict(provenance)
    for key, entry in content.items():
        if key == "provenance":
            continue
        value = entry
        if isinstance(entry, Mapping) and "value" in entry:
            value = entry["value"]
            provenance[key] = {k: v for k, v in entry.items() if k != "value"}
        fields[key] = value.item() if isinstance(value, np.generic) else value
    return fields, provenance


def first_problem(error: ValidationError, known: Iterable[str]) -> str:
    """Return one line on the first key or value that is wrong.

    Parameters
    ----------
    error : ValidationError
        What pydantic found.
    known : iterable of str
        Keys that exist.
    """
    detail = error.errors()[0]
    where = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        keys = f"; known keys: {', '.join(known)}"
        return f"unknown key {where!r}" + (keys if len(detail["loc"]) == 1 else "")
    message = detail["msg"].removeprefix("Value error, ")
    if not where:
        return message
    value = detail["input"]
    shown = "" if isinstance(value, Mapping) else f", got {value!r}"
    return f"{where}: {message[0].lower()}{message[1:]}{shown}"
