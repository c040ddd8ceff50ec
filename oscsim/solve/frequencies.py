"""Natural frequencies: drawn at random, or at exact quantiles."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from oscsim.arrays import (
    real_number,
    require_finite,
    seed_number,
    shown,
    whole_number,
)
from oscsim.errors import SpecError
from oscsim.memory import require_memory
from oscsim.solve.noise import Stream, uniforms
from oscsim.typing import FloatArray

Distribution: TypeAlias = Literal["normal", "lorentzian", "uniform"]

FREQUENCY_STAGE = 3

_QUANTILE: dict[str, Callable[[FloatArray], FloatArray]] = {
    "normal": ndtri,
    "lorentzian": lambda p: np.tan(np.pi * (p - 0.5)),
    "uniform": lambda p: 2.0 * p - 1.0,
}


def natural_frequencies(
    distribution: Distribution,
    n: int,
    *,
    width: float,
    centre: float = 0.0,
    seed: int | None = None,
) -> FloatArray:
    """Return natural frequencies of a distribution, centre + width * q(p).

    With a seed p is uniform in (0, 1). Without one p = (k + 1/2) / n: the exact
    quantiles, the same on every call, symmetric about the centre and free of
    sampling error. They rise with k: on a ring or a lattice, where neighbours
    would be alike, permute them.

    Parameters
    ----------
    distribution : {"normal", "lorentzian", "uniform"}
        q is the quantile function of the standard one.
    n : int
        Oscillators, at least 1.
    width : float
        Standard deviation of the normal law, half-width at half-maximum gamma
        of the Lorentzian, half the range of the uniform law (rad/s).
    centre : float
        Median (rad/s).
    seed : int, optional
        Draw at random; the k-th frequency depends only on the seed and k.

    Returns
    -------
    FloatArray, shape (n,)
        rad/s.

    Raises
    ------
    SpecError
        If the distribution is unknown, a number is out of range, the frequencies
        would not fit into memory, or one is beyond float64.
    """
    name: Any = distribution
    if not isinstance(name, str) or name not in _QUANTILE:
        raise SpecError(
            f"distribution must be one of {', '.join(_QUANTILE)}, got {shown(name)}"
        )
    n = whole_number("n", n, 1)
    width, centre = real_number("width", width), real_number("centre", centre)
    if width < 0.0:
        raise SpecError(f"width must be finite and >= 0, got {width}")
    seed = None if seed is None else seed_number(seed)
    require_memory(f"a draw of {shown(n)} frequencies", 48 * n, "fewer of them")
    index, quantile = np.arange(n), _QUANTILE[distribution]
    with np.errstate(over="ignore"):
        if seed is not None:
            drawn = uniforms(Stream(seed, FREQUENCY_STAGE), index, 1)[:, 0]
            found = centre + width * quantile(drawn)
        else:
            exact = quantile((index + 0.5) / n)
            found = centre + width * (0.5 * (exact - exact[::-1]))
    require_finite(f"a frequency of centre {centre:g} and width {width:g}", found)
    return np.asarray(found)
