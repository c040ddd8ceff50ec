"""The sweep command: a grid of hardware numbers, kept as it comes."""

import math
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oscsim import cli_output
from oscsim.command_line import complain, ended_by_signals

if TYPE_CHECKING:
    from oscsim.bridge.engine import Progress
    from oscsim.design.cost import Forecast
    from oscsim.design.run import SweepResult


def sweep(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC.TOML", help="What to vary, on what.")
    ],
    store: Annotated[
        str | None,
        typer.Option("--store", help="SQLite file; runs/NAME.sqlite if absent."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Processes here; one per core if absent."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="TCP://...|FILE",
            help="Dask scheduler to run it on, or its scheduler file.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would take, run nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> int:
    """Run checkpoints over a grid of hardware numbers; a stopped sweep goes on."""
    from oscsim.bridge.passes import MOST_THREADS, thread_count
    from oscsim.design.cost import forecast
    from oscsim.design.run import prepare
    from oscsim.design.run import sweep as run_sweep
    from oscsim.design.spec import read_spec
    from oscsim.errors import SpecError

    if workers is not None and scheduler is not None:
        raise SpecError("give --workers or --scheduler, not both")
    if workers is not None and not 1 <= workers <= MOST_THREADS:
        raise SpecError(f"--workers must be 1 to {MOST_THREADS:,}, got {workers:,}")
    n_workers = thread_count(workers)
    asked = read_spec(spec)
    path = Path(store or f"runs/{asked.name}.sqlite")
    here = None if scheduler else n_workers
    with ended_by_signals() as ending, ExitStack() as shown:
        ready = prepare(asked)
        if dry_run:
            expected = forecast(ready)
            if as_json:
                cli_output.print_json(_forecast_json(expected))
            else:
                _print_forecast(expected, here)
            return 0

        def starting(done: int) -> "Progress | None":
            if not done and not as_json:
                _print_forecast(forecast(ready), here)
            return shown.enter_context(cli_output.progress("chips", as_json))

        result = run_sweep(
            ready, path, workers=here, scheduler=scheduler, starting=starting
        )
    if as_json:
        cli_output.print_json(_json(result))
    else:
        _print(result)
    if result.interrupted:
        return complain(
            "oscsim",
            f"interrupted after {result.chips} chips; the same command goes on",
            ending.code,
        )
    return 0


def _print_forecast(expected: "Forecast", workers: int | None) -> None:
    per = f"{expected.task_s:.3g} s each, {expected.trials} tried"
    lines = [
        f"{expected.cells:,} cells, {expected.tasks:,} chips in all ({per})",
        f"processor time {_time(expected.cpu_s)}"
        + (
            ""
            if workers is None
            else f", {_time(expected.wall_s(workers))} on {workers} workers"
        ),
        (
            f"memory up to {expected.memory_bytes / 1e6:,.0f} MB a worker, store "
            f"{expected.store_bytes / 1e6:,.3g} MB"
        ),
        (
            f"a million such cells: {_time(expected.million_cpu_s)} of processor time, "
            f"store {expected.million_store_bytes / 1e9:,.3g} GB"
        ),
    ]
    for line in lines:
        typer.echo(line)


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.3g} {unit}"
    return f"{seconds:.3g} s"


def _forecast_json(expected: "Forecast") -> dict[str, Any]:
    memory = expected.memory_bytes
    return {
        "cells": expected.cells,
        "chips": expected.tasks,
        "seconds_per_chip": expected.task_s,
        "cpu_seconds": expected.cpu_s,
        "memory_bytes_per_worker": None if math.isnan(memory) else memory,
        "store_bytes": expected.store_bytes,
        "million_cells_cpu_seconds": expected.million_cpu_s,
        "million_cells_store_bytes": expected.million_store_bytes,
    }


def _json(result: "SweepResult") -> dict[str, Any]:
    return {
        "store": str(result.store),
        "cells": result.cells,
        "chips": result.chips,
        "resumed": result.resumed,
        "failures": result.failures,
        "repeated": result.repeated,
        "interrupted": result.interrupted,
    }


def _print(result: "SweepResult") -> None:
    there = f", {result.resumed:,} of them before" if result.resumed else ""
    failed = (
        f"; {result.failures:,} have no value: they left the range of float64"
        if result.failures
        else ""
    )
    again = (
        f"; {result.repeated:,} were damaged in the store and were run again"
        if result.repeated
        else ""
    )
    typer.echo(f"{result.cells:,} cells, {result.chips:,} chips{there}{failed}{again}")
    typer.echo(f"store: {result.store}")
