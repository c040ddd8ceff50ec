"""The rule command: from a sweep's store to the numbers that are good enough."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oscsim import cli_output

if TYPE_CHECKING:
    from oscsim.design.interactions import Sobol
    from oscsim.design.rule import DesignRule


def rule(
    store: Annotated[
        str, typer.Argument(metavar="STORE", help="SQLite file that a sweep wrote.")
    ],
    loss: Annotated[
        list[float] | None,
        typer.Option(
            "--loss", help="Share of the digital metric that may be lost; repeatable."
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="AXIS=VALUE",
            help="Hold an axis there; at its best value if absent; repeatable.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", help="Folder for the design sheet, figures and tables."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> int:
    """Say which hardware numbers are good enough, with 95 % intervals."""
    from oscsim.design.interactions import interactions
    from oscsim.design.pareto import pareto
    from oscsim.design.rule import LOSSES, fit_rule
    from oscsim.design.rule_json import rule_json
    from oscsim.design.store_file import open_store
    from oscsim.design.table import read_table
    from oscsim.report.rule_terminal import print_rule

    held = cli_output.assignments(at, "--at")
    files: list[Path] = []
    with open_store(store) as opened:
        table = read_table(opened)
        found = fit_rule(table, losses=sorted(loss or LOSSES), at=held)
        pairs, shares, front = interactions(found), _shares(found), pareto(table)
        content = rule_json(found, pairs, shares, front)
        if out is not None:
            from oscsim.report.sheet import write_sheet

            files = write_sheet(Path(out), found, content, front, opened.device)
    if as_json:
        cli_output.print_json(content)
    else:
        print_rule(cli_output.console(), found, pairs, shares, front)
        for file in files:
            typer.echo(f"file: {file}")
    return 0


def _shares(found: "DesignRule") -> "tuple[Sobol, ...]":
    """Return Sobol indices of every model, of a grid or else of a surface."""
    from oscsim.design.interactions import sobol, sobol_of_surface
    from oscsim.design.response import numeric_axes
    from oscsim.errors import SpecError

    table, done = found.table, []
    axes = numeric_axes(table)
    others = [name for name in table.axes if name not in axes]
    for subject in table.subjects:
        try:
            done.append(sobol(table, subject, axes, found.held))
        except SpecError:
            if others:
                continue
            try:
                done.append(sobol_of_surface(table, subject, axes))
            except SpecError:
                continue
    return tuple(done)
