"""An energy estimate as files: page, numbers, sources and figures."""

import json
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from matplotlib.figure import Figure

from oscsim.bridge.array import OnArray
from oscsim.bridge.array_json import array_json
from oscsim.bridge.cost import attention_j
from oscsim.bridge.estimate import Estimate, Scenario
from oscsim.bridge.judge import Judgement, estimate_json
from oscsim.energy.components import Component
from oscsim.files import require_files, write_set
from oscsim.report.array_section import array_section
from oscsim.report.bibtex import bibtex
from oscsim.report.canvas import png
from oscsim.report.decoding_table import (
    DECODING,
    DECODING_HEADER,
    decoding_rows,
    ratio_of,
)
from oscsim.report.energy_figure import GROUPS, PHASES, by_group, by_phase
from oscsim.report.energy_section import ESTIMATE, LABELS, NOMINAL
from oscsim.report.estimate_figures import (
    crossover_figure,
    tornado_figure,
    waterfall_figure,
)
from oscsim.report.estimate_terminal import (
    crossings,
    headline,
    ratios,
    remarks,
    unit_of_price,
)
from oscsim.report.markup import drawing, items, paragraph, table
from oscsim.report.numbers import percent, quantity, quantity_range

PAGES = ("energy.html", "energy.json", "energy.bib")
WATERFALL = (
    "Nominal joules per token of the attention stage, from the rival to the subject: "
    "what each phase adds (filled) or saves (hatched)."
)
TORNADO = (
    "The ratio of the attention stages with one cause at the p10 (circle) or p90 "
    "(square) of its prior and all else nominal; in brackets its rank correlation with "
    "the ratio over the draws. Assumption ranges."
)
CROSSOVER = (
    "Ratios of the attention stages against the price of a digital exponential and of "
    "a digital multiply-accumulate: nominal lines, and p10..p90 over the draws of all "
    "else. Grey: p10..p90 of that price in the library. Below 1 the subject costs less."
)


def write_files(
    folder: Path,
    estimate: Estimate,
    judged: tuple[Judgement, ...],
    array: OnArray | None = None,
) -> list[Path]:
    """Write energy.html, energy.json, energy.bib and the figures as PNG.

    Parameters
    ----------
    folder : Path
        Where; it is made if needed.
    estimate : Estimate
        From `oscsim.bridge.estimate.estimate`.
    judged : tuple of Judgement
        From `oscsim.bridge.judge.judge`.
    array : OnArray, optional
        From `oscsim.bridge.array.on_array`.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    SpecError
        If a file cannot be written.
    """
    figures = {name: figure for name, _, figure in _figures(judged)}
    content = estimate_json(estimate, judged) | array_json(array)
    numbers = json.dumps(content, indent=2, allow_nan=False)
    parts = _components(estimate, array)
    contents = {
        "energy.html": page(estimate, judged, array).encode(),
        "energy.json": f"{numbers}\n".encode(),
        "energy.bib": bibtex(parts).encode(),
        **{f"{name}.png": png(figure) for name, figure in figures.items()},
    }
    return write_set(folder, contents, stale=_names(folder))


def require_names(folder: Path) -> None:
    """Check before the work that no folder is where a file will be written.

    Raises
    ------
    SpecError
        Naming the folder.
    """
    require_files(_names(folder))


def _names(folder: Path) -> list[Path]:
    """Return every file that an estimate may write."""
    drawn = [f"{kind}-{k}.png" for kind in ("waterfall", "tornado") for k in (1, 2)]
    return [folder / name for name in (*PAGES, *drawn, "crossover.png")]


def page(
    estimate: Estimate,
    judged: tuple[Judgement, ...],
    array: OnArray | None = None,
) -> str:
    """Return an estimate as one self-contained HTML page."""
    subject = estimate.subjects[0]
    found = subject.ledger.range_j()
    result = [paragraph(ESTIMATE)]
    if subject.ledger.has_banner:
        result.append(paragraph(f"{subject.ledger.banner}.", "note"))
    said = (
        f"<p><strong>System total of {escape(subject.name)}: "
        f"{quantity(found.p50, 'J')} per token</strong>, assumption range "
        f"{quantity_range(found, 'J')} (p10..p90).</p>"
    )
    result += [said, paragraph(NOMINAL, "faint"), _totals(estimate)]
    if estimate.steps:
        rows = decoding_rows(estimate.steps)
        result.append(table(DECODING_HEADER, rows, numbers=range(1, 7)))
        result.append(paragraph(DECODING, "faint"))
    result.append(items(remarks(estimate)))
    looked = [
        f"<h3>{escape(one.subject.name)} / {escape(one.rival.name)}</h3>"
        + paragraph(f"{ratios(one)}.")
        + paragraph(f"Of the attention stage: {crossings(one.attention)}.")
        for one in judged
    ]
    drawn = [
        drawing(figure, name, caption, large=True)
        for name, caption, figure in _figures(judged)
    ]
    sections = (
        ("result", "Joules per token", "\n".join(result)),
        ("ratios", "What the ratios hang on", "\n".join(looked + drawn)),
        ("parts", "By phase and component", _phases(estimate) + _parts(estimate)),
        *(
            [("array", "On an array", array_section(array))]
            if array is not None
            else []
        ),
        ("sources", "Numbers and sources", _sources(_components(estimate, array))),
    )
    template = files("oscsim.report").joinpath("page.html")
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=escape(f"Energy of {estimate.title}"),
        subtitle=escape(f"{headline(estimate)}."),
        sections="\n".join(
            f'<section id="{name}">\n<h2>{title}</h2>\n{content}\n</section>'
            for name, title, content in sections
        ),
    )


