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
        ``"devices"``, ``"energy"`` or ``"datasets"``.
    """
    package = Path(str(files("oscsim")))
    installed = package / "data" / kind
    return installed if installed.is_dir() else package.parent / "data" / kind
