"""The published dimension scaling: words of other texts, another budget."""

from typing import NamedTuple


class PublishedScaling(NamedTuple):
    """Perplexities per word of one data set, mean of 5 trainings.

    Attributes
    ----------
    text : str
        The data set.
    softmax : float
        Perplexity per word of the softmax twin.
    perplexity : dict of int to float
        Perplexity per word by d_osc.
    alpha, amplitude : float
        The published fit ``gap = C d_osc^-alpha``.
    alpha95 : tuple of float
        Its published interval.
    fitted_to : int
        Largest d_osc of the fit.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, dimension scaling (result
       files of its repository).
    """

    text: str
    softmax: float
    perplexity: dict[int, float]
    alpha: float
    amplitude: float
    alpha95: tuple[float, float]
    fitted_to: int = 32

    @property
    def gaps(self) -> dict[int, float]:
        """Perplexity per word above the softmax twin by d_osc."""
        return {d: value - self.softmax for d, value in self.perplexity.items()}


PUBLISHED_SCALING = (
    PublishedScaling(
        "WikiText-2",
        98.999,
        {2: 110.665, 4: 107.201, 8: 105.233, 16: 103.777, 32: 102.561, 64: 101.523},
        alpha=0.420,
        amplitude=15.17,
        alpha95=(0.386, 0.463),
    ),
    PublishedScaling(
        "TinyStories",
        8.671,
        {2: 10.911, 4: 10.276, 8: 9.784, 16: 9.345, 32: 9.105, 64: 8.935},
        alpha=0.599,
        amplitude=3.582,
        alpha95=(0.572, 0.627),
    ),
)
