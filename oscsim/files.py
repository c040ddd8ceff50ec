"""Writing files that are whole or not there at all."""

import os
import tempfile
from pathlib import Path

from oscsim.errors import SpecError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in full under another name, then give it its own.

    A reader, or a crash, meets the old file or the new one, never half of it.

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
            stream.write(content)
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
