"""The sections of a report that say how the run went."""

import math

from oscsim.bridge.compare import AnyComparison, Comparison
from oscsim.bridge.counted import counted, gaps
from oscsim.bridge.infer import AnyRun, Run
from oscsim.bridge.maps import AttentionMaps
from oscsim.bridge.setting import Setting
from oscsim.report.attention_figure import attention_figure
from oscsim.report.markup import drawing, items, paragraph, table
from oscsim.report.numbers import percent, points
from oscsim.report.oscillator_figures import (
    angle_figure,
    drive_figure,
    settling_figure,
)
from oscsim.report.run_figures import accuracy_figure
from oscsim.substrate.tally import SettleTally, histogram_quantile

ACCURACIES = {"hard_accuracy": "accuracy, hard sentences", "accuracy": "accuracy"}
ANGLE = "angle between state and drive when read: median, p90 (rad)"


def drawn(setting: Setting) -> str:
    """Return what a run was repeated over: chips, or redraws of a perturbation."""
    return "chip" if setting.perturbation is None else "redraw"


def many(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def headline(run: Run, comparison: Comparison) -> str:
    """Return the table digital beside substrate and what was counted."""
    c, noun = comparison, run.data.noun
    hard = (f"{ACCURACIES.get(c.metric, c.metric)} ({c.n_items:,})", c.digital)
    every = (f"accuracy, all {noun}s ({len(run.data):,})", c.digital_all)
    if run.setting.rung == "digital":
        rows = [(name, percent(value)) for name, value in (hard, every)]
        return table(("", "digital"), rows, numbers=(1,))
    one = drawn(run.setting)
    compared = table(
        (
            "",
            "digital",
            "substrate",
            f"95 % interval over {one}s",
            f"substrate - digital (± standard error over {noun}s)",
        ),
        [
            (
                hard[0],
                percent(c.digital),
                percent(c.substrate),
                _interval(c.ci95, one),
                points(c.difference, c.difference_error),
            ),
            (
                every[0],
                percent(c.digital_all),
                percent(c.substrate_all),
                _interval(c.ci95_all, one),
                points(c.difference_all, c.difference_all_error),
            ),
            ("same decision as digital, all", "", percent(c.agreement), "", ""),
            ("largest change of a logit", "", f"{c.max_abs_error:.3g}", "", ""),
        ],
        numbers=(1, 2, 3, 4),
    )
    meaning = (
        f"Both columns are taken over the same {noun}s. The interval is that of the "
        f"mean over {one}s on these {noun}s. Which {noun}s were asked is another "
        f"chance: the standard error of the paired difference is over {noun}s; that "
        "of the digital accuracy itself, in the first row, is "
        f"{100 * _chance(c.digital, c.n_items):.2f} points."
    )
    return compared + paragraph(meaning, "faint") + counts(run, c.tally)


def _interval(found: tuple[float, float] | None, one: str) -> str:
    if found is None:
        return f"one {one}: none"
    return f"{percent(found[0])} to {percent(found[1])}"


def _chance(accuracy: float, n: int) -> float:
    return math.sqrt(accuracy * (1 - accuracy) / n)


def counts(run: AnyRun, tally: SettleTally) -> str:
    """Return the table of what was counted on the chips, or nothing without any."""
    if tally.oscillators == 0:
        return ""
    rows = []
    for what, number, total in counted(run, tally):
        if number is None:
            rows.append((what, "not checked", ""))
        else:
            share = percent(number / total) if total else "-"
            rows.append((what, f"{number:,} of {total:,}", share))
    if tally.error_histogram.any():
        middle, high = (
            histogram_quantile(tally.error_histogram, q) for q in (0.5, 0.9)
        )
        rows.append((ANGLE, f"{middle:.2g}, {high:.2g}", ""))
    rows += [(what, size, "") for what, size in gaps(run, tally)]
    found = table(("what", "number", "share"), rows, numbers=(1, 2))
    return f"<h3>Counted</h3>{found}"


def warnings(run: AnyRun, remarks: tuple[str, ...], already: set[str]) -> str:
    """Return what a reader must know before the numbers, or nothing.

    Parameters
    ----------
    run : Run or LanguageRun
        Has warnings of its own.
    remarks : tuple of str
        Further ones.
    already : set of str
        What another section of the page says.
    """
    found = [w for w in dict.fromkeys([*run.warnings, *remarks]) if w not in already]
    if run.interrupted and not any(said.startswith("interrupted") for said in found):
        found.insert(
            0, f"interrupted after {len(run.outputs)} of {run.chips_asked} chips"
        )
    if not found:
        return ""
    return f'<div class="note"><strong>Warnings</strong>{items(found)}</div>'


def accuracy(run: Run, comparison: Comparison) -> str:
    """Return the figure of accuracy over chips, or nothing for the digital rung."""
    if run.setting.rung == "digital":
        return ""
    c, repeats = comparison, run.logits.shape[1]
    what = (
        "A chip is one static draw of its mismatch, a repeat one dynamic draw of its "
        "noise"
    )
    if run.setting.perturbation is not None:
        what = "Every redraw and every repeat is one more draw of the perturbation"
    caption = (
        f"Accuracy of {many(c.chips, drawn(run.setting))} with "
        f"{many(repeats, 'repeat')} each. {what}; one {run.data.noun} is "
        f"{percent(1 / c.n_items)}. Dotted: one standard error of the digital accuracy "
        f"by the choice of {run.data.noun}s. Both answer the same {run.data.noun}s, so "
        "that their "
        "paired difference is known better: "
        f"{points(c.difference, c.difference_error)}"
    )
    if c.n_items < len(run.data):
        every = points(c.difference_all, c.difference_all_error)
        caption += f" on hard sentences, {every} on all"
    caption += "."
    figure = accuracy_figure(run, comparison)
    return drawing(figure, "accuracy-figure", caption, large=len(figure.axes) > 1)


def scope(modelled: list[str], not_modelled: list[str]) -> str:
    """Return both lists side by side."""
    on = modelled or ["nothing but the digital model"]
    return (
        f'<div class="columns"><div><h3>Modelled</h3>{items(on)}</div>'
        f"<div><h3>Not modelled</h3>{items(not_modelled)}</div></div>"
    )


def oscillators(run: AnyRun, comparison: AnyComparison) -> str:
    """Return the distributions of drives, times and angles, or nothing without any."""
    number = comparison.tally.oscillators
    if number == 0:
        return ""
    device = run.setting.acting_device
    drives = drawing(
        drive_figure(comparison, device),
        "drive-figure",
        f"Drive of {number:,} oscillators. Left of the axis: those without any drive, "
        "or hardly one.",
    )
    if not comparison.tally.time_histogram.any():
        return drives
    times = drawing(
        settling_figure(comparison, device),
        "settling-figure",
        "Time that the drive alone needs from the actual start (closed form). Left of "
        "the axis: oscillators that start within 0.01 rad already, at time 0, or "
        "nearly so; right of it: those that come there too late to show, or never.",
    )
    angles = drawing(
        angle_figure(comparison),
        "angle-figure",
        "Angle between state and drive when read: settling, detuning and noise "
        "together, before the converter; oscillators without any drive left out.",
    )
    return f'<div class="columns">{drives}{times}{angles}</div>'


def attention(maps: AttentionMaps | None) -> str:
    """Return the attention maps of one sentence, or nothing without any."""
    if maps is None:
        return ""
    caption = (
        f"Attention a_ij of “{' '.join(maps.words)}”: digital, on chip 0 in its first "
        "repeat, and the difference. 0 stands below 0.0005, <.005 below 0.005 of "
        "either sign."
    )
    return drawing(attention_figure(maps), "attention-figure", caption, large=True)
