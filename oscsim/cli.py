"""The command line: one sentence for a wrong request, never a traceback."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oscsim import __version__
from oscsim.cli_output import assignments as _assignments
from oscsim.cli_output import console as _console
from oscsim.cli_output import out_folder as _out_folder
from oscsim.cli_output import print_json as _print_json
from oscsim.cli_output import progress as _progress
from oscsim.cli_output import writable as _writable
from oscsim.command_line import (
    INTERRUPTED,
    WORK_FAILED,
    complain,
    make_streams_safe,
    run_app,
)
from oscsim.energy_cli import energy
from oscsim.rule_command import rule
from oscsim.spice_command import spice
from oscsim.sweep_command import sweep

if TYPE_CHECKING:
    from oscsim.bridge.checkpoint import Checkpoint
    from oscsim.bridge.infer import AnyRun, Data
    from oscsim.substrate.device import Device


def _whole(text: str | int) -> int:
    """Read a whole number; versions of typer differ in whether 1.0 is one."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


app = typer.Typer(
    name="oscsim",
    help="Trained oscillator networks on real, imperfect oscillators.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

CheckpointPath = Annotated[
    str,
    typer.Argument(
        metavar="CKPT", help="Checkpoint: a folder, a .safetensors or a .pt file."
    ),
]
ConfigText = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="NAME=VALUE",
        help="What a bare file does not say, e.g. n_heads=1; repeatable.",
    ),
]
DataPath = Annotated[
    str | None,
    typer.Option(
        "--data",
        help="Sentences as JSON lines, for a language model any bytes (also the "
        "complete enwik8); the bundled ones if absent.",
    ),
]
DeviceName = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="Preset or .toml file; ring-65nm for d_osc 2, otherwise sphere-generic.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change one number of the device, e.g. weight_bits=4; repeatable.",
    ),
]
WHOLE: dict[str, Any] = {"parser": _whole, "metavar": "INTEGER"}
WindowCount = Annotated[
    int | None,
    typer.Option(
        "--windows",
        help="Language models: number of windows; 64 if absent.",
        **WHOLE,
    ),
]
Context = Annotated[
    int | None,
    typer.Option(
        "--context",
        help="Language models: bytes of a window; as in training if absent.",
        **WHOLE,
    ),
]
ReadOutName = Annotated[
    str,
    typer.Option(
        "--readout", help="direct, or prefix: p = 1 in prefix sums, if they are equal."
    ),
]
UpdateName = Annotated[
    str | None,
    typer.Option(
        "--update",
        help="Kuramoto attention: map, the trained step, or flow, what a dwell does; "
        "as the model was trained if absent.",
    ),
]
RangingName = Annotated[
    str,
    typer.Option(
        "--ranging",
        help="Kuramoto attention: full scale is a weight of 1 (fixed), or the largest "
        "of each row (row).",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of every random draw.", **WHOLE)
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="Threads; results do not depend on it.", **WHOLE),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


app.command()(spice)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    make_streams_safe()
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 done, 1 the work failed, 2 the request was wrong, 130 interrupted.
    """
    return run_app(app, "oscsim", arguments)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        typer.echo(f"oscsim {__version__}")
        raise typer.Exit


app.command()(energy)
app.command()(sweep)
app.command()(rule)


@app.command()
def infer(
    checkpoint: CheckpointPath,
    data: DataPath = None,
    device: DeviceName = None,
    rung: Annotated[
        str, typer.Option("--rung", help="digital, ideal, finite, noisy or device.")
    ] = "device",
    chips: Annotated[int, typer.Option("--chips", help="Static draws.", **WHOLE)] = 8,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Dynamic draws on each chip.", **WHOLE)
    ] = 4,
    perturb: Annotated[
        str | None,
        typer.Option(
            "--perturb",
            metavar="KIND=S",
            help="Published perturbation: coupling, state or frequency.",
        ),
    ] = None,
    windows: WindowCount = None,
    context: Context = None,
    readout: ReadOutName = "direct",
    update: UpdateName = None,
    ranging: RangingName = "fixed",
    changes: Changes = None,
    config: ConfigText = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Annotated[
        str | None, typer.Option("--out", help="Folder for run.toml and report.html.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run a checkpoint on chips of a device, beside the digital model."""
    from oscsim.bridge.cost import require_prices
    from oscsim.bridge.engine import checked_draws
    from oscsim.bridge.infer import infer as run_on_chips
    from oscsim.bridge.setting import Setting, update_of
    from oscsim.substrate.perturb import Perturbation

    model, inputs = _model_and_data(checkpoint, data, config, windows, context)
    perturbation = None if perturb is None else Perturbation.parse(perturb)
    if perturbation is not None and device is None:
        device, rung = "ideal", "ideal" if rung == "device" else rung
    hardware = _device(device, changes, rung, model)
    setting = Setting(
        hardware,
        rung,  # type: ignore[arg-type]
        seed,
        perturbation,
        readout,  # type: ignore[arg-type]
        update_of(model, rung, update),  # type: ignore[arg-type]
        ranging,  # type: ignore[arg-type]
    )
    setting.require(model)
    require_prices(setting, model.d_osc)
    checked_draws(setting.rung, chips, repeats)
    extra: dict[str, Any] = {
        "changes": hardware.changes,
        "device": device if device is not None and device.endswith(".toml") else None,
        "data": data,
        "config": dict(model.given),
        "draws": [chips, repeats],
        "perturb": perturb,
    }
    if windows is not None or readout != "direct":
        extra |= {"windows": windows, "readout": readout}
    for option, value, default in (
        ("update", update, None),
        ("ranging", ranging, "fixed"),
        ("context", context, None),
    ):
        if value != default:
            extra[option] = value
    usual = _folder_name(f"{model.name}-{hardware.name}-{rung}-s{seed}", extra)
    folder = _out_folder(out) or Path(usual)
    with _writable(folder):
        with _progress("chips", as_json) as tick:
            result = run_on_chips(
                model,
                inputs,
                device=hardware,
                rung=rung,  # type: ignore[arg-type]
                readout=readout,  # type: ignore[arg-type]
                update=update,  # type: ignore[arg-type]
                ranging=ranging,  # type: ignore[arg-type]
                chips=chips,
                repeats=repeats,
                seed=seed,
                perturbation=perturbation,
                n_threads=threads,
                progress=tick,
            )
        return _deliver(result, folder, as_json)


@app.command()
def ladder(
    checkpoint: CheckpointPath,
    data: DataPath = None,
    device: DeviceName = None,
    chips: Annotated[int, typer.Option("--chips", help="Static draws.", **WHOLE)] = 4,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Dynamic draws on each chip.", **WHOLE)
    ] = 2,
    windows: WindowCount = None,
    context: Context = None,
    update: UpdateName = None,
    ranging: RangingName = "fixed",
    changes: Changes = None,
    config: ConfigText = None,
    seed: Seed = 0,
    threads: Threads = None,
    spice_tokens: Annotated[
        int | None,
        typer.Option(
            "--spice-tokens",
            help="And this many tokens of the first item in ngspice, on the sphere.",
            **WHOLE,
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run every rung from digital to the whole chip, one table."""
    from oscsim.report.spice_rung_text import print_spice_rung, rung_json
    from oscsim.report.terminal import print_ladder
    from oscsim.study.ladder import ladder as climb
    from oscsim.study.spice_rung import spice_rung

    model, inputs = _model_and_data(checkpoint, data, config, windows, context)
    hardware = _device(device, changes, "device", model)
    circuit = None
    if spice_tokens is not None:
        circuit = spice_rung(model, inputs, tokens=spice_tokens, seed=seed)
    with _progress("rungs", as_json) as tick:
        result = climb(
            model,
            inputs,
            device=hardware,
            chips=chips,
            repeats=repeats,
            seed=seed,
            update=update,  # type: ignore[arg-type]
            ranging=ranging,  # type: ignore[arg-type]
            n_threads=threads,
            progress=tick,
        )
    if as_json:
        told = result.to_dict(model.name)
        _print_json(told if circuit is None else told | {"spice": rung_json(circuit)})
    else:
        print_ladder(_console(), result)
        if circuit is not None:
            print_spice_rung(_console(), circuit)
    if result.interrupted:
        done = len(result.steps)
        return _complain(f"interrupted after {done} of 5 rungs", INTERRUPTED)
    return 0


@app.command()
def generate(
    checkpoint: CheckpointPath,
    prompt: Annotated[str, typer.Option("--prompt", help="What to go on from.")],
    device: DeviceName = None,
    rung: Annotated[
        str, typer.Option("--rung", help="digital, ideal, finite, noisy or device.")
    ] = "device",
    n_bytes: Annotated[
        int, typer.Option("--bytes", help="Bytes to write.", **WHOLE)
    ] = 200,
    temperature: Annotated[
        float, typer.Option("--temperature", help="0 takes the most probable byte.")
    ] = 1.0,
    changes: Changes = None,
    config: ConfigText = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Let a language model write, digitally and on a chip, with the same draws."""
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.bridge.generate import generate as write
    from oscsim.report.generated import generated_json, print_generated

    model = load_checkpoint(checkpoint, _assignments(config, "--config") or None)
    hardware = _device(device, changes, rung, model)
    with _progress("bytes", as_json) as tick:
        result = write(
            model,
            prompt,
            device=hardware,
            rung=rung,  # type: ignore[arg-type]
            n_bytes=n_bytes,
            temperature=temperature,
            seed=seed,
            progress=tick,
        )
    if as_json:
        _print_json(generated_json(model.name, result))
    else:
        print_generated(_console(), model.name, result)
    return 0


@app.command()
def rerun(
    record: Annotated[str, typer.Argument(metavar="RUN.TOML", help="Record of a run.")],
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", help="Where the checkpoint lies now, if moved."),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Where the data lie now, if moved.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", help="Folder for the repeated run.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Repeat a recorded run and check that it gives the same bits."""
    from oscsim.bridge import manifest

    recorded = manifest.Manifest.load(Path(record))
    folder = _out_folder(out)
    with _writable(folder):
        with _progress("chips", as_json) as tick:
            result = manifest.rerun(
                recorded,
                checkpoint=checkpoint,
                data=data,
                n_threads=threads,
                progress=tick,
            )
        if result.interrupted:
            return _interrupted(result)
        found = manifest.digest(result)
        same = found == recorded.logits_sha256
        if folder is not None:
            _deliver(result, folder, as_json, show=False)
    changed = manifest.changed_versions(recorded)
    if as_json:
        report = {"identical": same, "logits_sha256": found}
        _print_json(report | {"changed_versions": changed})
    elif same:
        what = "logits" if recorded.windows is None else "bits of tokens"
        typer.echo(f"identical: {result.outputs.size} {what}, sha256 {found}")
    if not same:
        why = (
            "; ".join(changed)
            or "same versions: an edited record, or another kind of CPU?"
        )
        return _complain(f"the run differs from its record ({why})", WORK_FAILED)
    return 0


@app.command()
def simulate(
    file: Annotated[
        str, typer.Argument(metavar="NET.TOML", help="A network and its simulation.")
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Seed of starts and noise; the file's if absent.", **WHOLE
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", help="Folder for trajectory and figures.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Simulate a network of oscillators from a file."""
    import warnings

    from oscsim.arrays import seed_number, whole_number
    from oscsim.errors import SpecError
    from oscsim.memory import require_memory
    from oscsim.report import simulation
    from oscsim.solve.netfile import parse_network, read_source
    from oscsim.solve.simulate import simulate as integrate

    path = Path(file)
    source = read_source(path)
    network, request = parse_network(source, path)
    if threads is not None:
        threads = whole_number("n_threads", threads, 1)
    arguments = request.arguments(None if seed is None else seed_number(seed))
    usual = Path(f"runs/{path.stem}-s{arguments['seed']}")
    folder = _out_folder(out) or usual
    with _writable(folder), warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            require_memory(
                "this run with its report",
                simulation.bytes_of_report(network, **arguments),
                "save less often, observe the order parameter, or fewer trajectories",
            )
            with _progress("steps", as_json) as tick:
                result = integrate(
                    network, n_threads=threads, progress=tick, **arguments
                )
        except SpecError as error:
            raise SpecError(f"{path}: {error}") from None
        files = simulation.write_trajectory(folder, result, source)
        try:
            summary = simulation.summarise(network, result)
            files += simulation.write_report(folder, network, result, summary)
        except (MemoryError, KeyboardInterrupt) as error:
            is_large = isinstance(error, MemoryError)
            why = "there was not enough memory" if is_large else "interrupted"
            return _complain(
                f"{files[0]} is written, its summary and figures are not: {why}",
                WORK_FAILED if is_large else INTERRUPTED,
            )
    notes = [" ".join(str(one.message).split()) for one in noted]
    if as_json:
        _print_json(summary | {"notes": notes, "files": [str(one) for one in files]})
    else:
        simulation.print_simulation(_console(), path.stem, summary)
        for note in notes:
            typer.echo(f"note: {note}")
        typer.echo(f"files: {folder}")
    if not result.is_complete:
        reached = f"interrupted at {result.t[-1]:.6g} s of {arguments['t1']:.6g} s"
        return _complain(reached, INTERRUPTED)
    return 0


@app.command()
def inspect(
    checkpoint: CheckpointPath, config: ConfigText = None, as_json: AsJson = False
) -> None:
    """Say what a checkpoint is and what had to be assumed."""
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.report.terminal import print_checkpoint

    model = load_checkpoint(checkpoint, _assignments(config, "--config") or None)
    if as_json:
        _print_json(model.describe())
    else:
        print_checkpoint(_console(), model)


@app.command()
def devices(
    name: Annotated[
        str | None, typer.Argument(help="One device, with every source.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the presets; one with its sources, prices and bounds of physics."""
    from oscsim.energy.limits import physics_limits
    from oscsim.energy.precision import precision
    from oscsim.report.limits_table import print_limits
    from oscsim.report.terminal import print_device, print_devices
    from oscsim.substrate.device import Device, presets

    found = [Device.load(one) for one in ([name] if name else presets())]
    if as_json:
        content = [json.loads(device.model_dump_json()) for device in found]
        _print_json(content[0] if name else content)
    elif name:
        print_device(_console(), found[0])
        if found[0].energy is not None and found[0].time_unit == "s":
            print_limits(_console(), physics_limits(found[0]), precision(found[0]))
    else:
        print_devices(_console(), found)


def _model_and_data(
    path: str,
    data: str | None,
    config: list[str] | None,
    windows: int | None,
    context: int | None,
) -> "tuple[Checkpoint, Data]":
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.bridge.infer import as_data

    model = load_checkpoint(path, _assignments(config, "--config") or None)
    return model, as_data(data, model, windows, context)


def _device(
    name: str | None, changes: list[str] | None, rung: str, model: "Checkpoint"
) -> "Device":
    from oscsim.errors import SpecError
    from oscsim.substrate.device import RUNGS, Device, default_device

    if rung not in RUNGS:
        raise SpecError(f"unknown rung {rung!r}: one of {', '.join(RUNGS)}")
    fields = _assignments(changes, "--set")
    kind = default_device(model.d_osc) if name is None else name
    device = Device.load(kind).changed(**fields)
    device.require_acting(fields, rung)
    return device


def _folder_name(plain: str, extra: dict[str, Any]) -> str:
    """Name a run's folder; what is not the default is in it, as a short digest."""
    import hashlib

    usual: dict[str, Any] = {"changes": {}, "config": {}, "draws": [8, 4]}
    if extra == usual | dict.fromkeys(("device", "data", "perturb")):
        return f"runs/{plain}"
    content = json.dumps(extra, sort_keys=True, default=str)
    return f"runs/{plain}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _deliver(
    result: "AnyRun", folder: Path, as_json: bool, *, show: bool = True
) -> int:
    """Write the record and the report of a run, and print it."""
    from oscsim.bridge.compare import compare
    from oscsim.bridge.cost import price
    from oscsim.bridge.infer import Run
    from oscsim.bridge.manifest import Manifest
    from oscsim.bridge.maps import attention_maps, telling_item
    from oscsim.bridge.scope import modelled
    from oscsim.bridge.summary import summary, warnings_of
    from oscsim.errors import SpecError
    from oscsim.report.page import Report, write_page
    from oscsim.report.terminal import print_run

    comparison, cost = compare(result), price(result)
    record = Manifest.of(result)
    record.save(folder / "run.toml")
    on, off = modelled(result.setting)
    maps = None
    if isinstance(result, Run):
        maps = attention_maps(result, telling_item(result))
    unwritten = ""
    try:
        write_page(
            folder / "report.html",
            Report(
                run=result,
                comparison=comparison,
                cost=cost,
                maps=maps,
                modelled=on,
                not_modelled=off,
                remarks=tuple(warnings_of(result, cost)),
                manifest=record,
            ),
        )
    except SpecError as error:
        unwritten = str(error)
    if show and as_json:
        files = {"record": "run.toml", "report": "report.html"}
        where = {name: str(folder / file) for name, file in files.items()}
        _print_json(summary(result, comparison, cost) | where)
    elif show:
        print_run(_console(), result, comparison, cost)
        typer.echo(f"report: {folder / 'report.html'}")
    if unwritten:
        return _complain(unwritten, WORK_FAILED)
    return _interrupted(result) if result.interrupted else 0


def _interrupted(result: "AnyRun") -> int:
    done, asked = len(result.outputs), result.chips_asked
    return _complain(f"interrupted after {done} of {asked} chips", INTERRUPTED)


def _complain(sentence: str, code: int) -> int:
    return complain("oscsim", sentence, code)
