"""Where the data that ships with the package lies."""

from importlib.resources import files
from pathlib import Path


def data_folder(kind: str) -> Path:
    """Return the folder of one kind of bundled data.

    An installed wheel carries the data inside the package; a checkout keeps
    them in ``data/`` beside it.

    Parameters
    ----------
    kind : str
        ``"devices"``, ``"energy"``, ``"datasets"`` or ``"benchmarks"``, of which
        a wheel has what the package itself reads.
    """
    package = Path(str(files("oscsim")))
    installed = package / "data" / kind
    return installed if installed.is_dir() else package.parent / "data" / kind


def circuit_folder() -> Path:
    """Return the folder of the netlists that ship.

    An installed wheel carries them as data; a checkout keeps them in
    ``circuits/``.
    """
    package = Path(str(files("oscsim")))
    installed = package / "data" / "circuits"
    return installed if installed.is_dir() else package.parent / "circuits"
