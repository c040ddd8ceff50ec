"""The one numba decorator of the package."""

import hashlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import numba

F = TypeVar("F", bound=Callable[..., object])

# Everything but nnan and ninf: those would delete the checks for NaN and inf.
FASTMATH = frozenset({"contract", "nsz", "arcp", "reassoc"})

# For an overload that only calls another function: no call of its own.
FORWARDED: Any = {"forceinline": True}


def _source_digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_dir() -> str:
    root = os.environ.get("OSCSIM_CACHE_DIR")
    base = Path(root) if root else Path.home() / ".cache" / "oscsim"
    checked = getattr(numba.config, "BOUNDSCHECK", None)
    mode = "boundscheck" if checked else "plain"
    return str(base / f"{_source_digest()}-{mode}")


_CACHE_DIR = _cache_dir()


@overload
def kernel(fn: F) -> F: ...


@overload
def kernel(
    *,
    reassociate: bool = True,
    allocates: bool = True,
    parallel: bool = False,
    inlined: bool = False,
) -> Callable[[F], F]: ...


def kernel(
    fn: F | None = None,
    *,
    reassociate: bool = True,
    allocates: bool = True,
    parallel: bool = False,
    inlined: bool = False,
) -> F | Callable[[F], F]:
    """Compile ``fn`` with the package's fixed options.

    Division by zero gives inf as in numpy, the GIL is released, and sums may
    be reordered but NaN and inf keep their meaning. The compiled code is
    cached in the user's own folder under a digest of all package sources:
    numba's own stamp looks at the caller's file only and would keep a stale
    callee. Processes may compile and read at once.

    Parameters
    ----------
    fn : callable, optional
        The function, when used without options.
    reassociate : bool
        Whether sums and products may be regrouped; a reduction in several
        parts, as of an angle by pi/2, must not be.
    allocates : bool
        Whether arrays are made or returned. One that only fills the arrays it is
        given counts no references to them, which costs as much as a short loop.
    parallel : bool
        Whether ``prange`` loops use threads; only for independent rows.
    inlined : bool
        Whether callers contain a copy. An array is passed as eight words, which
        costs more than a loop over one small network; and a loop that calls a
        function of numbers cannot use vectors.
    """
    if fn is None:
        return lambda given: _compile(given, reassociate, allocates, parallel, inlined)
    return _compile(fn, reassociate, allocates, parallel, inlined)


def _compile(
    fn: F, reassociate: bool, allocates: bool, parallel: bool, inlined: bool
) -> F:
    flags = set(FASTMATH) if reassociate else set(FASTMATH) - {"reassoc"}
    config: Any = numba.config
    previous, config.CACHE_DIR = config.CACHE_DIR, _CACHE_DIR
    try:
        options: dict[str, Any] = {
            "error_model": "numpy",
            "nogil": True,
            "cache": True,
            "no_cfunc_wrapper": True,
            "fastmath": flags,
            "parallel": parallel,
            "_nrt": allocates,
            "forceinline": inlined,
        }
        jitted = numba.njit(**options)(fn)
    finally:
        config.CACHE_DIR = previous
    _name_files_apart(jitted)
    return cast(F, jitted)


def _name_files_apart(jitted: Any) -> None:
    """Name the files of compiled code differently in every process.

    numba numbers the signatures of a function: two processes that compile two of
    them at once take the same number, and the code of one may end up under the
    other's signature. With names of their own the worst is code compiled twice.
    """
    files = getattr(getattr(jitted, "_cache", None), "_cache_file", None)
    if files is not None:
        own = f".{uuid.uuid4().hex[:12]}.{{number"
        files._data_name_pattern = files._data_name_pattern.replace(".{number", own)
