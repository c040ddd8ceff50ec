"""When a sum over pairs may be replaced by sums over anchors."""

from typing import NamedTuple

from oscsim.errors import SpecError

NONLINEAR = ("softplus", "relu", "elu")
POWERS = (1, 2, 4)


class Factoring(NamedTuple):
    """Which sums over pairs factor, and why not.

    Attributes
    ----------
    scores, readout : bool
        Whether the drive sum and the read-out factor.
    why_scores, why_readout : str
        Why not; empty where it does.
    """

    scores: bool
    readout: bool
    why_scores: str = ""
    why_readout: str = ""


def factoring(coupling: str, power: int, *, clamps: bool | None) -> Factoring:
    """Return which sums of a model may be factored.

    ``h_i = sum_j w(q_i.k_j) r_j`` is ``(sum_j r_j k_j^T) q_i`` only if w is
    linear. ``sum_j max(0, 1 + z_i.r_j)^p v_j`` is affine in z only for p = 1
    and where no ``1 + z.r`` is negative.

    Parameters
    ----------
    coupling : {"softplus", "relu", "elu", "linear"}
        Coupling function w.
    power : {1, 2, 4}
        Read-out exponent p.
    clamps : bool or None
        Whether some ``1 + z.r`` is negative; None if nobody looked.

    Raises
    ------
    SpecError
        If the coupling function or the exponent is unknown.
    """
    if coupling not in (*NONLINEAR, "linear"):
        raise SpecError(
            f"unknown coupling function {coupling!r}: "
            f"one of {', '.join((*NONLINEAR, 'linear'))}"
        )
    if power not in POWERS:
        raise SpecError(f"the read-out exponent p must be 1, 2 or 4, got {power}")
    why_scores, why_readout = "", ""
    if coupling != "linear":
        why_scores = f"{coupling} is not linear, so its scores do not factor"
    if power != 1:
        why_readout = f"the read-out does not factor for p = {power}"
    elif clamps is None:
        why_readout = "whether the clamp of the read-out acts was not checked"
    elif clamps:
        why_readout = "1 + z.r is negative for some pairs, so the clamp acts"
    return Factoring(not why_scores, not why_readout, why_scores, why_readout)
