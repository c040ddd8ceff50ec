"""The libraries whose versions determine the bits of a result."""

from importlib.metadata import version

LIBRARIES = ("oscsim", "numpy", "scipy", "numba")


def library_versions() -> dict[str, str]:
    """Return the version of each of them."""
    return {name: version(name) for name in LIBRARIES}
