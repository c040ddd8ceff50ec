"""The rule command: from a sweep's store to the numbers that are good enough."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from oscsim import cli_output


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
    from oscsim.design.shares import sobol_shares
    from oscsim.design.store_file import open_store
    from oscsim.design.table import read_table
    from oscsim.design.unswept import unswept
    from oscsim.report.rule_terminal import print_rule

    held = cli_output.assignments(at, "--at")
    files: list[Path] = []
    with open_store(store) as opened, _uncollected():
        table = read_table(opened)
        found = fit_rule(table, losses=sorted(loss or LOSSES), at=held)
        pairs, front = interactions(found), pareto(table)
        shares, why_not = sobol_shares(found)
        on = unswept(table, opened.device)
        if as_json or out is not None:
            content = rule_json(found, pairs, shares, front, why_not=why_not, on=on)
        if out is not None:
            from oscsim.report.sheet import write_sheet

            files = write_sheet(Path(out), found, content, front, opened.device)
        if as_json:
            cli_output.print_json(content)
        else:
            console = cli_output.console()
            print_rule(console, found, pairs, shares, front, why_not=why_not, on=on)
            for file in files:
                typer.echo(f"file: {file}")
    return 0


@contextmanager
def _uncollected() -> Iterator[None]:
    """Do without searches for cycles: there are millions of objects, and none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
