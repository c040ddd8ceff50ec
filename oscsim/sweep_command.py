"""The sweep command: a grid of hardware numbers, kept as it comes."""

import math
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oscsim import cli_output
from oscsim.command_line import complain, ended_by_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    """Run checkpoints over a grid, list or hypercube of hardware numbers.

    A stopped sweep goes on. README.md, "Design rules", says what SPEC.TOML holds;
    examples/sweeps has some.
    """
    from oscsim.bridge.passes import MOST_THREADS, thread_count
    from oscsim.design.cost import PAIR, forecast
    from oscsim.design.run import prepare
    from oscsim.design.run import sweep as run_sweep
    from oscsim.design.spec import read_spec
    from oscsim.design.unpriced import reasons
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
        ready = prepare(asked, path)
        if dry_run:
            unpriced = reasons(ready.cells)
            _print_dry(forecast(ready, least=PAIR), unpriced, here, as_json)
            return 0

        def starting(done: int) -> "Progress | None":
            if not done and not as_json:
                _print_forecast(forecast(ready), here)
            elif not as_json:
                _print_left(path, done, ready.n_tasks, here)
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
            f"interrupted after {result.chips:,} chips, {result.left:,} are left; "
            "the same command goes on",
            ending.code,
        )
    return 0


def _print_dry(
    expected: "Forecast",
    unpriced: "Mapping[str, int]",
    workers: int | None,
    as_json: bool,
) -> None:
    """Print what a sweep would take, and which of its cells will have no price."""
    if as_json:
        said = {**_forecast_json(expected), "unpriced_reasons": dict(unpriced)}
        cli_output.print_json(said)
        return
    _print_forecast(expected, workers, is_dry=True)
    for reason, n in unpriced.items():
        many = f"{n:,} of {expected.cells:,} cells"
        typer.echo(f"warning: no price of {many}: {reason}")


def _print_forecast(
    expected: "Forecast", workers: int | None, *, is_dry: bool = False
) -> None:
    chips = _span(expected.tasks, expected.most_tasks, "{:,}".format)
    size = _span(
        expected.store_bytes / 1e6, expected.most_store_bytes / 1e6, "{:,.3g}".format
    )
    lines = [f"{expected.cells:,} cells, {chips} chips in all"]
    if expected.trials:
        cpu_s, most_s = expected.cpu_s, expected.most_cpu_s
        lines[0] += f" ({expected.task_s:.3g} s each, {expected.trials} tried)"
        here = ""
        if workers is not None:
            shared = _span(cpu_s / workers, most_s / workers, _time)
            here = f", {shared} on {workers} worker{'s' * (workers > 1)}"
        lines += [
            f"processor time {_span(cpu_s, most_s, _time)}{here}",
            (
                f"memory up to {expected.memory_bytes / 1e6:,.0f} MB a worker, "
                f"store {size} MB"
            ),
        ]
    else:
        lines[0] += f", too few to try some first; store {size} MB"
    if is_dry:
        lines.append(
            f"a million such cells: {_time(expected.million_cpu_s)} of processor time, "
            f"store {expected.million_store_bytes / 1e9:,.3g} GB"
        )
    for line in lines:
        typer.echo(line)


def _span(least: float, most: float, said: "Callable[[float], str]") -> str:
    """Return one number, or two where a precision may need more chips."""
    return (
        said(least) if said(least) == said(most) else f"{said(least)} to {said(most)}"
    )


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
        "most_chips": expected.most_tasks,
        "seconds_per_chip": expected.task_s,
        "cpu_seconds": expected.cpu_s,
        "most_cpu_seconds": expected.most_cpu_s,
        "memory_bytes_per_worker": None if math.isnan(memory) else memory,
        "store_bytes": expected.store_bytes,
        "most_store_bytes": expected.most_store_bytes,
        "million_cells_cpu_seconds": expected.million_cpu_s,
        "million_cells_store_bytes": expected.million_store_bytes,
        "trials": expected.trials,
    }


def _print_left(path: Path, done: int, tasks: int, workers: int | None) -> None:
    """Say what is left of a sweep that goes on, if more is left than a precision asks.

    The time is that of the chips that are done.
    """
    from oscsim.design.store_file import open_store

    left = tasks - done
    if left <= 0:
        return
    with open_store(path) as store:
        cpu_s = store.mean_seconds() * left
    here = ""
    if workers is not None:
        here = f", {_time(cpu_s / workers)} on {workers} worker{'s' * (workers > 1)}"
    typer.echo(
        f"{done:,} of {tasks:,} chips are there, {left:,} are left: "
        f"processor time {_time(cpu_s)}{here}"
    )


def _json(result: "SweepResult") -> dict[str, Any]:
    return {
        "store": str(result.store),
        "cells": result.cells,
        "chips": result.chips,
        "resumed": result.resumed,
        "failures": result.failures,
        "repeated": result.repeated,
        "interrupted": result.interrupted,
        "left": result.left,
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
    if result.chips == result.resumed and not result.left:
        there = ": nothing was left to run"
    typer.echo(f"{result.cells:,} cells, {result.chips:,} chips{there}{failed}{again}")
    typer.echo(f"store: {result.store}")
    if not result.interrupted:
        typer.echo(f"next: oscsim rule {shlex.quote(str(result.store))}")
