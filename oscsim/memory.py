"""How much memory is left to this process, and refusing what cannot fit."""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from oscsim.errors import SpecError

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_UNLIMITED = 2.0**60


def free_memory() -> float:
    """Return how many bytes this process may still take.

    The least of what the machine has available, what the limits of the process
    (``ulimit -v``, ``ulimit -d``) leave, and what its control groups leave.
    What cannot be read does not limit.

    Returns
    -------
    float
        Bytes, at most the size of the address space.
    """
    limits = [float(sys.maxsize), _available(), *_process_limits(), *_group_limits()]
    return max(0.0, min(limits))


def require_memory(what: str, n_bytes: float, instead: str = "") -> None:
    """Refuse to begin what cannot fit.

    Parameters
    ----------
    what : str
        What the memory is for; begins the sentence.
    n_bytes : float
        What it will take; a whole number of any size.
    instead : str
        What to do about it; ends the sentence.

    Raises
    ------
    SpecError
        If that is more than the memory that is free.
    """
    free = free_memory()
    if n_bytes > free:
        needed = f"{n_bytes / 1e9:.3g}" if n_bytes < sys.maxsize else "over 1e9"
        advice = f": {instead}" if instead else ""
        raise SpecError(
            f"{what} needs {needed} GB of memory and {free / 1e9:.3g} GB are free"
            f"{advice}"
        )


def _available() -> float:
    found = _fields(_PROC / "meminfo").get("MemAvailable:")
    if found is not None:
        return 1024.0 * found
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _process_limits() -> Iterator[float]:
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    for limit, name in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "")):
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY:
            used = _fields(_PROC / "self" / "status")
            yield allowed - 1024.0 * used.get(name or "VmData:", 0.0)


def _group_limits() -> Iterator[float]:
    """Yield what each control group of the process leaves, its parents included.

    Inside a container the path that the kernel names may not be visible; the
    top of the tree is then the container's own group.
    """
    for line in _text(_PROC / "self" / "cgroup").splitlines():
        _, kinds, path = [*line.split(":", 2), "", ""][:3]
        if kinds == "":
            top, names = _CGROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            top = _CGROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "")
        else:
            continue
        folder = top / path.lstrip("/")
        for group in (folder, *folder.parents):
            if group == top.parent:
                break
            yield _left_in(group, *names)


def _left_in(group: Path, limit: str, usage: str, cache: str) -> float:
    try:
        allowed = float(_text(group / limit))
        if allowed > _UNLIMITED:
            return math.inf
        used = float(_text(group / usage))
    except ValueError:  # absent, or "max"
        return math.inf
    # pages of files count as used, and are given back when memory is short
    cached = _fields(group / "memory.stat").get(cache or "total_inactive_file", 0.0)
    return allowed - used + cached


def _fields(path: Path) -> dict[str, float]:
    """Return the second word of every line as a number, by the first."""
    words = (line.split() for line in _text(path).splitlines())
    return {
        found[0]: float(found[1])
        for found in words
        if len(found) > 1 and found[1].isdigit()
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
