"""A byte model that a command trained is read, measured and compared."""

import json

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.study.family import measure

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from typer.testing import CliRunner  # noqa: E402

from oscsim.train import language_fit  # noqa: E402
from oscsim.train.commands import app  # noqa: E402

TEXT = np.tile(np.frombuffer(b"the oscillators settle ", np.uint8), 60)


@pytest.fixture(autouse=True)
def _short_text(monkeypatch):
    monkeypatch.setattr(language_fit, "read_enwik8", lambda *_: TEXT)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def run(out, *options):
    asked = ["bytes", "--enwik8", "text", "--out", str(out), "--tokens", "20480"]
    return CliRunner().invoke(app, [*asked, *options], catch_exceptions=False)


def test_the_measured_bits_are_those_of_the_training(tmp_path):
    (tmp_path / "text").write_bytes(TEXT.tobytes())
    ours, twin = tmp_path / "ours", tmp_path / "twin"
    size = ("--d-model", "8", "--seed", "3")
    assert run(ours, "--d-osc", "4", "--p", "2", *size).exit_code == 0
    assert run(twin, *size).exit_code == 0
    found = measure([ours, twin], tmp_path / "text", windows=len(TEXT) // 64)
    for folder, member in zip((ours, twin), found, strict=True):
        record = json.loads((folder / "training.json").read_text())
        assert member.bits.mean() == pytest.approx(record["validation_bpc"], abs=1e-4)
        assert (member.seed, member.tokens) == (3, 20480)
        assert member.parameters == record["parameters"]
    assert (found[0].d_osc, found[0].p, found[1].d_osc) == (4, 2, None)
    assert found[0].bits.mean() != pytest.approx(found[1].bits.mean(), abs=1e-3)
    assert not list(tmp_path.glob("*.partial"))


def test_wrong_requests_are_refused(tmp_path):
    with pytest.raises(SpecError, match="--p must be 1, 2 or 4, got 3"):
        run(tmp_path / "new", "--d-osc", "2", "--p", "3")
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="is a file: give a folder"):
        run(tmp_path / "file")
