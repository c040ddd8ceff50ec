"""Independent rows in pieces, shared out over Python threads.

Kernels release the GIL, so threads need no pool of the compiler's own; that pool
may not be entered from two threads at once.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba

# Starting and joining threads takes 0.1 to 0.3 ms, on a busy machine far more.
_WORTH_THREADS_S = 2e-3
_PIECES_PER_THREAD = 4
# Temporary numbers of so many rows come from memory that has been used before.
_MOST_ROWS = 8192
_WHOLE_BLOCKS = 64


def over_rows(work: Callable[[int, int], int], n_rows: int, estimate_s: float) -> int:
    """Call ``work`` on ranges of rows that together are all of them.

    Threads are used only from the main thread: another one belongs to somebody
    who has already spread theirs. Results must not depend on the ranges.

    Parameters
    ----------
    work : callable
        ``work(first, last)`` returns a row counted from ``first`` that it failed
        on, or -1.
    n_rows : int
        Rows in all.
    estimate_s : float
        Rough time of all rows on one thread (s): little is not worth a second.

    Returns
    -------
    int
        First row that failed, or -1.
    """
    n_threads = usable_threads() if estimate_s >= _WORTH_THREADS_S else 1
    n_blocks = -(-n_rows // _WHOLE_BLOCKS)
    n_pieces = max(1, -(-n_rows // _MOST_ROWS))
    if n_threads > 1:
        n_pieces = min(max(n_pieces, _PIECES_PER_THREAD * n_threads), n_blocks)
    edges = [n_blocks * k // n_pieces * _WHOLE_BLOCKS for k in range(n_pieces)]
    ends = [*edges[1:], n_rows]
    if n_threads > 1:
        with ThreadPoolExecutor(n_threads) as pool:
            failed = list(pool.map(work, edges, ends))
    else:
        failed = list(map(work, edges, ends))
    rows = [first + row for first, row in zip(edges, failed, strict=True) if row >= 0]
    return rows[0] if rows else -1


def usable_threads() -> int:
    """Return the threads a call from here may use: all of them, or one off main."""
    config: Any = numba.config
    is_main = threading.current_thread() is threading.main_thread()
    return int(config.NUMBA_NUM_THREADS) if is_main else 1
