"""The command that runs netlists in ngspice and checks their claims."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oscsim.errors import OscsimError, SpecError

if TYPE_CHECKING:
    from oscsim.spice.check import CircuitCheck

CLAIM_FAILED = 1


def spice(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Netlist with its side-car .toml, or the name of one that ships.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Run every circuit that ships.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Longest time of one run (s).")
    ] = 300.0,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the noise.", min=0, max=2**32 - 1)
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the figures, NAME.png each.")
    ] = Path("runs/spice"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> int:
    """Run a circuit in ngspice and check what it claims."""
    from rich.console import Console

    from oscsim.report.circuit_text import print_circuit, print_circuits, summary_of
    from oscsim.spice.check import check_circuit, circuits
    from oscsim.spice.ngspice import find_ngspice

    if (file is None) != every:
        raise SpecError("give one netlist, or --all for every one that ships")
    if not timeout > 0:
        raise SpecError(f"--timeout must be above 0 s, got {timeout:g}")
    console = Console(width=None if sys.stdout.isatty() else 120, markup=False)
    if file is not None:
        check = check_circuit(file, timeout, seed)
        figure = _draw(check, out)
        if as_json:
            _print_json(summary_of(check) | {"figure": str(figure)})
        else:
            print_circuit(console, check)
            typer.echo(f"figure: {figure}")
        return 0 if check.passed else CLAIM_FAILED
    find_ngspice()
    done: dict[str, CircuitCheck | str] = {}
    for path in circuits():
        try:
            checked = check_circuit(path, timeout, seed)
            _draw(checked, out)
            done[path.stem] = checked
        except OscsimError as error:
            done[path.stem] = str(error)
    if as_json:
        _print_json(
            {
                name: {"passed": False, "error": one}
                if isinstance(one, str)
                else summary_of(one)
                for name, one in done.items()
            }
        )
    else:
        print_circuits(console, done)
        typer.echo(f"figures: {out}")
    failed = any(isinstance(one, str) or not one.passed for one in done.values())
    return CLAIM_FAILED if failed else 0


def _draw(check: "CircuitCheck", folder: Path) -> Path:
    from oscsim.files import write_whole
    from oscsim.report.canvas import png
    from oscsim.report.circuit_figure import circuit_figure

    path = folder / f"{check.name}.png"
    write_whole(path, png(circuit_figure(check)))
    return path


def _print_json(content: object) -> None:
    typer.echo(json.dumps(content, indent=2, allow_nan=False))
