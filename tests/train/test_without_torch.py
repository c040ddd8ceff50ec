"""Without torch: help as usual, training one sentence that names the extra."""

import subprocess
import sys

import pytest

WITHOUT = "import runpy, sys; sys.modules['torch'] = None; "
TRAIN = WITHOUT + "runpy.run_module('oscsim.train', run_name='__main__')"


def train(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", TRAIN, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments", [("sva", "--out", "new"), ("golden", "--out", "new"), ("index", ".")]
)
def test_missing_torch_is_one_sentence(arguments, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = train(*arguments)
    assert done.returncode == 2
    assert done.stderr == (
        "oscsim.train: training needs torch: make install EXTRAS=torch in a checkout, "
        "or pip install 'oscsim[torch]'\n"
    )
    assert done.stdout == ""
    assert not list(tmp_path.iterdir())


def test_help_needs_no_torch() -> None:
    done = train("sva", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("--out", "--kind", "--seed", "--epochs"):
        assert option in done.stdout


def test_the_sentences_need_no_torch(tmp_path) -> None:
    done = train("data", "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("validation.jsonl", "calibration.jsonl"):
        assert (tmp_path / name).read_bytes().count(b"\n") in (256, 4000)
