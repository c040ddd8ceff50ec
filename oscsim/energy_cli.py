"""The energy command: joules per token from a checkpoint, or from sizes alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oscsim import cli_output
from oscsim.energy_lists import list_checks, list_components, refuse_others

if TYPE_CHECKING:
    from oscsim.bridge.array import OnArray
    from oscsim.bridge.estimate import Estimate

AS_GIVEN = (
    "settling takes the device's settle_time, not this model's own: --settle-quantile "
    "takes it from its drives"
)


def energy(
    context: typer.Context,
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
            "also d_ff, outputs, p, causal, clamps."
            " clamps=no with p = 1 lets the read-out be factored.",
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
    macs: Annotated[
        float | None,
        typer.Option(
            "--macs-per-s",
            help="Multiply-accumulates per second of the digital part, to time it; "
            "the device's.",
        ),
    ] = None,
    ops: Annotated[
        float | None,
        typer.Option(
            "--ops-per-s",
            help="Elementwise operations per second of the digital part; the device's.",
        ),
    ] = None,
    quantile: Annotated[
        float | None,
        typer.Option(
            "--settle-quantile",
            metavar="Q",
            help="Let oscillators settle for this quantile, in (0, 1), of the times "
            "that the checkpoint's own drives need, instead of the device's time.",
        ),
    ] = None,
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
    if components or validation:
        refuse_others(context, "--components" if components else "--validate")
        return list_components(text, as_json) if components else list_checks(as_json)
    if batch < 1:
        raise SpecError(f"--batch must be at least 1, got {batch}")
    for option, rate in (("--macs-per-s", macs), ("--ops-per-s", ops)):
        if rate is not None and not 0 < rate < float("inf"):
            raise SpecError(f"{option} must be finite and > 0, got {rate:g}")
    folder = cli_output.out_folder(out)
    with cli_output.writable(folder):
        if folder is not None:
            from oscsim.report.estimate_files import require_names

            require_names(folder)
        found = _estimate(
            *(checkpoint, shape, device, node, reuse, data, changes, seed, quantile),
            is_timed=macs is not None or ops is not None,
        )
        _deliver(found, _on_array(found, batch, macs, ops), folder, as_json)
    return 0


def _on_array(
    found: "Estimate", batch: int, macs: float | None, ops: float | None
) -> "OnArray | None":
    """Return bounds, sweeps and area for the longest item; none without oscillators."""
    from oscsim.bridge.array import dwelling, on_array
    from oscsim.energy.baselines import Shape

    if found.device is None:
        return None
    if found.windows is not None:
        return dwelling(found.device, found.windows, found.library)
    if not isinstance(found.shape, Shape):
        return None
    return on_array(
        found.device,
        found.shape,
        max(found.shape.lengths),
        batch=batch,
        library=found.library,
        macs_per_s=macs,
        ops_per_s=ops,
        seed=found.seed,
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
    quantile: float | None,
    is_timed: bool,
) -> "Estimate":
    from dataclasses import replace

    from oscsim.arrays import seed_number
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.bridge.estimate import estimate
    from oscsim.bridge.estimate_checkpoint import estimate_checkpoint
    from oscsim.energy.described import parse_shape, stated_clamps
    from oscsim.energy.factoring import factoring
    from oscsim.errors import SpecError
    from oscsim.models.config import FixedQueryConfig
    from oscsim.substrate.device import Device, default_device

    seed, node_nm = seed_number(seed), _node(node)
    fields = cli_output.assignments(changes, "--set")
    if shape is None:
        model = load_checkpoint(checkpoint or "")
        fixed = isinstance(model.config, FixedQueryConfig) and model.d_osc is not None
        if is_timed and not fixed:
            raise SpecError(
                "--macs-per-s and --ops-per-s time what is beside an array of settling "
                f"oscillators: {model.name} is not fixed-query oscillator attention"
            )
        kind = default_device(model.d_osc) if device is None else device
        hardware = Device.load(kind).changed(**fields)
        settling = AS_GIVEN
        if quantile is not None:
            from oscsim.bridge.own_settling import own_settling

            if "settle_time" in fields:
                raise SpecError(
                    f"--settle-quantile {quantile:g} and --set settle_time exclude "
                    "each other: give one of them"
                )
            hardware, settling = own_settling(
                model, hardware, quantile, data=data, seed=seed
            )
        found = estimate_checkpoint(
            model, hardware, data=data, node_nm=node_nm, reuse=reuse, seed=seed
        )
        if found.device is None or found.windows is not None:
            return found
        return replace(found, notes=(*found.notes, settling))
    if quantile is not None:
        raise SpecError(
            f"--settle-quantile {quantile:g} needs the drives of a checkpoint, --shape "
            "has none: use --set settle_time"
        )
    if data is not None:
        raise SpecError(f"--data {data!r} goes with a checkpoint, not with --shape")
    sizes, assumed = parse_shape(shape)
    clamps = stated_clamps(shape)
    kind = default_device(sizes.d_osc) if device is None else device
    hardware = Device.load(kind).changed(**fields)
    notes = [f"assumed: {', '.join(assumed)}"] if assumed else []
    notes.append("settling takes the device's settle_time: there are no drives to ask")
    notes += _of_clamp(sizes.power, clamps)
    return estimate(
        sizes,
        hardware,
        factoring(sizes.coupling, sizes.power, clamps=clamps),
        title="a model without weights",
        node_nm=node_nm,
        reuse=reuse,
        notes=notes,
        seed=seed,
    )


def _of_clamp(power: int, clamps: bool | None) -> list[str]:
    if clamps is False:
        return ["as asked: no 1 + z.r is negative, so that no clamp acts"]
    if power != 1 or clamps is True:
        return []
    said = (
        "the clamp of the read-out acts in every bundled model of p = 1; say clamps=no "
        "to see the read-out factored"
    )
    return [said]


def _node(text: str | None) -> int | None:
    from oscsim.errors import SpecError

    if text is None:
        return None
    number = text.lower().removesuffix("nm").strip()
    if not (number.isascii() and number.isdecimal() and len(number) <= 6):
        raise SpecError(f"--node takes a node in nm, 45 or 7, got {text!r}")
    return int(number)


def _deliver(
    found: "Estimate", array: "OnArray | None", folder: Path | None, as_json: bool
) -> None:
    from oscsim.bridge.array_json import array_json
    from oscsim.bridge.judge import estimate_json, judge
    from oscsim.report.area_table import print_area
    from oscsim.report.estimate_terminal import print_estimate
    from oscsim.report.limits_table import print_limits
    from oscsim.report.phase_times_table import print_phase_times
    from oscsim.report.timeline_table import print_timelines

    judged = judge(found)
    files = []
    if folder is not None:
        from oscsim.report.estimate_files import write_files

        files = write_files(folder, found, judged, array)
    if as_json:
        names = {"files": [str(file) for file in files]}
        numbers = estimate_json(found, judged) | array_json(array)
        cli_output.print_json(numbers | names)
        return
    print_estimate(cli_output.console(), found, judged)
    if array is not None:
        print_limits(cli_output.console(), array.limits, array.held)
        if array.unbound:
            cli_output.console().print(f"{array.unbound}.", highlight=False)
        print_timelines(cli_output.console(), array.timed, array.write_j)
        if array.area is not None:
            print_area(cli_output.console(), array)
        if array.windows is not None:
            print_phase_times(cli_output.console(), array.windows)
    if files:
        typer.echo(f"files: {folder}")
