"""The README is executed: what it tells a newcomer to type works."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from oscsim.cli import run
from oscsim.design.run import prepare
from oscsim.design.spec import Design, parse_spec

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands():
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty folder from which ``data`` and the examples can be reached."""
    for name in ("data", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make")])
def test_make_targets_exist(command):
    dry = [*shlex.split(command), "--dry-run"]
    done = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_oscsim_commands_work(checkout, capsys):
    """In one folder and in order: later ones use what earlier ones wrote."""
    chosen = [c for c in commands() if c.startswith("oscsim ")]
    chosen = [c for c in chosen if not c.startswith("oscsim spice")]
    assert len(chosen) >= 5
    for command in chosen:
        assert run(shlex.split(command)[1:]) == 0, command
    capsys.readouterr()


@pytest.mark.spice
def test_circuits_run_as_the_readme_says(checkout, capsys):
    """All that ship run in tests/spice."""
    chosen = [c for c in commands() if re.match(r"oscsim spice \w", c)]
    assert len(chosen) == 5
    for command in chosen:
        assert run(shlex.split(command)[1:]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("block", blocks("toml"))
def test_specifications_of_sweeps_can_be_prepared_where_the_readme_saves_them(block):
    spec = parse_spec(
        tomllib.loads(block) | {"name": "my"}, ROOT / "examples" / "sweeps"
    )
    ready = prepare(spec.model_copy(update={"windows": 1}))
    expected = {"grid": 24, "list": 3, "latin-hypercube": 24}[spec.design]
    assert len(ready.cells) == expected


def test_the_readme_shows_every_design():
    shown = {tomllib.loads(block).get("design", "grid") for block in blocks("toml")}
    assert shown == set(get_args(Design))


@pytest.mark.parametrize("block", blocks("python"))
def test_python_blocks_work(block, checkout):
    subprocess.run([sys.executable, "-c", block], cwd=checkout, check=True)
