"""What one hardware number costs one model, and which value is good enough."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oscsim.design.axes import Value, field_of, is_whole
from oscsim.design.curve import Curve
from oscsim.design.laws import PowerLaw, lost_alignment, power_law
from oscsim.design.lines import BETTER, line
from oscsim.design.replicates import Interval, half_width
from oscsim.design.said import said_number
from oscsim.design.table import SweepTable, paired
from oscsim.errors import SpecError
from oscsim.typing import FloatArray


@dataclass(frozen=True, eq=False)
class AxisRule:
    """What one hardware number costs one model, all others held.

    Attributes
    ----------
    subject : str
        Name of the checkpoint.
    d_osc : int or None
        Components of an oscillator.
    axis : str
        The number.
    held : dict
        Values of the other axes: the best ones, or what was asked for.
    curve : Curve
        Loss (share of the digital metric) against it.
    allowed : dict of float to Interval
        For each loss the value that is just good enough, as
        `oscsim.design.curve.Curve.allowed`; infinite where all stored values are,
        or none is.
    law : PowerLaw or None
        Loss beyond that at the best value, against `law_of`.
    law_of : str
        What the law is in: what the number does, less what it does at the best
        value run, where that is not 0.
    why_no_law : str
        Empty if there is one.
    law_miss : float
        `oscsim.design.laws.PowerLaw.largest_miss` of the law; NaN without one.
    """

    subject: str
    d_osc: int | None
    axis: str
    held: Mapping[str, Value]
    curve: Curve
    allowed: Mapping[float, Interval]
    law: PowerLaw | None
    law_of: str
    why_no_law: str
    law_miss: float = math.nan

    def allowed_whole(self, loss: float) -> Interval | None:
        """Return what is allowed in whole numbers, None of what need not be whole."""
        if not is_whole(self.axis):
            return None
        return self.curve.allowed_whole(loss, self.allowed[loss])

    @property
    def least(self) -> tuple[float, Interval]:
        """The value that loses least, and its loss with Student's 95 % interval."""
        at = int(np.argmin(self.curve.mean))
        mean, spread = float(self.curve.mean[at]), half_width(self.curve.losses[:, at])
        return float(self.curve.values[at]), Interval(
            mean, mean - spread, mean + spread
        )


def curve_of(
    table: SweepTable, subject: str, axis: str, held: Mapping[str, Value]
) -> Curve | None:
    """Return the loss along an axis, None where fewer than two values were run.

    Chips that not every cell has count in the means, not in the intervals.
    """
    cells = line(table, subject, axis, held)
    if len(cells) < 2:
        return None
    losses, common = paired(cells, [table.loss(cell) for cell in cells])
    if not len(common):
        return None
    values = np.array([float(cell.point[axis]) for cell in cells])
    return Curve(values, losses, BETTER[field_of(axis)])


def axis_rules(
    table: SweepTable,
    held: Mapping[str, Value],
    losses: Sequence[float],
    resamples: int,
) -> Iterator[AxisRule]:
    """Yield the rule of every number with a good end, model by model."""
    for subject in table.subjects:
        for axis in held:
            if field_of(axis) not in BETTER:
                continue
            curve = curve_of(table, subject, axis, held)
            if curve is None:
                continue
            plain = AxisRule(
                subject=subject,
                d_osc=table.d_osc(subject),
                axis=axis,
                held={n: v for n, v in held.items() if n != axis},
                curve=curve,
                allowed={x: curve.allowed(x, resamples=resamples) for x in losses},
                law=None,
                law_of="",
                why_no_law="",
            )
            yield _with_law(plain, table, resamples)


def _with_law(rule: AxisRule, table: SweepTable, resamples: int) -> AxisRule:
    found = disturbance(rule, table)
    if found is None:
        return replace(rule, why_no_law="no law is known for this number")
    x, law_of = found
    losses, reference = rule.curve.losses, int(np.argmin(x))
    beyond = losses - losses[:, [reference]]
    kept = x > (0.0 if x[reference] == 0 else x[reference])
    if x[reference] > 0:
        best = said_number(float(rule.curve.values[reference]), 6)
        x = x - x[reference]
        law_of = f"{law_of}, less that at {best}"
    try:
        law = power_law(x[kept], beyond[:, kept], resamples=resamples)
    except SpecError as error:
        return replace(rule, law_of=law_of, why_no_law=str(error))
    b = law.exponent
    if b.low <= 0 <= b.high:
        said = (
            f"the loss does not follow {law_of} beyond its scatter: b {b.value:.2g} "
            f"[{b.low:.2g}, {b.high:.2g}]"
        )
        return replace(rule, law_of=law_of, why_no_law=said)
    miss = law.largest_miss(losses[:, kept])
    return replace(rule, law=law, law_of=law_of, law_miss=miss)


def disturbance(
    rule: AxisRule, table: SweepTable, values: FloatArray | None = None
) -> tuple[FloatArray, str] | None:
    """Return what a hardware number does to the states, and its name.

    Parameters
    ----------
    rule : AxisRule
        Gives axis and values.
    table : SweepTable
        Gives the drives |h| of the model, in the unit that the number is
        relative to.
    values : FloatArray, optional
        Of the number; those of the rule's curve by default.

    Returns
    -------
    tuple of FloatArray and str, or None
        Of noise the alignment lost, ``1 - A_d(|h| / D)`` over the drives; of
        settling the mean of ``exp(-|h| T)``; of bits ``2^-b``; of errors
        themselves. None where nothing is known.
    """
    field = field_of(rule.axis)
    values = rule.curve.values if values is None else values
    if field in ("weight_bits", "anchor_bits", "adc_bits"):
        return 2.0**-values, "2^-bits"
    drives = _relative_drives(rule, table)
    if field == "relative_diffusion" and drives is not None and rule.d_osc:
        lost = [lost_alignment(rule.d_osc, drives, float(d)) for d in values]
        return np.array(lost), "alignment lost, 1 - A_d(|h|/D)"
    if field == "relative_settle_time" and drives is not None:
        left = [float(np.exp(-drives * t).mean()) for t in values]
        return np.array(left), "mean exp(-|h| T)"
    if BETTER[field] == "smaller" and field != "relative_diffusion":
        return np.array(values), field
    return None


def _relative_drives(rule: AxisRule, table: SweepTable) -> FloatArray | None:
    """Return |h| over its median at equal steps of probability, None without."""
    known = table.known[rule.subject]
    if not len(known.drive_quantiles):
        return None
    cells = line(table, rule.subject, rule.axis, rule.held)
    in_full_scales = any(cell.in_full_scales for cell in cells)
    drives = known.drive_quantiles[:, int(in_full_scales)]
    middle: FloatArray = 0.5 * (drives[1:] + drives[:-1])
    relative: FloatArray = middle / known.median_drive(in_full_scales=in_full_scales)
    return relative
