"""The command line: exit codes, one sentence on stderr, nothing half-written."""

import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from oscsim import cli
from oscsim.bridge.engine import Engine
from oscsim.errors import IntegrationError, SpecError
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.substrate.device import RUNGS, Device, presets

DATA = Path(__file__).parents[1] / "data"
MODEL = DATA / "checkpoints" / "sva-osc-d2-s0"
BUNDLED = DATA / "datasets" / "sva" / "validation.jsonl"
COMMANDS = ("infer", "ladder", "rerun", "simulate", "inspect", "devices", "spice")
FAST = ("--chips", "2", "--repeats", "1")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test runs in an empty folder, outside of which nothing is written."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def files(tmp_path):
    """A copy of a checkpoint and 30 sentences, beside the working folder."""
    shutil.copytree(MODEL, tmp_path / "model")
    lines = BUNDLED.read_text(encoding="utf-8")
    (tmp_path / "data.jsonl").write_text("\n".join(lines.splitlines()[:30]))
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Leave out the drawings of a report, about a second each."""

    def empty_page(path, _report):
        path.write_text("<html></html>")

    monkeypatch.setattr("oscsim.report.page.write_page", empty_page)


def run(capfd, *arguments):
    """Return exit code, stdout and stderr of a command."""
    code = cli.run([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return code, out, err


def infer(capfd, files, *more):
    return run(
        capfd, "infer", files / "model", "--data", files / "data.jsonl", *FAST, *more
    )


def complaint(found, code=2):
    """Check that a command complained in one line and did nothing else."""
    got, out, err = found
    assert got == code
    assert out == ""
    assert err.startswith("oscsim: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert len(err) > 20
    assert not list(Path.cwd().iterdir())
    return err


# Help and names


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(capfd, command):
    code, out, err = run(capfd, command, "--help")
    assert (code, err) == (0, "")
    assert "Usage:" in out
    assert "--json" in out


def test_help_lists_every_command(capfd):
    code, out, _ = run(capfd, "--help")
    assert code == 0
    assert {name for name in COMMANDS if f" {name} " in out} == set(COMMANDS)
    registered = {c.name or c.callback.__name__ for c in cli.app.registered_commands}
    assert set(COMMANDS) <= registered


def test_version(capfd):
    from oscsim import __version__

    assert run(capfd, "--version") == (0, f"oscsim {__version__}\n", "")


def test_no_command_shows_help_and_asks_for_one(capfd):
    code, out, err = run(capfd)
    assert code == 2
    assert "Usage:" in out + err
    assert err.rstrip("\n").endswith("oscsim: name a command")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "nonsense"),
        (["infer"], "CKPT"),
        (["infer", "x", "--bogus"], "--bogus"),
        (["infer", "x", "--chips", "two"], "--chips"),
        (["infer", "x", "--seed"], "--seed"),
        (["infer", "x", "y"], "y"),
        (["devices", "no-such"], "no device 'no-such'"),
        (["rerun", "missing.toml"], "missing.toml"),
        (["inspect", "missing"], "there is no checkpoint missing"),
        (["ladder", "missing"], "there is no checkpoint missing"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(capfd, arguments, expected):
    assert expected in complaint(run(capfd, *arguments))


# Bad values


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--chips", "0"], "chips must be a whole number in 1..2^32 - 1, got 0"),
        (["--chips", "-3"], "chips must be a whole number in"),
        (["--repeats", "-1"], "repeats must be a whole number in 1..2^32 - 1, got -1"),
        (["--repeats", "0"], "repeats must be a whole number in"),
        (["--seed", "-1"], "seed must be in 0..2^32 - 1, got -1"),
        (["--seed", str(2**32)], "seed must be in"),
        (["--threads", "0"], "threads must be at least 1, got 0"),
        (["--rung", "spice"], "unknown rung 'spice': one of digital, ideal"),
        (["--rung", ""], "unknown rung ''"),
        (["--perturb", "noise"], "a perturbation is written kind=s"),
        (["--perturb", "coupling=-1"], "must be finite and >= 0"),
        (["--perturb", "coupling=nan"], "must be finite and >= 0"),
        (["--perturb", "colour=1"], "unknown perturbation 'colour'"),
        (
            ["--perturb", "coupling=0.1", "--device", "ring-65nm"],
            "use device ideal, got device ring-65nm at rung device",
        ),
        (["--perturb", "coupling=0.1", "--rung", "digital"], "at rung digital"),
        (
            ["--perturb", "state=0.1", "--set", "readout_noise=0.1"],
            "readout_noise cannot act at rung ideal: use rung device",
        ),
        (["--set", "weight_bits=0"], "weight_bits: input should be greater"),
        (["--set", "weight_bits=4.5"], "weight_bits"),
        (["--set", "readout_noise=-0.1"], "readout_noise"),
        (["--set", "readout_noise=nan"], "readout_noise"),
        (["--set", "colour=3"], "unknown key 'colour'"),
        (["--set", "colour"], "--set takes NAME=VALUE, got 'colour'"),
        (["--set", "=3"], "--set takes NAME=VALUE"),
        (["--set", "provenance=3"], "provenance must be a table"),
        (["--set", "diffusion=1e3", "--rung", "finite"], "use rung noisy or device"),
        (["--set", "adc_bits=3", "--rung", "digital"], "adc_bits cannot act"),
        (["--set", "range_limit=true", "--rung", "noisy"], "range_limit cannot act"),
        (["--set", "range_limit=false"], "range_limit = false cannot act"),
        (["--set", "coupling_max=none"], "coupling_max (rad/s) is needed"),
        (["--device", "ring-5nm"], "no device 'ring-5nm': one of ideal"),
        (["--device", "missing.toml"], "device file missing.toml does not exist"),
        (["--device", ".."], "no device '..'"),
        (["--config", "n_head=1"], "config has no field n_head"),
        (["--config", "d_model=33"], "wrong shape"),
        (["--config", "mask_readout=perhaps"], "mask_readout"),
        (["--config", "padding_idx=none"], "no padding_idx"),
        (["--data", "missing.jsonl"], "there is no data file missing.jsonl"),
        (["--data", "."], "is a folder"),
    ],
)
def test_a_wrong_value_is_one_sentence_and_leaves_no_trace(
    capfd, files, options, expected
):
    found = infer(capfd, files, "--out", "kept/out", *options)
    assert expected in complaint(found)


TIMED = """settle_time = 1e-6
[energy]
oscillator_node_nm = 65
digital_node_nm = 45
"""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("colour = 3", "unknown key 'colour'"),
        ("readout_noise = -1", "readout_noise"),
        ("weight_bits = 0", "weight_bits"),
        ("[energy]\nprices = 3", "energy"),
        ("not toml", "is not TOML"),
        ("\N{SNOWMAN} = 1", "is not TOML"),
        (TIMED + 'prices = {state_read = ["tdc.ds_8b_65nm"]}', "has no price"),
        (TIMED + 'prices = {state_read = ["tdc.unknown"]}', "tdc.unknown"),
    ],
)
def test_a_wrong_device_file_is_told_before_any_work(
    capfd, files, content, expected, monkeypatch
):
    def never(*_args):
        raise AssertionError("work has started")

    monkeypatch.setattr(Engine, "on_chip", never)
    path = files / "mine.toml"
    path.write_text('oscillator = "ring"\ncoupling_max = 1e7\n' + content)
    assert expected in complaint(infer(capfd, files, "--device", path))


SENTENCE = '{"tokens": ["the", "dog", "runs"], "label": 1, "verb_idx": 2, '


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "holds no sentences"),
        ("\n\n", "holds no sentences"),
        (
            SENTENCE.replace("dog", "unicorn") + '"distractor_agrees": null}',
            "line 1: the token 'unicorn' is not in the checkpoint's vocabulary",
        ),
        (SENTENCE + '"distractor_agrees": 3}', "distractor_agrees must be"),
        ("the dog runs", "line 1: not JSON"),
        (SENTENCE.replace('"label": 1, ', "")[:-2] + "}", "line 1: missing label"),
    ],
)
def test_wrong_data_are_one_sentence(capfd, files, content, expected):
    (files / "data.jsonl").write_text(content)
    assert expected in complaint(infer(capfd, files))


# Bad checkpoints


FILES = {
    "missing": None,
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda _content: b"",
    "corrupted header": lambda content: content[:8] + b"\xff" * 50 + content[58:],
    "absurd header": lambda content: (2**62).to_bytes(8, "little") + content[8:],
    "text": lambda _content: b"these are no weights",
}


def _without(weights):
    del weights["norm.bias"]


def _with_another(weights):
    weights["layers.7.attn.anchors"] = weights["norm.bias"]


def _one_short(weights):
    weights["norm.bias"] = weights["norm.bias"][:-1].copy()


def _not_a_number(weights):
    weights["norm.bias"][3] = np.nan


def _infinite(weights):
    weights["norm.bias"][3] = np.inf


def _integers(weights):
    weights["norm.bias"] = weights["norm.bias"].astype(np.int32)


TENSORS = {
    "missing tensor": _without,
    "extra tensor": _with_another,
    "wrong shape": _one_short,
    "nan": _not_a_number,
    "inf": _infinite,
    "integers": _integers,
}


def damaged(path, kind):
    """Damage the weight file of a checkpoint folder, or its tensors."""
    file = path / "model.safetensors"
    if kind in TENSORS:
        weights = load_file(file)
        TENSORS[kind](weights)
        save_file(weights, file)
    elif FILES[kind] is None:
        file.unlink()
    else:
        file.write_bytes(FILES[kind](file.read_bytes()))


@pytest.mark.parametrize("command", ["infer", "inspect"])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("missing", "has no model.safetensors"),
        ("truncated", "is cut short"),
        ("empty", "is not a safetensors file"),
        ("corrupted header", "is not a safetensors file"),
        ("absurd header", "is not a safetensors file, or is cut short"),
        ("text", "is not a safetensors file"),
        ("missing tensor", "missing norm.bias"),
        ("extra tensor", "unexpected layers.7.attn.anchors"),
        ("wrong shape", "norm.bias is (31,), expected (32,)"),
        ("nan", "weights are not finite: norm.bias (1 values)"),
        ("inf", "weights are not finite: norm.bias (1 values)"),
        ("integers", "norm.bias is stored as"),
    ],
)
def test_a_damaged_checkpoint_is_one_sentence(capfd, files, command, kind, expected):
    damaged(files / "model", kind)
    assert expected in complaint(run(capfd, command, files / "model"))


class Harm:
    """What a pickle with code would run on being read."""

    def __reduce__(self):
        return (os.mkdir, ("harmed",))


def test_a_pickle_with_code_is_refused_and_not_run(capfd, tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(pickle.dumps({"embedding.weight": Harm()}))
    err = complaint(run(capfd, "inspect", path))
    assert "model.pt" in err
    assert not Path("harmed").exists()


@pytest.mark.parametrize("name", ["model.bin", "model.safetensors", "model.pt"])
def test_what_is_no_checkpoint_is_one_sentence(capfd, tmp_path, name):
    complaint(run(capfd, "infer", tmp_path / name))
    (tmp_path / name).write_text("hello")
    complaint(run(capfd, "infer", tmp_path / name))


def test_a_folder_without_configuration_is_one_sentence(capfd, files):
    (files / "model" / "config.json").unlink()
    assert "has no config.json" in complaint(run(capfd, "inspect", files / "model"))


def big_model(path, d_osc):
    """A random checkpoint of the published task with other oscillators."""
    stored = json.loads((MODEL / "config.json").read_text(encoding="utf-8"))
    stored |= {"d_osc": d_osc, "d_model": 8, "d_ff": 8, "max_len": 9}
    config = FixedQueryConfig.model_validate(
        stored | {"vocabulary": tuple(stored["vocabulary"])}
    )
    rng = np.random.default_rng(0)
    path.mkdir()
    (path / "config.json").write_text(config.model_dump_json())
    save_file(
        {
            name: rng.normal(scale=0.5, size=shape).astype(np.float32)
            for name, shape in tensor_shapes(config).items()
        },
        path / "model.safetensors",
    )
    return path


@pytest.mark.usefixtures("quick")
def test_a_ring_refuses_eight_components_and_names_what_holds_them(capfd, files):
    shutil.rmtree(files / "model")
    big_model(files / "model", 8)
    err = complaint(infer(capfd, files, "--device", "ring-65nm"))
    assert "d_osc = 8: use sphere-generic" in err
    code, out, _ = infer(
        capfd, files, "--json", "--set", "diffusion=0", "--set", "frequency_offset=0"
    )
    assert code == 0
    assert json.loads(out)["device"] == "sphere-generic"


@pytest.mark.usefixtures("quick")
def test_a_softmax_model_is_sent_to_the_digital_rung(capfd, files):
    twin = DATA / "checkpoints" / "sva-softmax-s0"
    data = files / "data.jsonl"
    err = complaint(run(capfd, "infer", twin, "--data", data))
    assert "only the rung digital can run it" in err
    code, out, _ = run(
        capfd, "infer", twin, "--data", data, "--rung", "digital", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert (found["chips"], found["repeats"]) == (1, 1)
    assert found["digital"] == found["substrate"]


# Where results are written


@pytest.mark.parametrize("where", ["file", "file/deeper/out"])
def test_a_file_in_the_way_of_the_folder_is_told_before_any_work(
    capfd, files, where, monkeypatch
):
    def never(*_args):
        raise AssertionError("work has started")

    monkeypatch.setattr(Engine, "on_chip", never)
    (files / "file").write_text("kept")
    err = complaint(infer(capfd, files, "--out", files / where))
    assert "choose another folder" in err
    assert (files / "file").read_text() == "kept"


def test_a_failed_write_is_work_that_failed(capfd, files, monkeypatch):
    def full(_content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cli, "_print_json", full)
    code, out, err = run(capfd, "inspect", files / "model", "--json")
    assert (code, out) == (1, "")
    assert err == "oscsim: the output could not be written: No space left on device\n"


# Results


def test_infer_prints_one_object_and_writes_record_and_report(capfd, files):
    code, out, err = infer(capfd, files, "--json", "--out", "mine", "--seed", "5")
    assert (code, err) == (0, "")
    found = json.loads(out)
    types = {
        **dict.fromkeys(["checkpoint", "family", "device", "rung", "metric"], str),
        **dict.fromkeys(["seed", "n_tokens", "chips", "repeats"], int),
        **dict.fromkeys(["digital", "substrate", "agreement"], float),
        **dict.fromkeys(["max_abs_error", "latency_s_per_token"], float),
        **dict.fromkeys(["ci95", "modelled", "not_modelled", "warnings"], list),
    }
    for key, kind in types.items():
        assert type(found[key]) is kind, key
    for key in ("p10", "p50", "p90", "core", "converters", "system"):
        assert type(found["energy_j_per_token"][key]) is float
    low, high = found["ci95"]
    assert 0 <= low <= found["substrate"] <= high <= 1
    assert 0 <= found["digital"] <= 1
    assert 0 <= found["agreement"] <= 1
    assert found["checkpoint"] == "model"
    assert found["family"] == "fixed-query"
    assert (found["device"], found["rung"]) == ("ring-65nm", "device")
    assert (found["seed"], found["chips"], found["repeats"]) == (5, 2, 1)
    assert all(type(line) is str for line in found["modelled"] + found["warnings"])
    names = sorted(path.name for path in Path("mine").iterdir())
    assert names == ["report.html", "run.toml"]
    assert found["record"] == str(Path("mine", "run.toml"))
    assert found["report"] == str(Path("mine", "report.html"))
    assert found["changes"] == {}
    assert "<html" in Path("mine/report.html").read_text(encoding="utf-8")


def test_infer_prints_tables_and_says_where_the_report_is(capfd, files):
    code, out, err = infer(capfd, files)
    assert (code, err) == (0, "")
    [folder] = Path("runs").glob("model-ring-65nm-device-s0-*")
    assert f"report: {folder / 'report.html'}" in out
    assert (folder / "run.toml").is_file()
    for word in ("digital", "substrate", "Modelled", "Not modelled", "seed 0"):
        assert word in out
    [unchecked] = [line for line in out.splitlines() if "not checked" in line]
    assert "read-outs clipped" in unchecked
    assert "substrate - digital" in out
    assert "2 chips x 1 repeat, seed 0" in out


@pytest.fixture
def default_folder(capfd, monkeypatch):
    """Return the folder that a command would write, without running it."""
    asked = []

    def stop(folder):
        asked.append(folder.as_posix())
        raise SpecError("stopped before any work")

    monkeypatch.setattr(cli, "_writable", stop)

    def of(*arguments):
        code, _, err = run(capfd, "infer", *arguments)
        assert (code, err) == (2, "oscsim: stopped before any work\n")
        return asked.pop()

    return of


def test_a_run_of_defaults_has_a_plain_folder_that_says_what_it_is(default_folder):
    assert default_folder(MODEL) == "runs/sva-osc-d2-s0-ring-65nm-device-s0"
    assert default_folder(MODEL, "--chips", "8", "--repeats", "4") == (
        "runs/sva-osc-d2-s0-ring-65nm-device-s0"
    )
    assert default_folder(MODEL, "--set", "weight_bits=5") == default_folder(MODEL)
    assert default_folder(MODEL, "--rung", "finite", "--seed", "3") == (
        "runs/sva-osc-d2-s0-ring-65nm-finite-s3"
    )
    assert default_folder(MODEL, "--out", "mine", "--chips", "2") == "mine"


def test_runs_that_differ_do_not_share_a_folder(default_folder, files):
    options = [
        (),
        ("--chips", "2"),
        ("--repeats", "2"),
        ("--set", "weight_bits=3"),
        ("--set", "weight_bits=4"),
        ("--set", "weight_bits=4", "--set", "adc_bits=none"),
        ("--data", files / "data.jsonl"),
        ("--config", "mask_readout=false", "--config", "trained_length=none"),
        ("--perturb", "state=0.1"),
        ("--perturb", "state=0.2"),
        ("--device", "ideal", "--rung", "ideal"),
        ("--seed", "1"),
        ("--rung", "noisy"),
    ]
    folders = [default_folder(MODEL, *more) for more in options]
    assert len(set(folders)) == len(options)
    assert folders == [default_folder(MODEL, *more) for more in options]


@pytest.mark.usefixtures("quick")
def test_a_changed_run_keeps_the_unchanged_one(capfd, files):
    infer(capfd, files)
    code, out, _ = infer(capfd, files, "--set", "weight_bits=3", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["changes"] == {"weight_bits": "5 -> 3"}
    assert Path(found["record"]).is_file()
    assert Path(found["report"]).is_file()
    assert len(list(Path("runs").iterdir())) == 2
    code, out, _ = infer(capfd, files, "--set", "weight_bits=3")
    assert "ring-65nm (weight_bits 5 -> 3)" in " ".join(out.split())
    assert len(list(Path("runs").iterdir())) == 2


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.usefixtures("quick")
def test_every_rung_runs_and_is_named(capfd, files, rung):
    code, out, err = infer(capfd, files, "--rung", rung, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["rung"] == rung
    if rung in ("digital", "ideal"):
        assert found["agreement"] == 1.0
        assert found["max_abs_error"] <= 1e-10
        assert found["latency_s_per_token"] is None
    else:
        assert found["max_abs_error"] > 1e-3


@pytest.mark.parametrize("kind", ["coupling", "state", "frequency"])
@pytest.mark.usefixtures("quick")
def test_a_perturbation_runs_on_the_ideal_substrate(capfd, files, kind):
    code, out, err = infer(capfd, files, "--perturb", f"{kind}=0.2", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["device"], found["rung"]) == ("ideal", "ideal")
    assert found["perturbation"] == f"{kind}=0.2"
    assert found["modelled"] == [f"published perturbation: {kind}, s = 0.2"]


@pytest.mark.usefixtures("quick")
def test_numbers_of_the_device_can_be_changed(capfd, files):
    def bits(*more):
        code, out, _ = infer(capfd, files, "--json", "--seed", "1", *more)
        assert code == 0
        return json.loads(out)

    base = bits()
    for change in ("weight_bits=2", "settle_time=.0000001", "adc_bits=none"):
        assert bits("--set", change)["max_abs_error"] != base["max_abs_error"]
    assert bits("--set", "settle_time=1e-6") == base
    assert bits("--set", "weight_bits=2")["changes"] == {"weight_bits": "5 -> 2"}


@pytest.mark.usefixtures("quick")
def test_a_record_is_repeated_bit_for_bit(capfd, files):
    infer(capfd, files, "--out", "first", "--seed", "9", "--set", "weight_bits=3")
    code, out, err = run(capfd, "rerun", "first/run.toml", "--out", "second")
    assert (code, err) == (0, "")
    assert out.startswith("identical: 60 logits, sha256 ")
    one, two = (Path(name, "run.toml").read_text() for name in ("first", "second"))
    assert one == two
    code, out, _ = run(capfd, "rerun", "first", "--threads", "1", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["identical"] is True
    assert found["changed_versions"] == []
    assert len(found["logits_sha256"]) == 64


@pytest.mark.usefixtures("quick")
def test_a_record_that_gives_other_bits_is_work_that_failed(capfd, files):
    infer(capfd, files, "--out", "first")
    path = Path("first/run.toml")
    path.write_text(path.read_text().replace("seed = 0", "seed = 1"))
    code, out, err = run(capfd, "rerun", path)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert err == (
        "oscsim: the run differs from its record (same versions: an edited record, "
        "or another kind of CPU?)\n"
    )
    path.write_text(path.read_text().replace('numpy = "', 'numpy = "0.'))
    code, out, err = run(capfd, "rerun", path, "--json")
    assert code == 1
    assert json.loads(out)["identical"] is False
    assert "numpy 0." in err


@pytest.mark.usefixtures("quick")
def test_a_record_is_repeated_with_its_files_elsewhere(capfd, files):
    infer(capfd, files, "--out", "first")
    shutil.move(files / "model", files / "moved")
    shutil.move(files / "data.jsonl", files / "moved.jsonl")
    where = ("--checkpoint", files / "moved", "--data", files / "moved.jsonl")
    code, out, err = run(capfd, "rerun", "first", *where)
    assert (code, err) == (0, "")
    assert out.startswith("identical: 60 logits")
    code, out, err = run(capfd, "rerun", "first", *where[:2])
    assert (code, out) == (2, "")
    assert "there is no data file" in err
    code, out, err = run(capfd, "rerun", "first", *where[:3], BUNDLED)
    assert (code, out) == (2, "")
    assert "the data is not the recorded one" in err


@pytest.mark.usefixtures("quick")
def test_a_record_of_a_changed_checkpoint_is_a_wrong_request(capfd, files, here):
    infer(capfd, files, "--out", files / "first")
    damaged(files / "model", "nan")
    err = complaint(run(capfd, "rerun", files / "first"))
    assert "not finite" in err


def test_the_ladder_has_every_rung(capfd, files):
    arguments = ("ladder", files / "model", "--data", files / "data.jsonl", *FAST)
    code, out, err = run(capfd, *arguments, "--json")
    assert (code, err) == (0, "")
    assert [row["rung"] for row in json.loads(out)["rungs"]] == list(RUNGS)
    code, out, err = run(capfd, *arguments)
    assert (code, err) == (0, "")
    assert all(rung in out for rung in RUNGS)
    assert not list(Path.cwd().iterdir())


def test_devices_are_listed_with_their_sources(capfd):
    code, out, err = run(capfd, "devices")
    assert (code, err) == (0, "")
    assert all(name in out for name in presets())
    code, out, _ = run(capfd, "devices", "--json")
    assert code == 0
    listed = json.loads(out)
    assert [device["name"] for device in listed] == list(presets())
    for device in listed:
        code, out, _ = run(capfd, "devices", device["name"])
        assert code == 0
        assert device["name"] in out
        assert ("bounds of physics" in out) == (device["energy"] is not None)
        code, out, _ = run(capfd, "devices", device["name"], "--json")
        assert json.loads(out) == device
        for name, origin in device["provenance"].items():
            assert origin["source"]
            assert device[name] == getattr(Device.load(device["name"]), name)


@pytest.mark.usefixtures("quick")
def test_brackets_in_names_are_kept(capfd, files):
    """A terminal library would take them for its markup."""
    shutil.move(files / "model", files / "a[red]b[x]")
    path = files / "mine.toml"
    path.write_text(
        'name = "chip[/bold]"\ndescription = "uses [/dim] and [blue]."\n'
        'oscillator = "ring"\ncoupling_max = 1e8\nfrequency_hz = 1e8'
    )
    code, out, err = run(capfd, "devices", path)
    assert (code, err) == (0, "")
    assert "chip[/bold]: uses [/dim] and [blue]." in out
    for more in (("inspect",), ("infer", "--data", files / "data.jsonl", *FAST)):
        command, *options = more
        code, out, err = run(capfd, command, files / "a[red]b[x]", *options)
        assert (code, err) == (0, "")
        assert "a[red]b[x]" in out


def test_inspect_says_what_a_checkpoint_is(capfd, files):
    code, out, err = run(capfd, "inspect", files / "model")
    assert (code, err) == (0, "")
    assert "sha256" in out
    code, out, err = run(capfd, "inspect", files / "model", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["config"]["d_osc"] == 2
    weights = (files / "model" / "model.safetensors").read_bytes()
    assert found["weights_sha256"] == hashlib.sha256(weights).hexdigest()
    assert found["warnings"] == []


@pytest.mark.usefixtures("quick")
def test_a_bare_file_takes_its_configuration_from_the_command_line(capfd, files):
    shutil.move(files / "model" / "model.safetensors", files / "bare.safetensors")
    data = files / "data.jsonl"
    settings = ("--config", "n_heads=1", "--config", "task=sva")
    code, out, err = run(
        capfd,
        *("infer", files / "bare.safetensors", "--data", data, *settings),
        *("--config", "trained_length=none", "--json", *FAST, "--out", "bare"),
    )
    assert (code, err) == (0, "")
    assert any("mask_readout" in line for line in json.loads(out)["warnings"])
    code, out, _ = run(capfd, "rerun", "bare")
    assert code == 0
    assert out.startswith("identical")


# Progress, interruption and failure


@pytest.mark.usefixtures("quick")
def test_a_terminal_shows_progress_and_a_pipe_does_not(capfd, files, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, out, err = infer(capfd, files)
    assert code == 0
    assert "chips" in err
    code, out, err = infer(capfd, files, "--json")
    assert (code, err) == (0, "")
    json.loads(out)


@pytest.mark.parametrize("command", ["infer", "ladder"])
def test_an_interruption_before_anything_is_done_writes_nothing(
    capfd, files, monkeypatch, command
):
    def interrupted(*_args, **_how):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "run", interrupted)
    arguments = (command, files / "model", "--data", files / "data.jsonl", *FAST)
    err = complaint(run(capfd, *arguments), code=130)
    assert "interrupted" in err


def interrupt_at(monkeypatch, chip, rung="device"):
    original = Engine.on_chip

    def on_chip(engine, setting, layers, number, *more):
        if (number, setting.rung) == (chip, rung):
            raise KeyboardInterrupt
        return original(engine, setting, layers, number, *more)

    monkeypatch.setattr(Engine, "on_chip", on_chip)


@pytest.mark.usefixtures("quick")
def test_an_interrupted_run_is_delivered_and_can_be_repeated(capfd, files, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 1)
        code, out, err = infer(capfd, files, "--json", "--out", "cut")
    assert code == 130
    assert err == "oscsim: interrupted after 1 of 2 chips\n"
    found = json.loads(out)
    assert found["chips"] == 1
    assert "interrupted after 1 of 2 chips" in found["warnings"]
    assert Path("cut/report.html").is_file()
    code, out, _ = run(capfd, "rerun", "cut")
    assert code == 0
    assert out.startswith("identical: 30 logits")


@pytest.mark.usefixtures("quick")
def test_an_interrupted_repetition_is_not_called_different(capfd, files, monkeypatch):
    infer(capfd, files, "--out", "first")
    interrupt_at(monkeypatch, 1)
    code, out, err = run(capfd, "rerun", "first", "--out", "second")
    assert (code, out) == (130, "")
    assert err == "oscsim: interrupted after 1 of 2 chips\n"
    assert not Path("second").exists()


def test_an_interrupted_ladder_shows_the_rungs_it_has(capfd, files, monkeypatch):
    interrupt_at(monkeypatch, 1, "noisy")
    code, out, err = run(
        capfd,
        *("ladder", files / "model", "--data", files / "data.jsonl", *FAST, "--json"),
    )
    assert code == 130
    assert err == "oscsim: interrupted after 3 of 5 rungs\n"
    assert [row["rung"] for row in json.loads(out)["rungs"]] == list(RUNGS[:3])


def test_failed_work_is_exit_code_1(capfd, files, monkeypatch):
    def failing(*_args, **_how):
        raise IntegrationError(3, 0.5, 7)

    monkeypatch.setattr(Engine, "on_chip", failing)
    err = complaint(infer(capfd, files), code=1)
    assert "oscillator 7 is not finite, or moved farther" in err


def test_a_fault_of_the_program_is_not_hidden(files, monkeypatch):
    def failing(*_args, **_how):
        raise ZeroDivisionError

    monkeypatch.setattr(Engine, "on_chip", failing)
    with pytest.raises(ZeroDivisionError):
        cli.run(["infer", str(files / "model"), "--data", str(files / "data.jsonl")])


# The installed command in a process of its own


def command(*arguments):
    return [sys.executable, "-c", "from oscsim.cli import main; main()", *arguments]


def test_the_command_exits_with_its_code():
    good = subprocess.run(command("devices"), capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
    bad = subprocess.run(command("devices", "x"), capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1


SLOW_CHIPS = """
import pathlib
import signal
from oscsim.bridge.engine import Engine
from oscsim.cli import main

original = Engine.on_chip

def on_chip(*args):
    if pathlib.Path("begun").exists():
        pathlib.Path("first-is-done").touch()
    pathlib.Path("begun").touch()
    return original(*args)

Engine.on_chip = on_chip
# a shell that started the tests in the background may have it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_sigint_after_the_first_chip_leaves_a_valid_record(capfd, files):
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", SLOW_CHIPS, "infer", str(files / "model")),
            *("--data", str(files / "data.jsonl"), "--chips", "1000000"),
            *("--repeats", "1", "--rung", "finite", "--out", "cut", "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 120
        while not Path("first-is-done").exists():
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    done = json.loads(out)["chips"]
    assert err == f"oscsim: interrupted after {done} of 1000000 chips\n"
    assert Path("cut/report.html").is_file()
    code, out, _ = run(capfd, "rerun", "cut")
    assert code == 0
    assert out.startswith(f"identical: {30 * done} logits")
