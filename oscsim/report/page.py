"""A run as one HTML file that needs nothing else."""

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from oscsim.bridge.compare import Comparison
from oscsim.bridge.cost import Cost
from oscsim.bridge.infer import Run
from oscsim.bridge.manifest import Manifest
from oscsim.bridge.maps import AttentionMaps
from oscsim.files import write_whole
from oscsim.report import device_section, energy_section, sections


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a page says.

    Attributes
    ----------
    run : Run
        What was computed.
    comparison : Comparison
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

    run: Run
    comparison: Comparison
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
    on = f"on {setting.device.name}"
    if setting.perturbation is not None:
        on = f"under the published perturbation {setting.perturbation}"
    subtitle = (
        f"Rung {setting.rung}, {comparison.chips} chips with {run.logits.shape[1]} "
        f"repeats, {len(run.data):,} sentences of {run.data.path}, seed {setting.seed}."
    )
    template = files("oscsim.report").joinpath("page.html")
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=escape(f"{run.checkpoint.name} {on}"),
        subtitle=escape(subtitle),
        headline=sections.headline(run, comparison),
        warnings=sections.warnings(run, report.remarks),
        accuracy=sections.accuracy(run, comparison),
        scope=sections.scope(report.modelled, report.not_modelled),
        oscillators=sections.oscillators(run, comparison),
        energy=energy_section.energy(report.cost),
        attention=sections.attention(report.maps),
        device=device_section.device(setting),
        repeat=device_section.repeat(report.manifest),
    )
