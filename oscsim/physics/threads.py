"""Independent rows shared out over Python threads.

Kernels release the GIL, so threads need no pool of the compiler's own; that pool
may not be entered from two threads at once.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba

# Starting and joining the threads takes 0.1 to 0.3 ms.
_WORTH_THREADS_S = 1e-3
_PIECES_PER_THREAD = 4
_WHOLE_BLOCKS = 64


def over_rows(work: Callable[[int, int], int], n_rows: int, estimate_s: float) -> int:
    """Call ``work`` on ranges of rows that together are all of them.

    Work is split only on the main thread: another one belongs to somebody who
    has already spread theirs. Results must not depend on the ranges.

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
    n_threads = available_threads() if estimate_s >= _WORTH_THREADS_S else 1
    if n_threads == 1 or n_rows < 2 * _WHOLE_BLOCKS:
        return work(0, n_rows)
    n_blocks = -(-n_rows // _WHOLE_BLOCKS)
    n_pieces = min(_PIECES_PER_THREAD * n_threads, n_blocks)
    edges = [n_blocks * k // n_pieces * _WHOLE_BLOCKS for k in range(n_pieces)]
    with ThreadPoolExecutor(n_threads) as pool:
        failed = pool.map(work, edges, [*edges[1:], n_rows])
        rows = [
            first + row for first, row in zip(edges, failed, strict=True) if row >= 0
        ]
    return rows[0] if rows else -1


def available_threads() -> int:
    """Return the threads that a call from here may use: one off the main thread."""
    config: Any = numba.config
    on_main = threading.current_thread() is threading.main_thread()
    return int(config.NUMBA_NUM_THREADS) if on_main else 1