def _figures(judged: tuple[Judgement, ...]) -> list[tuple[str, str, Figure]]:
    found = []
    for k, one in enumerate(judged, start=1):
        found.append((f"waterfall-{k}", WATERFALL, waterfall_figure(one)))
        found.append((f"tornado-{k}", TORNADO, tornado_figure(one)))
    return [*found, ("crossover", CROSSOVER, crossover_figure(judged))]


def _totals(estimate: Estimate) -> str:
    header = [
        "",
        "uses of a byte read",
        "median per token",
        "p10..p90, assumption range",
        "nominal",
    ]
    for subject in estimate.subjects:
        header += [f"{subject.name} / row, median (p10..p90)", "draws won"]
    header += ["attention stage, nominal", "what it is; accuracy as measured"]
    rows = []
    for one in estimate.scenarios:
        found = one.ledger.range_j()
        row = [
            one.name,
            f"{one.reuse:g}",
            quantity(found.p50, "J"),
            quantity_range(found, "J"),
            quantity(one.ledger.nominal_j(), "J"),
        ]
        for k, subject in enumerate(estimate.subjects):
            ratio, won = estimate.judged(one, k)
            is_self = one.name == subject.name
            row += ["", ""] if is_self else [ratio_of(ratio), percent(won, 0)]
        what = f"{one.remark}; {one.accuracy}"
        rows.append([*row, quantity(attention_j(one.ledger), "J"), what])
    numbers = range(1, len(header) - 1)
    said = paragraph(
        "Draws won: the share of the draws of all priors in which the row costs more "
        "than the subject. Uses of a byte read: also the tokens between two stores of "
        "running sums.",
        "faint",
    )
    return table(header, rows, numbers=numbers) + said + _three(estimate.subjects[0])


def _three(subject: Scenario) -> str:
    header = ("three totals of the first row", "median", "p10..p90", "nominal")
    rows = [
        (
            label,
            quantity(subject.ledger.range_j(total).p50, "J"),
            quantity_range(subject.ledger.range_j(total), "J"),
            quantity(subject.ledger.nominal_j(total), "J"),
        )
        for total, label in LABELS.items()
    ]
    return table(header, rows, numbers=(1, 2, 3))


def _phases(estimate: Estimate) -> str:
    parts = [by_phase(one.ledger) for one in estimate.scenarios]
    shown = [phase for phase in PHASES if any(part.get(phase) for part in parts)]
    rows = [
        (
            f"{one.name}, reuse {one.reuse:g}",
            *(quantity(part.get(phase, 0.0), "J") for phase in shown),
            quantity(one.ledger.nominal_j(), "J"),
        )
        for one, part in zip(estimate.scenarios, parts, strict=True)
    ]
    header = ("nominal per token", *(PHASES[phase][0] for phase in shown), "sum")
    return table(header, rows, numbers=range(1, len(header)))


def _parts(estimate: Estimate) -> str:
    ledger = estimate.subjects[0].ledger
    total = ledger.nominal_j()
    order = sorted(
        by_group(ledger).items(), key=lambda p: (list(GROUPS).index(p[0][0]), -p[1])
    )
    rows = [
        (
            name,
            group,
            estimate.library[name].confidence,
            quantity(joules, "J"),
            percent(joules / total),
        )
        for (group, name), joules in order
    ]
    header = ("component", "part of", "confidence", "nominal per token", "share")
    return table(header, rows, numbers=(3, 4))


def _components(estimate: Estimate, array: OnArray | None) -> tuple[Component, ...]:
    found = estimate.components
    return (
        found
        if array is None or array.area is None
        else (*found, *array.area.components)
    )


def _sources(parts: tuple[Component, ...]) -> str:
    header = (
        "component",
        "value",
        "low..high",
        "unit",
        "node",
        "confidence",
        "drawn together as",
        "source",
    )
    rows = [
        (
            part.id,
            f"{part.value:g}",
            f"{part.low:g}..{part.high:g}",
            unit_of_price(part),
            f"{part.node_nm} nm" if part.node_nm else "any",
            part.confidence,
            part.corr_group,
            part.source,
        )
        for part in parts
    ]
    return table(header, rows, numbers=(1, 2)) + paragraph(
        "low and high are the 10th and 90th percentile of the prior. energy.bib holds "
        "the sources that can be cited.",
        "faint",
    )
