"""A scaling study in sentences, what was published beside it."""

from oscsim.report.numbers import between
from oscsim.study.published_scaling import PUBLISHED_SCALING
from oscsim.study.scaling_study import FamilyLaws, ScalingStudy


def said_of_scaling(study: ScalingStudy) -> list[str]:
    """Return a table of the models and what can be said of their families.

    Parameters
    ----------
    study : ScalingStudy
        Of `oscsim.study.scaling_study.scaling_study`.

    Returns
    -------
    list of str
        Lines for a terminal.
    """
    what = (
        f"{study.windows:,} windows; every model saw {study.tokens:,} bytes; gap: "
        f"perplexity per byte above softmax of width {study.width}"
    )
    head = (
        f"{'model':22}{'trainings':>10}{'parameters':>12}{'bits':>8}"
        f"{'perplexity':>12}{'gap':>9}  95 %"
    )
    lines = [what, "", head]
    for level in study.levels:
        name = f"softmax, width {level.width}"
        if level.d_osc is not None:
            name = f"p = {level.p}, d_osc {level.d_osc}"
        lines.append(
            f"{name:22}{level.trainings:10}{level.parameters:12,}{level.bits:8.4f}"
            f"{level.perplexity:12.4f}{level.gap:+9.4f}  {_between(level.gap95, '+')}"
        )
    if all(level.trainings == 1 for level in study.levels):
        lines.append(
            "One training each: no interval that follows knows how much two trainings "
            "of one model differ, except those from scatter."
        )
    for family in study.families:
        lines += ["", *_of_family(family, study.width)]
    return [*lines, "", *_published()]


def _of_family(family: FamilyLaws, width: int) -> list[str]:
    lines = [f"p = {family.p}, d_osc {_listed(family.dimensions)}"]
    law, floored = family.law, family.floored
    if law is None:
        lines.append("  no law of the gap: fewer than three d_osc from the smallest on")
        lines[-1] += " are worse than softmax"
    else:
        lines.append(
            f"  gap = C d_osc^-alpha on d_osc {_listed(law.dimensions)}: alpha "
            f"{law.alpha:.3f} {_between(law.alpha95)}, from scatter "
            f"{_between(law.scatter95)}; C {law.amplitude:.3f} "
            f"{_between(law.amplitude95)}"
        )
        says = "holds within errors" if law.holds else "describes, roughly"
        lines.append(
            f"  chi2 of the gaps about the closest such law {law.chi2:.2g} per degree "
            f"of freedom: {says}"
        )
        if law.dropped > 0:
            lines.append(
                f"  {100 * law.dropped:.1f} % of resamples have no gap somewhere: "
                "alpha and C count as infinite in them"
            )
    if law is not None and family.left_out:
        lines.append(
            f"  d_osc {_listed(family.left_out)} left out: no gap that a power law "
            "could describe, so alpha is that of a part of the family only"
        )
    if floored is not None:
        lines.append(
            f"  perplexity = P_inf + C d_osc^-alpha: P_inf {floored.floor:.3f} "
            f"{_between(floored.floor95)}, from scatter "
            f"{_between(floored.scatter95)}; alpha {floored.alpha:.3f} "
            f"{_between(floored.alpha95)}; rms about the curve "
            f"{floored.residual:.4f}"
        )
        lines.append(
            f"  P_inf below softmax in {100 * floored.below_softmax:.1f} % of "
            f"resamples{_already(family, width)}, at a bound in "
            f"{100 * floored.at_bound:.1f} %"
        )
        if not floored.tells:
            lines.append(
                "  the data cannot tell where the family goes: P_inf may be as low as "
                "the least a perplexity can be"
            )
    for other, met in family.meetings.items():
        twin = " (its twin)" if other == width else ""
        lines.append(f"  as good as softmax of width {other}{twin} at d_osc {met}")
    return lines


def _already(family: FamilyLaws, width: int) -> str:
    """Say when a floor below softmax is no extrapolation."""
    reached = family.meetings[width].d_osc <= family.dimensions[-1]
    return " (measured models are)" if reached else ""


def _published() -> list[str]:
    lines = ["Published, perplexity per word, other texts, other budget:"]
    for found in PUBLISHED_SCALING:
        lines.append(
            f"  {found.text}: alpha {found.alpha:.3f} {_between(found.alpha95)}, C "
            f"{found.amplitude:g} on d_osc 2..{found.fitted_to}; gap "
            + ", ".join(f"{gap:.2f} at {d}" for d, gap in found.gaps.items())
        )
    return lines


def _between(ends: tuple[float, float], sign: str = "") -> str:
    return between(*ends, 3, sign=sign)


def _listed(dimensions: tuple[int, ...]) -> str:
    return ", ".join(map(str, dimensions))
