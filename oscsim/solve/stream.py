"""The address of a random number.

The key of the generator is (seed, stage), its counter (chip, repeat, step,
index). A number depends on these alone, so it is the same for any number of
threads, any batch split and any order of the items, and two calculations that
share a stream share their numbers.
"""

from typing import NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.typing import IntArray

_WORD = 2**32


class Stream(NamedTuple):
    """The address of a family of random numbers; every field is 32 bits.

    Attributes
    ----------
    seed : int
        Seed of the whole calculation.
    stage : int
        Which use of randomness, for example layer and kind of noise.
    chip : int
        Static draw: one piece of hardware.
    repeat : int
        Dynamic draw: one run of that hardware.
    """

    seed: int
    stage: int
    chip: int = 0
    repeat: int = 0


def stream_words(stream: Stream, step: int = 0) -> IntArray:
    """Return the fields of ``stream`` as 64-bit words, checked.

    Parameters
    ----------
    stream : Stream
        Address of the numbers.
    step : int
        Counter word 2, checked along with the others.

    Returns
    -------
    IntArray, shape (4,)
        seed, stage, chip, repeat.

    Raises
    ------
    SpecError
        If a field or ``step`` is not a whole number in [0, 2^32).
    """
    for name, value in {**stream._asdict(), "step": step}.items():
        if not isinstance(value, int | np.integer) or not 0 <= value < _WORD:
            raise SpecError(f"{name} must be a whole number in [0, 2^32), got {value}")
    return np.array(stream, dtype=np.uint64)


def counter_index(index: IntArray, blocks: int) -> IntArray:
    """Return ``index`` as unsigned words, checked to leave room for ``blocks``.

    Item i uses the counters i * blocks .. i * blocks + blocks - 1.

    Parameters
    ----------
    index : IntArray, shape (n_items,)
        Global numbers of the items.
    blocks : int
        Blocks of random words per item.

    Raises
    ------
    SpecError
        If ``index`` is not a one-dimensional array of whole numbers >= 0, or
        if a counter would pass 2^32.
    """
    index = np.asarray(index)
    if index.ndim != 1 or not (index.size == 0 or index.dtype.kind in "iu"):
        raise SpecError(
            "index must be a one-dimensional array of whole numbers, got shape "
            f"{index.shape} and type {index.dtype}"
        )
    if index.size and index.min() < 0:
        raise SpecError(f"index must be >= 0, got {index.min()}")
    if index.size and (int(index.max()) + 1) * blocks > _WORD:
        raise SpecError(
            f"index {index.max()} with {blocks} blocks of random words per item "
            f"passes the 2^32 counters of a stream: at most {_WORD // blocks - 1}"
        )
    return np.ascontiguousarray(index, dtype=np.uint64)
