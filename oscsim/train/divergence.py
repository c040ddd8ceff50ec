"""Stopping a training whose numbers are none any more."""

from oscsim.errors import EvaluationError

MOST_BITS = 1000.0
"""Bits per prediction beyond which a perplexity, 2^bits, is soon no float."""


def require_converging(loss: float, step: int, rate: float, most: float) -> None:
    """Refuse to go on with a loss that is no number, or absurd.

    Parameters
    ----------
    loss : float
        What was just measured.
    step : int
        Updates so far.
    rate : float
        Learning rate of the recipe, which is what to lower.
    most : float
        Loss that is not allowed any more, in its own unit.

    Raises
    ------
    EvaluationError
        If the loss is NaN, or at or above ``most``.
    """
    if not loss < most:
        raise EvaluationError(
            f"training diverged at step {step}, learning rate {rate:g}: the loss is "
            f"{loss:g}; nothing of it was written, give a smaller rate"
        )
