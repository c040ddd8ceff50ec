"""Compiled code that is kept on disk belongs to the sources as they are."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oscsim
from oscsim import _jit

PROGRAM = """
import numpy as np
from oscsim.solve.noise import _fill, uniforms
from oscsim.solve.stream import Stream
print(uniforms(Stream(1, 2), np.arange(3), 1).sum())
print(sum(_fill.stats.cache_hits.values()))
"""


pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)


def test_an_edited_callee_is_compiled_anew_and_the_old_one_found_again(tmp_path):
    """The caller's file stays as it is, which is all that numba looks at."""
    copy = tmp_path / "oscsim"
    ignored = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(Path(oscsim.__file__).parent, copy, ignore=ignored)
    callee = copy / "solve" / "philox.py"
    text = callee.read_text(encoding="utf-8")
    edited = text.replace("0xD2511F53", "0xD2511F55")
    assert edited != text
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment["OSCSIM_CACHE_DIR"] = str(tmp_path / "cache")

    def answer(source):
        callee.write_text(source, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        total, n_hits = done.stdout.split()
        return float(total), int(n_hits)

    first, new = answer(text), answer(edited)
    assert first[1] == new[1] == 0
    assert abs(first[0] - new[0]) > 1e-3
    assert answer(text) == (first[0], 1)


def test_signatures_compiled_at_once_are_not_taken_for_each_other(
    tmp_path, monkeypatch
):
    """The first process writes its list last, after all that the second writes."""
    monkeypatch.setattr(_jit, "_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "twice.py"
    source.write_text(
        "from oscsim._jit import kernel\n@kernel\ndef twice(x):\n    return x + x\n"
    )

    def in_a_new_process():
        spec = importlib.util.spec_from_file_location("twice", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice

    odd = 2**53 + 1  # no float
    assert in_a_new_process()(odd) == 2 * odd
    (signatures,) = (tmp_path / "cache").rglob("*.nbi")
    of_the_first = signatures.read_bytes()
    signatures.unlink()
    assert in_a_new_process()(0.5) == 1.0
    signatures.write_bytes(of_the_first)
    third = in_a_new_process()
    assert third(odd) == 2 * odd
    assert sum(third.stats.cache_hits.values()) == 1
