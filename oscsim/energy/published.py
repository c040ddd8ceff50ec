"""The operation count that was published for one attention stage."""

from typing import Literal

from oscsim.energy.baselines import pairs_of
from oscsim.errors import SpecError
from oscsim.models import counting

EXP_IN_MACS = 10


def published_cost(
    *,
    n_positions: int,
    n_heads: int,
    d_osc: int,
    coupling: Literal["softplus", "relu", "elu"],
    causal: bool = False,
) -> dict[str, int]:
    """Return the published operation count of one attention stage [1]_.

    In FP32 multiply-accumulate equivalents per layer and sequence, an
    exponential being 10, P = T^2 or T(T+1)/2 pairs, w = 10 for softplus and
    1 for relu or elu::

        softmax                             10 H P + 2 H T
        all digital                         w H P + 2 H P d + 4 H T
        equilibration physical              w H P + H P d + 2 H T
        equilibration and read-out physical w H P + 2 H T

    Scores, value sum, projections, memory and coupling writes are not in it:
    for joules use the ledger, which counts what was executed.

    Parameters
    ----------
    n_positions : int
        Sequence length T.
    n_heads, d_osc : int
        Heads H and components d.
    coupling : {"softplus", "relu", "elu"}
        Coupling function. The count gives elu the weight of relu, although
        its negative branch is an exponential.
    causal : bool
        Whether only pairs j <= i exist.

    Returns
    -------
    dict of str to int
        By column, named as above.

    Raises
    ------
    SpecError
        If a size is below 1 or the coupling function unknown.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, cost of the attention
       stage.
    """
    for name, size in (
        ("n_positions", n_positions),
        ("n_heads", n_heads),
        ("d_osc", d_osc),
    ):
        if size < 1:
            raise SpecError(f"{name} must be at least 1, got {size}")
    if coupling not in counting.COUPLING_FUNCTIONS:
        raise SpecError(
            f"unknown coupling function {coupling!r}: "
            f"one of {', '.join(counting.COUPLING_FUNCTIONS)}"
        )
    weight = EXP_IN_MACS if coupling == "softplus" else 1
    pairs = n_heads * pairs_of(n_positions, causal)
    rows = n_heads * n_positions
    return {
        "softmax": EXP_IN_MACS * pairs + 2 * rows,
        "all digital": weight * pairs + 2 * pairs * d_osc + 4 * rows,
        "equilibration physical": weight * pairs + pairs * d_osc + 2 * rows,
        "equilibration and read-out physical": weight * pairs + 2 * rows,
    }
