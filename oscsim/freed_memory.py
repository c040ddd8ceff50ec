"""Memory that arrays give back stays in the process, for the next ones."""

import numpy as np

LARGEST = 2**25 - 2**13
"""Bytes just below the largest block that glibc's allocator may come to keep."""


def keep_freed_memory() -> None:
    """Let the allocator keep blocks of up to 32 MB instead of handing them back.

    Returns
    -------
    None
        Costs nothing by itself: the block is never touched.

    Notes
    -----
    glibc takes blocks above a threshold straight from the system and returns
    them when they are freed; each is then zeroed page by page whenever it is
    taken again. The threshold starts at 128 KB and rises to the largest block
    of at most 32 MB that was freed (``mallopt(3)``, ``M_MMAP_THRESHOLD``). A
    process that read its inputs itself has freed large ones; one that got them
    from another has not, and spends a third of its time on new pages. Elsewhere
    this does nothing.
    """
    block = np.empty(LARGEST, np.uint8)
    del block
