"""The sections of a report that say how the run went."""

import math

from oscsim.bridge.compare import Comparison
from oscsim.bridge.infer import Run
from oscsim.bridge.maps import AttentionMaps
from oscsim.report.attention_figure import attention_figure
from oscsim.report.markup import drawing, items, paragraph, table
from oscsim.report.numbers import percent
from oscsim.report.run_figures import accuracy_figure, drive_figure, settling_figure

ACCURACIES = {"hard_accuracy": "accuracy, hard sentences", "accuracy": "accuracy"}


def headline(run: Run, comparison: Comparison) -> str:
    """Return the table digital beside substrate and what was counted."""
    c = comparison
    interval = "one chip: none"
    if c.ci95 is not None:
        interval = f"{percent(c.ci95[0])} to {percent(c.ci95[1])}"
    name = f"{ACCURACIES.get(c.metric, c.metric)} ({c.n_items:,})"
    everything = f"accuracy, all sentences ({len(run.data):,})"
    compared = table(
        ("", "digital", "substrate", "95 % interval over chips"),
        [
            (name, percent(c.digital), percent(c.substrate), interval),
            (everything, percent(c.digital_all), percent(c.substrate_all), ""),
            ("agreement with the digital decisions", "", percent(c.agreement), ""),
            ("largest change of a logit", "", f"{c.max_abs_error:.3g}", ""),
        ],
        numbers=(1, 2, 3),
    )
    chance = math.sqrt(c.digital * (1 - c.digital) / c.n_items)
    meaning = (
        "Both columns are taken over the same sentences. The interval is that of the "
        "mean over chips on these sentences; the chance of the sentences is apart, a "
        f"standard error of {percent(chance)} at the digital accuracy."
    )
    return compared + paragraph(meaning, "faint") + "<h3>Counted</h3>" + _counted(c)


def _counted(c: Comparison) -> str:
    t = c.tally
    strong = "drives beyond weak coupling, outside the phase model"
    return table(
        ("what", "number", "share"),
        [
            (
                name,
                f"{number:,} of {total:,}",
                percent(number / total) if total else "-",
            )
            for name, number, total in (
                ("oscillators unsettled when read", t.unsettled, t.oscillators),
                ("oscillators unlocked", t.unlocked, t.oscillators),
                (strong, t.strongly_driven, t.oscillators),
                ("couplings clipped to full scale", t.clipped, t.couplings),
                ("couplings zeroed, below half a step", t.zeroed, t.couplings),
                ("read-outs clipped", t.adc_clipped, t.reads),
            )
        ],
        numbers=(1, 2),
    )


def warnings(run: Run, remarks: tuple[str, ...]) -> str:
    """Return what a reader must know before the numbers, or nothing."""
    found = list(dict.fromkeys([*run.warnings, *remarks]))
    if run.interrupted and not any(said.startswith("interrupted") for said in found):
        found.insert(
            0, f"interrupted after {len(run.logits)} of {run.chips_asked} chips"
        )
    if not found:
        return ""
    return f'<div class="note"><strong>Warnings</strong>{items(found)}</div>'


def accuracy(run: Run, comparison: Comparison) -> str:
    """Return the figure of accuracy over chips."""
    caption = (
        f"Accuracy of {comparison.chips} chips with {run.logits.shape[1]} repeats "
        "each. A chip is one static draw of its mismatch, a repeat one dynamic draw of "
        f"its noise; one sentence is {percent(1 / comparison.n_items)}."
    )
    return drawing(accuracy_figure(run, comparison), "accuracy-figure", caption)


def scope(modelled: list[str], not_modelled: list[str]) -> str:
    """Return both lists side by side."""
    return (
        f'<div class="columns"><div><h3>Modelled</h3>{items(modelled)}</div>'
        f"<div><h3>Not modelled</h3>{items(not_modelled)}</div></div>"
    )


def oscillators(run: Run, comparison: Comparison) -> str:
    """Return the distributions of drives and settling times."""
    if comparison.tally.oscillators == 0:
        return paragraph(
            "No oscillator was settled with a tally in this run: it is digital, or "
            "under a published perturbation."
        )
    device = run.setting.acting_device
    drives = drawing(
        drive_figure(comparison, device),
        "drive-figure",
        f"Drive of {comparison.tally.oscillators:,} settled oscillators.",
    )
    times = drawing(
        settling_figure(comparison, device),
        "settling-figure",
        "Time that the drive alone needs from the actual start (closed form).",
    )
    return f'<div class="columns">{drives}{times}</div>'


def attention(maps: AttentionMaps | None) -> str:
    """Return the attention maps of one sentence."""
    if maps is None:
        return paragraph("No attention maps were made for this run.")
    caption = (
        f"Attention a_ij of “{' '.join(maps.words)}”: digital, on chip 0 in its first "
        "repeat, and the difference."
    )
    return drawing(attention_figure(maps), "attention-figure", caption, large=True)
