"""An installed wheel carries the data it needs, away from the checkout."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    subprocess.run([*build, "--outdir", folder, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet"]
    subprocess.run([*install, "--target", target, wheel], check=True)
    return target


def run(installed, folder, *arguments):
    code = "import sys; from oscsim.cli import main; main(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_devices_are_found_in_the_wheel(installed, tmp_path):
    found = run(installed, tmp_path, "devices")
    assert found.returncode == 0, found.stderr
    assert "ring-65nm" in found.stdout


def test_a_checkpoint_runs_from_the_wheel(installed, tmp_path):
    checkpoint = ROOT / "data" / "checkpoints" / "sva-osc-d2-s0"
    found = run(
        installed, tmp_path, "infer", str(checkpoint), "--chips", "1", "--repeats", "1"
    )
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "runs").is_dir()


def test_what_rivals_reach_is_found_in_the_wheel(installed, tmp_path):
    checkpoint = ROOT / "data" / "checkpoints" / "sva-softmax-s0"
    found = run(installed, tmp_path, "energy", str(checkpoint), "--json")
    assert found.returncode == 0, found.stderr
    said = json.loads(found.stdout)["scenarios"][0]["accuracy"]
    assert "% of hard sentences" in said


@pytest.mark.spice
def test_a_circuit_is_found_in_the_wheel(installed, tmp_path):
    found = run(installed, tmp_path, "spice", "attention_resistor")
    assert found.returncode == 0, found.stderr
    assert "pass" in found.stdout
