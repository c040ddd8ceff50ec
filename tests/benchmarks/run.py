"""``python -m tests.benchmarks.run``: all rows, each in a process of its own.

Writes ``data/benchmarks/latest.json`` and ``latest.png``, or with ``--quick``
small sizes into ``runs/benchmark-quick``. Exit code 0: all that was asked ran;
1: one of our own contenders did not.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

ROOT = Path(__file__).parents[2]
FULL = ROOT / "data" / "benchmarks" / "latest.json"
QUICK = ROOT / "runs" / "benchmark-quick" / "latest.json"
DIMENSIONS = (2, 8, 32)
GROUPS = (
    "W1",
    "W1-adaptive",
    "W1-jitcode",
    "W2",
    "W3",
    *(f"W4-d{d}" for d in DIMENSIONS),
    *(f"W4-settled-d{d}" for d in DIMENSIONS),
    "W5",
    "W6",
    "growth",
    "inference",
    "startup",
    "memory",
)
PEERS = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "jax",
    "diffrax",
    "torch",
    "torchdiffeq",
    "torchsde",
    "jitcode",
    "brian2",
    "kuramoto",
    "sdeint",
)
BUSY = 0.25
"""Processors used by others above which a row counts as disturbed."""

console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)


def main() -> int:
    """Run what is asked for and write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.run")
    parser.add_argument("--quick", action="store_true", help="small sizes, 1 round")
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP")
    parser.add_argument("--repeats", type=int, help="rounds (5; quick: 1)")
    parser.add_argument("--out", type=Path, help="JSON file; the figure lies beside it")
    parser.add_argument("--group", choices=GROUPS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    repeats = asked.repeats or (1 if asked.quick else 5)
    if asked.group is not None:
        return _one_group(asked.group, asked.quick, repeats, asked.out)
    out = asked.out or (QUICK if asked.quick else FULL)
    machine = describe_machine()
    started = time.time()
    rows: list[dict[str, Any]] = []
    for group in asked.only or GROUPS:
        found = _in_process(group, asked.quick, repeats)
        _show(group, found)
        rows += found
    machine["seconds"] = round(time.time() - started)
    _write(out, machine | {"quick": asked.quick, "repeats": repeats}, rows)
    ours = [r for r in rows if r["library"] == "oscsim" and "missing" in r]
    return 1 if ours else 0


def describe_machine() -> dict[str, Any]:
    """Return processor, versions and how busy the machine is before the run."""
    from oscsim import __version__
    from tests.benchmarks.measure import version_of

    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        lines = information.read_text().splitlines()
        named = [x.split(":")[1].strip() for x in lines if x.startswith("model name")]
        numbers = [
            x.split(":")[1].strip()
            for x in lines
            if x.startswith(("cpu family", "model\t"))
        ]
        if named:
            processor = f"{named[0]} (family {', model '.join(numbers[:2])})"
    return {
        "processor": processor,
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "oscsim": __version__,
        "versions": {name: version_of(name) for name in PEERS},
        "load_before": os.getloadavg(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _in_process(group: str, quick: bool, repeats: int) -> list[dict[str, Any]]:
    """Run one group in a fresh interpreter with a clean environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    environment |= {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "tests.benchmarks.run", "--group", group]
        command += ["--repeats", str(repeats), "--out", str(out)]
        command += ["--quick"] if quick else []
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if out.is_file():
            return json.loads(out.read_text(encoding="utf-8"))
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    gone = {"row": group, "contender": "the whole group", "library": "oscsim"}
    return [
        gone | {"family": "oscsim", "missing": f"exit {done.returncode}: {last}"[:300]}
    ]


def _one_group(group: str, quick: bool, repeats: int, out: Path) -> int:
    from tests.benchmarks import batch_rows, dense_rows, driven_rows
    from tests.benchmarks.entries import Row, Scale
    from tests.benchmarks.growth_rows import growth
    from tests.benchmarks.inference import infer_rows
    from tests.benchmarks.noisy_rows import w5_noise
    from tests.benchmarks.sparse_rows import w2_sparse
    from tests.benchmarks.startup import memory_rows, startup_rows

    makers: dict[str, Callable[[Scale], list[Row]]] = {
        "W1": dense_rows.w1_dense,
        "W1-adaptive": dense_rows.w1_adaptive,
        "W1-jitcode": dense_rows.w1_jitcode,
        "W2": w2_sparse,
        "W3": batch_rows.w3_batch,
        "W5": w5_noise,
        "W6": batch_rows.w6_shared,
        "growth": growth,
        "inference": infer_rows,
        "startup": startup_rows,
        "memory": memory_rows,
    }
    for d in DIMENSIONS:
        makers[f"W4-d{d}"] = partial(driven_rows.w4_driven, d=d)
        makers[f"W4-settled-d{d}"] = partial(driven_rows.w4_settled, d=d)
    rows = makers[group](Scale(quick, repeats))
    out.write_text(json.dumps(rows), encoding="utf-8")
    return 0


def _show(group: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=group, title_justify="left")
    for heading in ("row", "contender", "wall", "CPU", "unit", "error"):
        table.add_column(heading)
    for row in rows:
        if "missing" in row:
            what = f"missing: {row['missing']}"
            told = escape(row["contender"]), "", "", "", escape(what)
            table.add_row(row["row"], *told)
            continue
        if "asked_bytes" in row:
            what = f"{row['peak_growth_bytes']} bytes for {row['asked_bytes']}"
            table.add_row(row["row"], row["contender"], "", "", "", what)
            continue
        error = row["error"]
        table.add_row(
            row["row"] + (f" {row['size']}" if "growth" in row["row"] else ""),
            escape(row["contender"]),
            f"{row['wall_per_unit_s']:.3g}",
            f"{row['cpu_per_unit_s']:.3g}",
            "s per unit",
            f"{error:.1e}" if isinstance(error, float) else str(error or ""),
        )
    console.print(table)
    others = [r["load"]["others_processors"] or 0.0 for r in rows if r.get("load")]
    if others and max(others) > BUSY:
        console.print(
            f"disturbed: others used up to {max(others):.2f} processors meanwhile"
        )


def _write(out: Path, machine: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    from oscsim.files import write_whole
    from tests.benchmarks.figure import draw
    from tests.benchmarks.targets import compare, judge, rooflines

    targets = judge(rows)
    others = [r["load"]["others_processors"] or 0.0 for r in rows if r.get("load")]
    machine["others_processors_max"] = max(others, default=None)
    machine["disturbed"] = max(others, default=0.0) > BUSY
    report: dict[str, Any] = {"machine": machine, "targets": targets}
    report |= {"comparisons": compare(rows), "rooflines": rooflines(rows)}
    report["rows"] = rows
    out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1, allow_nan=False) + "\n"
    write_whole(out, text.encode())
    write_whole(out.with_suffix(".png"), draw(report))
    if machine["quick"]:
        console.print("small sizes: what follows says nothing about speed")
    _show_verdicts(report)
    console.print(f"written: {out} and {out.with_suffix('.png').name}")


def _show_verdicts(report: dict[str, Any]) -> None:
    table = Table(title="targets", title_justify="left")
    for heading in ("id", "measured", "by CPU time", "asked", "", "what"):
        table.add_column(heading)
    for name, entry in (report["targets"] | report["comparisons"]).items():
        measured, what = entry["measured"], entry.get("missing", entry["what"])
        numbers = ("not measured", "")
        if measured is not None:
            numbers = f"{measured:.3g}", f"{entry['measured_cpu']:.3g}"
        asked, verdict = "nothing", ""
        if "target" in entry:
            asked = f"{entry['sense']} {entry['target']:g}"
            if measured is not None:
                verdict = "reached" if entry["reached"] else "MISSED"
        table.add_row(name, *numbers, asked, verdict, what)
    console.print(table)
    for name, entry in report["targets"].items():
        if "reason" in entry:
            console.print(f"{name} missed: {entry['reason']}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
