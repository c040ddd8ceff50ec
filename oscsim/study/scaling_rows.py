"""A scaling study as a table: one number and its interval a row."""

from collections.abc import Iterator
from typing import NamedTuple

from oscsim.study.scaling_study import FamilyLaws, ScalingStudy


class ScalingRow(NamedTuple):
    """One number that was measured or fitted.

    Attributes
    ----------
    quantity : str
        What ``value`` is.
    p, d_osc, width : int or None
        Of which model or family; p and d_osc are None for softmax.
    dimensions : str
        d_osc that a fit was made to.
    value : float
        The number.
    low95, high95 : float or None
        Its interval; None where it has none.
    trainings, parameters : int or None
        Of a model.
    """

    quantity: str
    p: int | None
    d_osc: int | None
    width: int | None
    dimensions: str
    value: float
    low95: float | None = None
    high95: float | None = None
    trainings: int | None = None
    parameters: int | None = None


def scaling_rows(study: ScalingStudy) -> list[ScalingRow]:
    """Return every number of a study.

    Parameters
    ----------
    study : ScalingStudy
        Of `oscsim.study.scaling_study.scaling_study`.

    Returns
    -------
    list of ScalingRow
        ``bits_per_byte``, ``perplexity_per_byte`` and ``gap`` (perplexity per
        byte above softmax) of every model; ``gap_alpha``, ``gap_amplitude`` of a
        gap ``C d_osc^-alpha`` (an upper end that is inf is open) and ``gap_chi2`` of
        the gaps about the closest, per degree of freedom; ``floor``, ``floor_alpha``,
        ``floor_amplitude`` of ``P_inf + C d_osc^-alpha``; names that end in
        ``_scatter`` repeat a value with the interval of its scatter;
        ``d_osc_of_softmax`` is where a family has the bits of the softmax model of a
        width, 0 below the smallest d_osc, inf above the largest.
    """
    rows = []
    for level in study.levels:
        numbers = {
            "bits_per_byte": (level.bits, None, None),
            "perplexity_per_byte": (level.perplexity, None, None),
            "gap": (level.gap, *level.gap95),
        }
        model = (level.p, level.d_osc, level.width, "")
        size = (level.trainings, level.parameters)
        rows += [
            ScalingRow(name, *model, *number, *size) for name, number in numbers.items()
        ]
    for family in study.families:
        rows += _fits(family, study.width)
    return rows


def _fits(family: FamilyLaws, width: int) -> Iterator[ScalingRow]:
    law, floored = family.law, family.floored
    if law is not None:
        fit = (family.p, None, width, " ".join(map(str, law.dimensions)))
        yield ScalingRow("gap_alpha", *fit, law.alpha, *law.alpha95)
        yield ScalingRow("gap_alpha_scatter", *fit, law.alpha, *law.scatter95)
        yield ScalingRow("gap_chi2", *fit, law.chi2)
        yield ScalingRow("gap_amplitude", *fit, law.amplitude, *law.amplitude95)
    if floored is not None:
        fit = (family.p, None, width, " ".join(map(str, floored.dimensions)))
        yield ScalingRow("floor", *fit, floored.floor, *floored.floor95)
        yield ScalingRow("floor_scatter", *fit, floored.floor, *floored.scatter95)
        yield ScalingRow("floor_alpha", *fit, floored.alpha, *floored.alpha95)
        yield ScalingRow("floor_amplitude", *fit, floored.amplitude)
    for other, found in family.meetings.items():
        met = (family.p, None, other, " ".join(map(str, found.dimensions)))
        yield ScalingRow("d_osc_of_softmax", *met, found.d_osc, *found.d_osc95)
