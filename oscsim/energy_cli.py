"""The energy command: joules per token from a checkpoint, or from sizes alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oscsim import cli_output

if TYPE_CHECKING:
    from oscsim.bridge.array import OnArray
    from oscsim.bridge.estimate import Estimate


def energy(
    checkpoint: Annotated[
        str | None,
        typer.Argument(
            metavar="CKPT",
            help="Checkpoint: folder or file. Kuramoto attention is run on one chip, "
            "which says how long its oscillators dwell.",
        ),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            "--shape",
            metavar="NAME=VALUE,...",
            help="A model without weights: T, H, d_model, d_osc, layers, coupling; "
            "also d_ff, outputs, p, causal.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            help="Preset or .toml file; ring-65nm for d_osc 2, otherwise "
            "sphere-generic.",
        ),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--node", help="Node of the digital logic (nm): 45 or 7; the device's."
        ),
    ] = None,
    reuse: Annotated[
        float,
        typer.Option("--reuse", help="Uses of one byte read from on-chip memory."),
    ] = 1.0,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Items of the checkpoint; the bundled ones."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change one number of the device, e.g. settle_time=2e-6; repeatable.",
        ),
    ] = None,
    components: Annotated[
        bool, typer.Option("--components", help="List the component library instead.")
    ] = False,
    validation: Annotated[
        bool,
        typer.Option(
            "--validate", help="Compare predictions with published machines instead."
        ),
    ] = False,
    batch: Annotated[
        int,
        typer.Option(
            "--batch",
            help="Sequences at a time, beside one alone; Kuramoto attention reads "
            "them one after the other.",
        ),
    ] = 16,
    text: Annotated[
        str, typer.Option("--filter", help="With --components: rows that hold it.")
    ] = "",
    seed: Annotated[
        int,
        typer.Option("--seed", help="Seed of the priors, and of a chip that is run."),
    ] = 0,
    out: Annotated[
        str | None,
        typer.Option("--out", help="Folder for energy.html, .json, .bib and figures."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> int:
    """Estimate joules per token, beside every digital rival, with their sources."""
    from oscsim.errors import SpecError

    asked = [checkpoint is not None, shape is not None, components, validation]
    if sum(asked) != 1:
        raise SpecError(
            "energy needs one of CKPT, --shape, --components and --validate, "
            f"got {sum(asked)} of them"
        )
    if text and not components:
        raise SpecError(f"--filter {text!r} goes with --components")
    if components:
        return _list(text, as_json)
    if validation:
        return _validate(as_json)
    if batch < 1:
        raise SpecError(f"--batch must be at least 1, got {batch}")
    found = _estimate(checkpoint, shape, device, node, reuse, data, changes, seed)
    return _deliver(found, batch, out, as_json)


def _list(text: str, as_json: bool) -> int:
    from oscsim.energy.components import Library
    from oscsim.errors import SpecError
    from oscsim.report.estimate_terminal import library_rows, print_library

    rows = library_rows(Library.load(), text)
    if not rows:
        raise SpecError(f"no component holds {text!r}: list all without --filter")
    if as_json:
        cli_output.print_json([part.model_dump() for part in rows])
    else:
        print_library(cli_output.console(), rows)
    return 0


def _validate(as_json: bool) -> int:
    from oscsim.bridge.array_json import validation_json
    from oscsim.energy.validation import validate
    from oscsim.report.validation_table import print_validation

    checks = validate()
    if as_json:
        cli_output.print_json(validation_json(checks))
    else:
        print_validation(cli_output.console(), checks)
    return 0


def _on_array(found: "Estimate", batch: int) -> "OnArray | None":
    """Return bounds and sweeps of the longest item; nothing without oscillators."""
    from oscsim.bridge.array import dwelling, on_array
    from oscsim.energy.baselines import Shape

    if found.device is None:
        return None
    if found.windows is not None:
        return dwelling(found.device, found.windows, found.library)
    if not isinstance(found.shape, Shape):
        return None
    longest = max(found.shape.lengths)
    return on_array(
        found.device, found.shape, longest, batch=batch, library=found.library
    )


def _estimate(
    checkpoint: str | None,
    shape: str | None,
    device: str | None,
    node: str | None,
    reuse: float,
    data: str | None,
    changes: list[str] | None,
    seed: int,
) -> "Estimate":
    from oscsim.arrays import seed_number
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.bridge.estimate import estimate
    from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
    from oscsim.energy.described import parse_shape
    from oscsim.energy.factoring import factoring
    from oscsim.errors import SpecError
    from oscsim.substrate.device import Device, default_device

    seed, node_nm = seed_number(seed), _node(node)
    fields = cli_output.assignments(changes, "--set")
    if shape is None:
        model = load_checkpoint(checkpoint or "")
        hardware = Device.load(device or default_device(model.d_osc)).changed(**fields)
        return estimate_checkpoint(
            model, hardware, data=data, node_nm=node_nm, reuse=reuse, seed=seed
        )
    if data is not None:
        raise SpecError(f"--data {data!r} goes with a checkpoint, not with --shape")
    sizes, assumed = parse_shape(shape)
    hardware = Device.load(device or default_device(sizes.d_osc)).changed(**fields)
    notes = [f"assumed: {', '.join(assumed)}"] if assumed else []
    if sizes.power == 1:
        notes.append("assumed: no anchor longer than 1, so that no clamp acts")
    return estimate(
        sizes,
        hardware,
        factoring(sizes.coupling, sizes.power, clamps=False),
        title="a model without weights",
        node_nm=node_nm,
        reuse=reuse,
        notes=notes,
        seed=seed,
    )


def _node(text: str | None) -> int | None:
    from oscsim.errors import SpecError

    if text is None:
        return None
    number = text.lower().removesuffix("nm").strip()
    if not number.isdigit():
        raise SpecError(f"--node takes a node in nm, 45 or 7, got {text!r}")
    return int(number)


def _deliver(found: "Estimate", batch: int, out: str | None, as_json: bool) -> int:
    from oscsim.bridge.array_json import array_json
    from oscsim.bridge.judge import estimate_json, judge
    from oscsim.report.estimate_terminal import print_estimate
    from oscsim.report.limits_table import print_limits
    from oscsim.report.phase_times_table import print_phase_times
    from oscsim.report.timeline_table import print_timelines

    folder = None if out is None else Path(out)
    with cli_output.writable(folder):
        judged = judge(found)
        array = _on_array(found, batch)
        files = []
        if folder is not None:
            from oscsim.report.estimate_files import write_files

            files = write_files(folder, found, judged, array)
        if as_json:
            names = {"files": [str(file) for file in files]}
            numbers = estimate_json(found, judged) | array_json(array)
            cli_output.print_json(numbers | names)
        else:
            print_estimate(cli_output.console(), found, judged)
            if array is not None:
                print_limits(cli_output.console(), array.limits, array.held)
                print_timelines(cli_output.console(), array.timed)
                if array.windows is not None:
                    print_phase_times(cli_output.console(), array.windows)
            if files:
                typer.echo(f"files: {folder}")
    return 0
