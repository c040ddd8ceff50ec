"""What every command of the command line reads and writes alike."""

import json
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from oscsim.errors import SpecError

if TYPE_CHECKING:
    from rich.console import Console


def assignments(texts: list[str] | None, option: str) -> dict[str, Any]:
    """Read NAME=VALUE pairs; a value is TOML, ``none``, or else plain text."""
    fields: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (equals and name):
            raise SpecError(f"{option} takes NAME=VALUE, got {text!r}")
        if name in fields:
            raise SpecError(f"{option}: {name} is given twice, last as {value!r}")
        if value.lower() == "none":
            fields[name] = None
            continue
        try:
            fields[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            fields[name] = _number_or_text(value)
    return fields


def _number_or_text(value: str) -> float | str:
    """Read what TOML does not, such as ``.5``."""
    try:
        return float(value)
    except ValueError:
        return value


def out_folder(text: str | None) -> Path | None:
    """Return the folder that --out names, None without one.

    Raises
    ------
    SpecError
        If the name is empty: it would mean the current folder.
    """
    if text is None:
        return None
    if not text.strip():
        raise SpecError(f"--out takes the name of a folder, got {text!r}")
    return Path(text)


@contextmanager
def writable(folder: Path | None) -> Iterator[None]:
    """Check before the work that results can be written; tidy up if it fails."""
    if folder is None:
        yield
        return
    made = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        str(folder).encode()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SpecError(
            f"cannot write into {folder}: {reason}; choose another folder"
        ) from None
    try:
        yield
    finally:
        for empty in made:
            with suppress(OSError):
                empty.rmdir()


@contextmanager
def progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar with the time left on a terminal, nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def console() -> "Console":
    """Return a console as wide as the terminal, or 120 columns in a pipe."""
    from rich.console import Console  # noqa: PLC0415

    # names and sources come from files: brackets in them are no markup
    return Console(width=None if sys.stdout.isatty() else 120, markup=False)


def print_json(content: Any) -> None:
    """Print one JSON object."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))
