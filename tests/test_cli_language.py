"""The command line with language models."""

import json
import re
import warnings

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from oscsim.cli import run
from tests.bridge.language import CONTEXT, prose, written


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for kind in ("oscillator", "softmax", "kuramoto", "transformer"):
        written(folder / kind, kind)
    prose(folder / "prose", 300)
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_infer_prints_bits_and_writes_a_page_and_a_record(models, tmp_path, capsys):
    asked = ["infer", str(models / "oscillator"), "--data", str(models / "prose")]
    asked += ["--windows", "3", "--chips", "2", "--repeats", "1", "--out", "here"]
    assert run(asked) == 0
    told = capsys.readouterr().out
    for part in ("3 windows of 12 bytes", "bits per byte (36 bytes)", "MD5", "perplex"):
        assert part in told
    page = (tmp_path / "here" / "report.html").read_text()
    for part in (
        "bits per byte",
        'id="bits-figure"',
        "Energy and time",
        "3 windows of",
    ):
        assert part in page
    assert "sentences" not in re.sub(r"<style>.*?</style>", "", page, flags=re.S)[:3000]
    assert run(["rerun", "here/run.toml", "--threads", "1"]) == 0
    assert "identical: 72 bits of tokens" in capsys.readouterr().out


def test_infer_prints_json_of_the_bundled_text(models, capsys):
    asked = ["infer", str(models / "kuramoto"), "--rung", "digital", "--json"]
    assert run(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["family"], found["n_windows"], found["context"]) == (
        "kuramoto",
        64,
        12,
    )
    assert found["data"]["md5"] == "9b3ebd31df5e5e67d73729efd4237681"
    assert found["data"]["path"].endswith("validation.bin")
    assert found["metric"] == "bits_per_byte"


def test_a_ladder_climbs_in_bits(models, capsys):
    asked = ["ladder", str(models / "oscillator"), "--windows", "2", "--chips", "2"]
    assert run([*asked, "--repeats", "1"]) == 0
    told = capsys.readouterr().out
    assert "bits per byte" in told
    assert "rms bits change" in told
    assert run([*asked, "--repeats", "1", "--json"]) == 0
    rungs = json.loads(capsys.readouterr().out)["rungs"]
    assert rungs[0]["rung"] == "digital"
    assert rungs[1]["rms_change"] < 1e-10 < rungs[4]["rms_change"]


def test_inspect_says_the_family(models, capsys):
    assert run(["inspect", str(models / "kuramoto")]) == 0
    assert "phase_convention" in capsys.readouterr().out


def test_generate_shows_both_texts(models, capsys):
    asked = ["generate", str(models / "oscillator"), "--prompt", "the cat"]
    asked += ["--bytes", "8", "--seed", "2"]
    assert run([*asked, "--rung", "noisy"]) == 0
    told = capsys.readouterr().out
    assert "Prompt: the cat" in told
    assert "chip 0 of sphere-generic, rung noisy" in told
    assert "same random numbers" in told
    assert run([*asked, "--rung", "digital", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["chip"] is None
    assert len(bytes.fromhex(found["digital"]["hex"])) == 8


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["infer", "softmax"], "only the rung digital can run it"),
        (["infer", "transformer"], "only the rung digital can run it"),
        (["infer", "oscillator", "--windows", "0"], "windows must be a whole number"),
        (["infer", "oscillator", "--windows", "99999"], "holds 21845 windows of 12"),
        (["infer", "oscillator", "--data", "enwik8"], ": enwik8 is not enwik8: it has"),
        (["infer", "oscillator", "--data", ""], "name of the data file is empty"),
        (["infer", "oscillator", "--context", "0"], "context must be a whole number"),
        (["infer", "oscillator", "--context", "13"], "longer than the 12 anchors"),
        (["infer", "softmax", "--context", "13"], "longer than the 12 positions"),
        (["infer", "kuramoto", "--ranging", "col"], "unknown ranging 'col': one of"),
        (
            ["infer", "oscillator", "--ranging", "row"],
            "ranging by row is what Kuramoto",
        ),
        (["ladder", "oscillator", "--update", "flow"], "an update as flow is what"),
        (["infer", "oscillator", "--readout", "fast"], "unknown read-out 'fast'"),
        (["infer", "oscillator", "--config", "max_len=7"], "must be at most max_len"),
        (["infer", "oscillator", "--config", "task=ids"], "--config task=bytes"),
        (["infer", "kuramoto", "--config", "bound=hard"], "or 'unit', got 'hard'"),
        (["generate", "oscillator", "--prompt", "\udcff"], "the prompt is not UTF-8"),
        (["generate", "oscillator", "--prompt", ""], "the prompt is empty"),
        (["generate", "softmax", "--prompt", "a"], "only the rung digital"),
    ],
)
def test_wrong_requests_are_one_sentence(models, tmp_path, capsys, asked, message):
    (tmp_path / "enwik8").write_bytes(b"<xml>abc\n")
    assert run([asked[0], str(models / asked[1]), *asked[2:]]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_prefix_sums_that_are_not_equal_are_refused_with_their_number(models, capsys):
    asked = [
        "infer",
        str(models / "oscillator"),
        "--readout",
        "prefix",
        "--windows",
        "2",
    ]
    assert run(asked) == 2
    assert re.search(r"1 \+ z\.r is negative for [\d,]+ pairs", capsys.readouterr().err)


def test_windows_are_not_for_sentences(capsys):
    from tests.bridge.runs import DATA

    asked = ["infer", str(DATA / "checkpoints" / "sva-osc-d2-s0"), "--windows", "3"]
    assert run(asked) == 2
    assert "windows of 3 is for language models" in capsys.readouterr().err


def test_the_context_is_the_trained_one(models, capsys):
    asked = ["infer", str(models / "oscillator"), "--rung", "digital", "--json"]
    assert run([*asked, "--windows", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["n_items"] == CONTEXT
    assert run([*asked, "--windows", "3", "--context", "5"]) == 0
    assert json.loads(capsys.readouterr().out)["n_items"] == 15


def test_a_perplexity_beyond_float64_is_said_not_fatal(tmp_path, capsys):
    """Weights far too large: thousands of bits per byte, and still a whole report."""
    model = written(tmp_path / "wild", "oscillator")
    weights = load_file(model / "model.safetensors")
    weights["head.weight"] = weights["head.weight"] * np.float32(1e6)
    save_file(weights, model / "model.safetensors")
    asked = ["infer", str(model), "--windows", "1", "--chips", "1", "--repeats", "1"]
    assert run([*asked, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "inf" in told
    assert "not finite" in told
    assert (tmp_path / "out" / "report.html").is_file()
    assert run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["digital"] > 1024
    assert found["digital_perplexity"] is None


def test_one_byte_of_context_and_a_temperature_of_almost_nothing(models, capsys):
    asked = ["infer", str(models / "oscillator"), "--context", "1", "--windows", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run([*asked, "--chips", "1", "--repeats", "1"]) == 0
        prompt = ["generate", str(models / "oscillator"), "--prompt", "a"]
        few = ["--bytes", "4", "--rung", "digital", "--json"]
        assert run([*prompt, *few, "--temperature", "1e-320"]) == 0
    capsys.readouterr()
