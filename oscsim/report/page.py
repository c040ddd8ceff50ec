"""A run as one HTML file that needs nothing else."""

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from oscsim.bridge.compare import AnyComparison, Comparison
from oscsim.bridge.cost import Cost, why_unpriced
from oscsim.bridge.infer import AnyRun, Run
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.language_compare import LanguageComparison
from oscsim.bridge.manifest import Manifest
from oscsim.bridge.maps import AttentionMaps
from oscsim.files import write_whole
from oscsim.report import (
    device_section,
    energy_section,
    language_sections,
    sections,
)


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a page says.

    Attributes
    ----------
    run : Run or LanguageRun
        What was computed.
    comparison : Comparison or LanguageComparison
        Substrate beside digital.
    cost : Cost or None
        Joules and seconds; None where nothing has a price.
    maps : AttentionMaps or None
        Attention of one sentence.
    modelled, not_modelled : list of str
        From `oscsim.bridge.scope.modelled`.
    remarks : tuple of str
        Warnings besides those of the run.
    manifest : Manifest
        The record from which the run can be repeated.
    """

    run: AnyRun
    comparison: AnyComparison
    cost: Cost | None
    maps: AttentionMaps | None
    modelled: list[str]
    not_modelled: list[str]
    remarks: tuple[str, ...]
    manifest: Manifest


def write_page(path: Path, report: Report) -> None:
    """Write a report as a self-contained HTML file, whole or not at all.

    Figures stand inside as drawings, nothing is loaded from elsewhere and no
    script runs. The same report gives the same bytes.

    Parameters
    ----------
    path : Path
        The file; its folder is made.
    report : Report
        What to say.

    Raises
    ------
    SpecError
        If the file cannot be written.
    """
    write_whole(path, page(report).encode())


def page(report: Report) -> str:
    """Return the page as text."""
    run, comparison = report.run, report.comparison
    setting = run.setting
    on = f"on {setting.device.label}"
    if setting.perturbation is not None:
        on = f"under the published perturbation {setting.perturbation}"
    elif setting.rung == "digital":
        on = "as a digital model"
    remarks, already = report.remarks, energy_section.sentences(report.cost)
    if report.cost is None:
        remarks = (*remarks, why_unpriced(setting))
    headline, figure = _result(run, comparison)
    result = headline + sections.warnings(run, remarks, already) + figure
    has_device = setting.rung != "digital" and setting.perturbation is None
    parts = (
        ("result", "Result", result),
        (
            "scope",
            "What was modelled",
            sections.scope(report.modelled, report.not_modelled),
        ),
        ("oscillators", "Oscillators", sections.oscillators(run, comparison)),
        ("energy", "Energy and time", energy_section.energy(report.cost)),
        (
            "attention",
            f"Attention of one {_noun(run)}",
            sections.attention(report.maps),
        ),
        ("device", "Device", device_section.device(setting) if has_device else ""),
        ("repeat", "Repeat this run", device_section.repeat(report.manifest)),
    )
    template = files("oscsim.report").joinpath("page.html")
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=escape(f"{run.checkpoint.name} {on}"),
        subtitle=escape(_subtitle(run, comparison)),
        sections="\n".join(_section(*part) for part in parts if part[2]),
    )


def _result(run: AnyRun, comparison: AnyComparison) -> tuple[str, str]:
    """Return the table and the figure of the result."""
    if isinstance(run, LanguageRun) and isinstance(comparison, LanguageComparison):
        return (
            language_sections.headline(run, comparison),
            language_sections.bits_over_chips(run, comparison),
        )
    if isinstance(run, Run) and isinstance(comparison, Comparison):
        return (
            sections.headline(run, comparison),
            sections.accuracy(run, comparison),
        )
    raise TypeError("the comparison is not of this run")


def _subtitle(run: AnyRun, comparison: AnyComparison) -> str:
    setting = run.setting
    sentences = f"{sections.many(len(run.data), _noun(run))} of {run.data.path}"
    if setting.rung == "digital":
        return f"Rung digital, {sentences}."
    draws = (
        f"{sections.many(comparison.chips, sections.drawn(setting))} with "
        f"{sections.many(run.outputs.shape[1], 'repeat')}"
    )
    on = f"Rung {setting.rung}"
    if setting.perturbation is not None:
        on = "Ideal substrate"
    return f"{on}, {draws}, {sentences}, seed {setting.seed}."


def _noun(run: AnyRun) -> str:
    return "window" if isinstance(run, LanguageRun) else run.data.noun


def _section(name: str, title: str, content: str) -> str:
    return f'<section id="{name}">\n<h2>{title}</h2>\n{content}\n</section>'
