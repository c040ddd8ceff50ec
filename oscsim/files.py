"""Writing files that are whole or not there at all."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from oscsim.errors import SpecError


def write_whole(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file in full under another name, then give it its own.

    A reader, or a crash, meets the old file or the new one, never half of it.

    Parameters
    ----------
    path : Path
        Its name; the folder is made if needed.
    content : bytes or callable
        What is in it, or what writes that to a stream: for contents too large
        to hold a second time.

    Raises
    ------
    SpecError
        If the folder cannot be made or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        reason = error.strerror or error
        raise SpecError(
            f"cannot write {path}: {reason}; choose another folder"
        ) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            if isinstance(content, bytes):
                stream.write(content)
            else:
                content(stream)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        reason = error.strerror or error
        raise SpecError(
            f"cannot write {path}: {reason}; choose another folder"
        ) from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_set(
    folder: Path, contents: Mapping[str, bytes], *, stale: Iterable[Path] = ()
) -> list[Path]:
    """Write files that belong together, and remove what an earlier set left.

    Parameters
    ----------
    folder : Path
        Where; it is made if needed.
    contents : mapping of str to bytes
        Files by name.
    stale : iterable of Path
        Files of earlier sets; those that this set has not are removed.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    SpecError
        If a file cannot be written. A folder in the place of one is found before
        anything is written.
    """
    files = [folder / name for name in contents]
    require_files(files)
    for file, content in zip(files, contents.values(), strict=True):
        write_whole(file, content)
    for old in set(stale) - set(files):
        old.unlink(missing_ok=True)
    return files


def require_files(files: Iterable[Path]) -> None:
    """Check before the work that no folder is where a file will be written.

    Raises
    ------
    SpecError
        Naming the folder.
    """
    for file in files:
        if file.is_dir():
            raise SpecError(f"cannot write {file}: it is a folder; remove it")
