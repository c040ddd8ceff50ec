"""The sections of a report that say how a language model did on chips."""

from oscsim.bridge.language import LanguageRun
from oscsim.bridge.language_compare import LanguageComparison
from oscsim.report.language_figure import bits_figure
from oscsim.report.markup import drawing, paragraph, table
from oscsim.report.numbers import bits, difference_of, percent
from oscsim.report.sections import counts, drawn, many


def headline(run: LanguageRun, comparison: LanguageComparison) -> str:
    """Return the table digital beside substrate and what was counted."""
    c = comparison
    text = paragraph(f"Text: {run.data.label}.")
    if run.setting.rung == "digital":
        rows = [
            ("bits per byte", bits(c.digital, c.digital_error)),
            ("perplexity per byte", f"{c.digital_perplexity:.4f}"),
        ]
        return table(("", "digital"), rows, numbers=(1,)) + text
    one = drawn(run.setting)
    interval = "one chip: none" if c.ci95 is None else " to ".join(map(bits, c.ci95))
    compared = table(
        (
            "",
            "digital",
            "substrate",
            f"95 % interval over {one}s",
            "substrate - digital (± standard error over windows)",
        ),
        [
            (
                f"bits per byte ({c.n_items:,} bytes)",
                bits(c.digital),
                bits(c.substrate),
                interval,
                bits(c.difference, c.difference_error, sign="+"),
            ),
            (
                "perplexity per byte",
                f"{c.digital_perplexity:.4f}",
                f"{c.perplexity:.4f}",
                "",
                difference_of(c.perplexity, c.digital_perplexity),
            ),
            ("same most probable byte as digital", "", percent(c.agreement), "", ""),
            ("largest change of a logit", "", f"{c.max_abs_error:.3g}", "", ""),
        ],
        numbers=(1, 2, 3, 4),
    )
    meaning = (
        f"Both columns are taken over the same {many(c.n_windows, 'window')} of "
        f"{run.data.context} bytes, each read from its own start. The interval is that "
        f"of the mean over {one}s on this text. Which text it was is another chance: "
        "the standard error of the paired difference is over windows; that of the "
        f"digital bits themselves is {c.digital_error:.4f}."
    )
    return compared + paragraph(meaning, "faint") + text + counts(run, c.tally)


def bits_over_chips(run: LanguageRun, comparison: LanguageComparison) -> str:
    """Return the figure of bits per byte, or nothing for the digital rung."""
    if run.setting.rung == "digital":
        return ""
    c = comparison
    caption = (
        f"Left: bits per byte of {many(c.chips, drawn(run.setting))} with "
        f"{many(run.bits.shape[1], 'repeat')} each. Right: mean bits at each position "
        "of a window, digital and on the substrate; early positions have few bytes to "
        "go by, and few anchors to average over."
    )
    return drawing(bits_figure(run, comparison), "bits-figure", caption, large=True)
