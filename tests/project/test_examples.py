"""The numbered examples run and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("[0-9]*.py"))


def run(name, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, "--quick"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_and_listed(name):
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < 60
    assert name in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_convergence_follows_the_formula(tmp_path):
    out = run("01_convergence.py", tmp_path)
    scores = [float(z) for z in re.findall(r"\s([+-]\d+\.\d\d)(?=\s)", out)]
    assert len(scores) > 20
    assert max(abs(z) for z in scores) < 4
    said = re.search(r"(\d+) of (\d+) z-scores beyond 2, ([\d.]+) by chance", out)
    beyond, at_least = (sum(abs(z) > least for z in scores) for least in (2.0, 1.99))
    assert beyond <= int(said[1]) <= at_least, "printed scores are rounded"
    assert int(said[2]) == len(scores)
    assert float(said[3]) == pytest.approx(0.0455 * len(scores), abs=0.06)
    assert re.search(r"pi/4\s+0.25\s+0.146\s+0.0166\s+0.000751\s+2.11e-06", out)
    assert (tmp_path / "convergence.png").stat().st_size > 10_000


def test_robustness_prints_ours_beside_the_replica(tmp_path):
    out = run("02_robustness.py", tmp_path)
    assert "sva-osc-d2-s0  sva-osc-d2-s1     replica s0     replica s1" in out
    row = re.search(r"^ +state +0.5 .*", out, re.MULTILINE)[0].split()
    assert row[-2:] == ["94.40", "94.80"]
    assert all(80 < float(value) <= 100 for value in row[2:4])
    table = (tmp_path / "robustness-sva.csv").read_text().splitlines()
    assert table[0] == "checkpoint,kind,value,mean,low,high"
    assert len(table) == 1 + 2 * 18 + 2 * 14
    assert (tmp_path / "robustness-sva.png").stat().st_size > 10_000
