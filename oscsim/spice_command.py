"""The command that runs netlists in ngspice and checks their claims."""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oscsim.cli_output import writable
from oscsim.command_line import ended_by_signals
from oscsim.errors import OscsimError, SpecError
from oscsim.spice_rung_command import CLAIM_FAILED, require_netlist, run_tokens

if TYPE_CHECKING:
    from rich.console import Console

    from oscsim.spice.check import CircuitCheck


def spice(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|CKPT",
            help="Netlist with its side-car .toml, or the name of one that ships; with "
            "--tokens a checkpoint.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Run every circuit that ships.")
    ] = False,
    tokens: Annotated[
        int | None,
        typer.Option("--tokens", help="Run this many tokens of a checkpoint."),
    ] = None,
    circuit: Annotated[
        str | None,
        typer.Option("--circuit", help="sphere, or lc for d_osc 2; sphere if absent."),
    ] = None,
    layer: Annotated[int, typer.Option("--layer", help="With --tokens.")] = 0,
    head: Annotated[int, typer.Option("--head", help="With --tokens.")] = 0,
    item: Annotated[
        int, typer.Option("--item", help="Sentence, clip or window; with --tokens.")
    ] = 0,
    data: Annotated[
        str | None, typer.Option("--data", help="Inputs, as of infer; with --tokens.")
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            metavar="NAME=VALUE",
            help="What a bare file does not say, as of infer; with --tokens.",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option("--duration", help="End of the run (s); with --tokens."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option("--engine", help="program, or shared: PySpice's library."),
    ] = "program",
    timeout: Annotated[
        float, typer.Option("--timeout", help="Longest time of one run (s).")
    ] = 300.0,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="Seed of the noise, or with --tokens of the start; 0 if absent.",
            min=0,
            max=2**32 - 1,
        ),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--phase-response",
            metavar="SIGNAL",
            help="Measure the phase response of an oscillator by charge kicks, and "
            "write two of them as a network; voltage of the node that the kick source "
            "of the netlist drives, v(a0) in ring_oscillator.",
        ),
    ] = None,
    charge: Annotated[
        float | None, typer.Option("--charge", help="Charge of a kick (C).")
    ] = None,
    resistance: Annotated[
        float | None, typer.Option("--resistance", help="Between the two (ohm).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for the figures, NAME.png each; runs/spice if absent. With "
            "--tokens netlist, raw file and weights are kept there too.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> int:
    """Run a circuit in ngspice and check what it claims, or tokens of a checkpoint."""
    from rich.console import Console

    from oscsim.report.circuit_text import print_circuit, summary_of
    from oscsim.spice.check import check_circuit

    if (file is None) != every:
        raise SpecError("give one netlist, or --all for every one that ships")
    for name, value in (("timeout", timeout), ("duration", duration)):
        if value is not None and not 0 < value < float("inf"):
            raise SpecError(f"--{name} must be finite and above 0 s, got {value:g}")
    of_tokens = {
        "circuit": circuit,
        "layer": layer,
        "head": head,
        "item": item,
        "data": data,
        "duration": duration,
        "config": config,
    }
    drawn = seed or 0
    kick = _kick(node, charge, resistance, tokens, engine)
    if tokens is not None and file is not None:
        of_tokens |= {"tokens": tokens, "seed": drawn}
        with ended_by_signals():
            return run_tokens(file, of_tokens, timeout, engine, out, as_json)
    require_netlist(file, tokens, of_tokens)
    out = Path("runs/spice") if out is None else out
    known: Any = engine
    if seed is not None:
        _require_noise(file, kick is not None)
    console = Console(width=None if sys.stdout.isatty() else 120, markup=False)
    with ended_by_signals(), writable(out):
        if kick is not None:
            return _phase_response(console, file, kick, timeout, out, as_json)
        if file is None:
            return _every(console, timeout, drawn, known, out, as_json)
        check = check_circuit(file, timeout, drawn, known)
        files = {"figure": str(_draw(check, out)), **_drawn_noise(file, drawn, out)}
        if as_json:
            _print_json(summary_of(check) | files)
        else:
            print_circuit(console, check)
            typer.echo("\n".join(f"{name}: {path}" for name, path in files.items()))
        return 0 if check.passed else CLAIM_FAILED


def _kick(
    node: str | None,
    charge: float | None,
    resistance: float | None,
    tokens: int | None,
    engine: str,
) -> tuple[str, float, float] | None:
    """Return node, charge and resistance of a phase response if one is asked for."""
    if node is None and charge is None and resistance is None:
        return None
    if node is None or charge is None or resistance is None:
        raise SpecError("--phase-response, --charge and --resistance belong together")
    if tokens is not None or engine != "program":
        raise SpecError("--phase-response goes with neither --tokens nor --engine")
    if not (math.isfinite(charge) and charge != 0):
        raise SpecError(f"--charge must be finite and not 0 C, got {charge:g}")
    if not 0 < resistance < math.inf:
        raise SpecError(
            f"--resistance must be finite and above 0 ohm, got {resistance:g}"
        )
    return node, charge, resistance


def _require_noise(file: str | None, kicked: bool) -> None:
    """Refuse a seed where nothing is drawn; of those that ship, one has noise."""
    from oscsim.spice.check import netlist_path
    from oscsim.spice.netlist import Netlist
    from oscsim.spice.noise import with_noise

    if kicked:
        raise SpecError("--seed does not go with --phase-response: nothing is drawn")
    if file is None:
        return
    netlist = Netlist.read(netlist_path(file))
    if with_noise(netlist, 0) is netlist:
        raise SpecError(
            f"{netlist.name} has no noise (TRNOISE): --seed would change nothing, "
            "leave it away"
        )


def _every(
    console: "Console",
    timeout: float,
    seed: int,
    engine: Any,
    out: Path,
    as_json: bool,
) -> int:
    """Run every circuit that ships; one that does not run is in the table too."""
    from oscsim.report.circuit_text import print_circuits, summary_of
    from oscsim.spice.check import check_circuit, circuits
    from oscsim.spice.ngspice import find_ngspice

    find_ngspice()
    done: dict[str, CircuitCheck | str] = {}
    for path in circuits():
        try:
            checked = check_circuit(path, timeout, seed, engine)
            _draw(checked, out)
            done[path.stem] = checked
        except OscsimError as error:
            done[path.stem] = str(error)
    if as_json:
        told = [
            {"name": name}
            | (
                {"passed": False, "error": one}
                if isinstance(one, str)
                else summary_of(one)
            )
            for name, one in done.items()
        ]
        _print_json({"circuits": told})
    else:
        print_circuits(console, done)
        typer.echo(f"figures: {out}")
    failed = any(isinstance(one, str) or not one.passed for one in done.values())
    return CLAIM_FAILED if failed else 0


def _phase_response(
    console: "Console",
    file: str | None,
    asked: tuple[str, float, float],
    timeout: float,
    out: Path,
    as_json: bool,
) -> int:
    """Measure a phase response; write its figure and the pair as a network file."""
    from oscsim.files import write_whole
    from oscsim.report import phase_response_report as report
    from oscsim.report.canvas import png
    from oscsim.spice.check import netlist_path
    from oscsim.spice.netlist import Netlist
    from oscsim.spice.phase_model import phase_model
    from oscsim.spice.phase_response import phase_response

    signal, charge, resistance = asked
    if file is None:
        raise SpecError("--phase-response needs one netlist, not --all")
    netlist = Netlist.read(netlist_path(file))
    response = phase_response(netlist, signal, None, charge=charge, timeout=timeout)
    model = phase_model(response, resistance)
    figure, network = (
        out / f"{netlist.name}-phase.png",
        out / f"{netlist.name}-pair.toml",
    )
    drawn = report.phase_response_figure(netlist.name, response, model)
    write_whole(figure, png(drawn))
    write_whole(network, model.network_file(netlist.name).encode())
    if as_json:
        files = {"figure": str(figure), "network": str(network)}
        _print_json(report.summary_of_model(netlist.name, model) | files)
    else:
        report.print_phase_model(console, netlist.name, model)
        typer.echo(f"figure: {figure}\nnetwork: {network} (for oscsim simulate)")
    return 0


def _drawn_noise(file: str, seed: int, folder: Path) -> dict[str, str]:
    """Write a netlist with the noise of a seed in it, if it has any; it runs alone."""
    from oscsim.files import write_whole
    from oscsim.spice.check import netlist_path
    from oscsim.spice.netlist import Netlist
    from oscsim.spice.noise import with_noise

    netlist = Netlist.read(netlist_path(file))
    drawn = with_noise(netlist, seed)
    if drawn is netlist:
        return {}
    path = folder / f"{netlist.name}-seed{seed}.cir"
    write_whole(path, drawn.text.encode())
    return {"netlist with this noise": str(path)}


def _draw(check: "CircuitCheck", folder: Path) -> Path:
    from oscsim.files import write_whole
    from oscsim.report.canvas import png
    from oscsim.report.circuit_figure import circuit_figure

    path = folder / f"{check.name}.png"
    write_whole(path, png(circuit_figure(check)))
    return path


def _print_json(content: object) -> None:
    typer.echo(json.dumps(content, indent=2, allow_nan=False))
