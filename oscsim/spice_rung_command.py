"""Tokens of a checkpoint on the command line: the spice rung."""

from pathlib import Path
from typing import Any

import typer

from oscsim.errors import SpecError

CLAIM_FAILED = 1


def require_netlist(
    file: str | None, tokens: int | None, asked: dict[str, Any]
) -> None:
    """Refuse what belongs to a checkpoint only.

    Parameters
    ----------
    file : str or None
        What was named, nothing with ``--all``.
    tokens : int or None
        Of ``--tokens``.
    asked : dict of str to Any
        The other options of a checkpoint; not asked for if None or 0.

    Raises
    ------
    SpecError
        If there is any of them, or the file looks like a checkpoint.
    """
    if tokens is not None:
        raise SpecError("--tokens takes a checkpoint, --all has none: give one")
    if file is not None and (
        Path(file).is_dir() or Path(file).suffix in (".safetensors", ".pt")
    ):
        raise SpecError(f"{file} looks like a checkpoint: add --tokens, for example 4")
    stray = [name for name, value in asked.items() if value not in (None, 0)]
    if stray:
        raise SpecError(
            f"--{stray[0]} belongs to a checkpoint: give one, with --tokens"
        )


def run_tokens(
    file: str,
    asked: dict[str, Any],
    timeout: float,
    engine: Any,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run tokens of a checkpoint, say how near the circuit comes; 1 if too far.

    Parameters
    ----------
    file : str
        The checkpoint.
    asked : dict of str to Any
        Arguments of `spice_rung`, and ``config``.
    timeout : float
        Longest wall time of ngspice (s).
    engine : {"program", "shared"}
        How ngspice runs.
    out : Path or None
        Where to keep everything; only a figure, in runs/spice, if None.
    as_json : bool
        Whether to print one JSON object.
    """
    from oscsim.bridge.checkpoint import load_checkpoint
    from oscsim.cli_output import assignments, console, print_json, writable
    from oscsim.files import write_whole
    from oscsim.report.canvas import png
    from oscsim.report.spice_rung_figure import spice_rung_figure
    from oscsim.report.spice_rung_text import print_spice_rung, rung_json, weights_csv
    from oscsim.study.spice_rung import spice_rung

    asked["circuit"] = asked["circuit"] or "sphere"
    given = assignments(asked.pop("config"), "--config")
    checkpoint = load_checkpoint(file, given or None)
    name = f"{checkpoint.name}-{asked['circuit']}"
    folder = Path("runs/spice") if out is None else out
    keep = folder / f"{name}.raw" if out is not None and engine != "shared" else None
    with writable(folder):
        rung = spice_rung(
            checkpoint, timeout=timeout, engine=engine, keep=keep, **asked
        )
        files = [folder / f"{name}.png"]
        write_whole(files[0], png(spice_rung_figure(rung)))
        if out is not None:
            files += [folder / f"{name}.cir", folder / f"{name}.csv"]
            write_whole(files[1], rung.netlist.text.encode())
            write_whole(files[2], weights_csv(rung))
            files += [] if keep is None else [keep]
    if as_json:
        print_json(rung_json(rung) | {"files": [str(one) for one in files]})
    else:
        print_spice_rung(console(), rung)
        typer.echo(f"files: {', '.join(map(str, files))}")
    return 0 if rung.passed else CLAIM_FAILED
