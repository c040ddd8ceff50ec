"""Arrays that begin on a cache line: vectors that straddle two take twice the time."""

from typing import Any

import numpy as np

from oscsim._jit import kernel
from oscsim.typing import FloatArray

LINE = 64


@kernel
def aligned_zeros(n_rows: int, n: int, like: FloatArray) -> FloatArray:
    """Return zeros (n_rows, n) of the type of ``like``, the first on a cache line.

    The other rows begin on one too if n numbers fill whole lines.
    """
    size = n_rows * n
    raw = np.zeros(size + LINE // like.itemsize, like.dtype)
    skip = (LINE - raw.ctypes.data % LINE) % LINE // like.itemsize
    return raw[skip : skip + size].reshape(n_rows, n)


def aligned(array: Any, dtype: Any) -> FloatArray:
    """Return a contiguous copy that begins on a cache line.

    Parameters
    ----------
    array : array_like
        What is copied.
    dtype : numpy dtype
        Of the copy.
    """
    values = np.asarray(array)
    size, item = values.size, np.dtype(dtype).itemsize
    raw = np.empty(size + LINE // item, dtype)
    skip = -raw.ctypes.data % LINE // item
    copy = raw[skip : skip + size].reshape(values.shape)
    copy[...] = values
    return copy
