"""The energy command: what it prints and writes, and what it refuses in a sentence."""

import json
import math
import re
from pathlib import Path

import pytest

from oscsim import cli
from oscsim.bridge import judge
from tests.bridge.language import prose, written

DATA = Path(__file__).parents[1] / "data"
SVA = str(DATA / "checkpoints" / "sva-osc-d2-s0")
KURAMOTO = str(DATA / "checkpoints" / "kuramoto-260k")
LINE = "T=16,H=2,d_model=16,d_osc=2,layers=1,coupling=softplus"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test runs in an empty folder, with curves of three points."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(judge, "POINTS", 3)
    return tmp_path


def run(capfd, *arguments):
    code = cli.run(["energy", *map(str, arguments)])
    out, err = capfd.readouterr()
    return code, out, err


def test_a_bare_description(capfd):
    code, out, err = run(capfd, "--shape", LINE)
    assert (code, err) == (0, "")
    for said in (
        "digital softmax, 4 bits, table exponential",
        "say clamps=no to see the read-out factored",
        "decoding / rival",
        "16 tokens (full context) / same model",
        "gated off while couplings load",
        "drawn together are",
        "Nominal: every component at its stated value",
        "analog softmax on in-memory compute",
        "digital softmax on a GPU",
        "system total",
        "core + converters",
        "what the ratio hangs on",
        "d_ff = 64 (4 d_model)",
        "settling takes the device's settle_time: there are no drives",
        "no weights, accuracy unknown",
        "an assumption range and not a confidence interval",
    ):
        assert said in " ".join(out.split()), said
    assert "confidence interval" in out
    assert "digital, read-out factored" not in out
    assert not list(Path().iterdir()), "nothing is written without --out"


def test_the_read_out_of_a_bare_shape_is_factored_if_asked(capfd):
    code, out, _ = run(capfd, "--shape", f"{LINE},clamps=no", "--json")
    found = json.loads(out)
    assert code == 0
    assert any("factored" in one["name"] for one in found["scenarios"])
    assert any("as asked: no 1 + z.r" in note for note in found["notes"])
    code, out, _ = run(capfd, "--shape", f"{LINE},clamps=yes", "--json")
    found = json.loads(out)
    assert not any("factored" in one["name"] for one in found["scenarios"])


def test_a_set_of_files_is_never_mixed(capfd, here):
    """A softmax model has one comparison: the second pair of figures must go."""
    assert run(capfd, "--shape", LINE, "--out", "e")[0] == 0
    softmax = DATA / "checkpoints" / "sva-softmax-s0"
    (here / "e" / "mine.txt").write_text("kept")
    assert run(capfd, softmax, "--out", "e")[0] == 0
    names = {file.name for file in (here / "e").iterdir()}
    assert "waterfall-1.png" in names
    assert "mine.txt" in names
    assert not names & {"waterfall-2.png", "tornado-2.png"}


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    capfd, here, monkeypatch
):
    monkeypatch.setattr("oscsim.bridge.estimate.estimate", None)
    (here / "e" / "energy.json").mkdir(parents=True)
    code, _, err = run(capfd, "--shape", LINE, "--out", "e")
    assert code == 2
    assert "energy.json: it is a folder" in err
    assert [file.name for file in (here / "e").iterdir()] == ["energy.json"]
    (here / "file").write_text("x")
    code, _, err = run(capfd, "--shape", LINE, "--out", "file/e")
    assert code == 2
    assert "cannot write into file" in err


def test_json_of_a_checkpoint_at_another_node(capfd):
    path = DATA / "checkpoints" / "sva-osc-d2-s0"
    code, out, _ = run(capfd, path, "--device", "ring-7nm", "--node", "7", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["node_nm"], found["device"]) == (7, "ring-7nm")
    assert found["files"] == []
    for one in found["scenarios"]:
        system = one["j_per_token"]["system"]
        assert 0 < system["p10"] <= system["p50"] <= system["p90"]
        assert math.fsum(one["by_component_j"].values()) == pytest.approx(
            system["nominal"], rel=1e-12
        )
    assert {j["rival"] for j in found["judgements"]} >= {"digital softmax"}


def test_files_that_are_the_same_twice(capfd, here):
    code, out, _ = run(capfd, "--shape", LINE, "--out", "e")
    assert code == 0
    assert "files: e" in out
    names = {file.name for file in (here / "e").iterdir()}
    assert names == {
        "energy.html",
        "energy.json",
        "energy.bib",
        "waterfall-1.png",
        "tornado-1.png",
        "waterfall-2.png",
        "tornado-2.png",
        "crossover.png",
    }
    page = (here / "e" / "energy.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "<script" not in page
    assert not re.search(r'(src|href)="https?:', page)
    assert "assumption range" in page
    numbers = json.loads((here / "e" / "energy.json").read_text(encoding="utf-8"))
    assert numbers["title"] == "a model without weights"
    sources = (here / "e" / "energy.bib").read_text(encoding="utf-8")
    assert "doi = {10.1109/ISSCC.2014.6757323}" in sources
    assert run(capfd, "--shape", LINE, "--out", "again")[0] == 0
    for file in (here / "e").iterdir():
        assert file.read_bytes() == (here / "again" / file.name).read_bytes()


def test_predictions_stand_beside_published_machines(capfd):
    code, out, err = run(capfd, "--validate")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    for part in ("published", "Moy et al. 2022", "not precision", "beyond 3 because"):
        assert part in said, part
    code, out, _ = run(capfd, "--validate", "--json")
    found = json.loads(out)
    assert code == 0
    assert "not precision" in found["caveat"]
    for check in found["checks"]:
        assert not check["is_beyond_3"] or check["cause"]
        if check["ratio"] is not None:
            assert check["ratio"] == pytest.approx(check["model"] / check["published"])


def test_bounds_and_sweeps_stand_beside_an_estimate(capfd, here):
    line = f"{LINE},causal=true"
    code, out, _ = run(capfd, "--shape", line, "--batch", "4")
    assert code == 0
    assert "bounds of physics" in out
    spheres = run(capfd, "--shape", LINE.replace("d_osc=2", "d_osc=3"))[1]
    assert "No bound of phase diffusion and of settling for sphere-generic" in spheres
    for row in ("prefill, 1", "prefill, 4", "decode, 4"):
        assert row in " ".join(out.split())
    options = ("--shape", line, "--batch", "4", "--json", "--out", "e")
    code, out, _ = run(capfd, *options)
    assert code == 0
    found = json.loads(out)
    assert [(one["sweep"], one["batch"]) for one in found["sweeps"]] == [
        ("prefill", 1),
        ("prefill", 4),
        ("decode", 1),
        ("decode", 4),
    ]
    for one in found["sweeps"]:
        assert math.fsum(one["seconds"].values()) == pytest.approx(one["latency_s"])
    ring = next(b for b in found["limits"] if b["name"] == "phase diffusion of a ring")
    assert ring["factor"] == pytest.approx(4, rel=0.02)
    kept = json.loads((here / "e" / "energy.json").read_text(encoding="utf-8"))
    assert kept["sweeps"] == found["sweeps"]
    assert kept["area"] == found["area"]
    assert "area.coupler_cell_65" in {c["id"] for c in found["area"]["components"]}
    sources = (here / "e" / "energy.bib").read_text(encoding="utf-8")
    assert "area.coupler" in sources.replace("\\_", "_")
    page = (here / "e" / "energy.html").read_text(encoding="utf-8")
    assert "On an array" in page
    assert "Bounds of physics" in page
    for said in ("Area, as far as it is known", "no area known for", "um2 s"):
        assert said in page, said


def test_the_digital_part_is_timed_at_a_stated_rate(capfd, here):
    options = ("--shape", LINE, "--device", "ring-28nm", "--set", "tiles=1", "--json")
    code, out, _ = run(capfd, *options)
    assert code == 0
    bare = json.loads(out)["sweeps"][0]
    assert list(bare["seconds"]) == ["load", "settle", "read"]
    assert any("no digital rate was given" in note for note in bare["notes"])
    code, out, _ = run(capfd, *options, "--macs-per-s", "1e12", "--ops-per-s", "1e12")
    assert code == 0
    first, _, step, _ = json.loads(out)["sweeps"]
    assert {"projection", "ffn"} <= set(first["seconds"])
    assert first["overlapped"]["interval_s"] == max(
        first["overlapped"]["busy_s"].values()
    )
    assert step["overlapped"]["is_alone"]
    assert step["overlapped"]["tokens_per_s"] == step["tokens_per_s"]
    assert step["anchor_words_per_token"] == 2 * 16
    kind = [*options, "--set", "digital_macs_per_s=1e12"]
    code, out, _ = run(capfd, *kind, "--set", "digital_ops_per_s=1e12")
    assert code == 0
    assert json.loads(out)["sweeps"][0]["seconds"] == first["seconds"]


def test_the_settling_time_is_taken_from_the_model(capfd):
    path = DATA / "checkpoints" / "sva-osc-d2-s0"
    options = (path, "--device", "ring-28nm", "--json")
    code, out, _ = run(capfd, *options)
    assert code == 0
    given = json.loads(out)
    assert any("not this model's own" in note for note in given["notes"])
    code, out, _ = run(capfd, *options, "--settle-quantile", ".9")
    assert code == 0
    own = json.loads(out)
    said = next(note for note in own["notes"] if "settling time: p90 of" in note)
    settle = float(re.search(r"to 0.01 rad, (\S+) s", said)[1])
    sweep, core = own["sweeps"][0], "by_phase_and_action_j"
    assert sweep["seconds"]["settle"] == pytest.approx(settle, rel=0.01)
    ratio = (settle + 1e-8) / (2.3e-7 + 1e-8)
    both = [one["scenarios"][0][core]["settle"]["coupler_s"] for one in (own, given)]
    assert both[0] / both[1] == pytest.approx(ratio, rel=0.01)


def test_kuramoto_attention_from_a_folder_to_a_page(capfd, here):
    model = written(here / "model", "kuramoto", update="flow")
    text = prose(here / "prose.txt")
    code, out, err = run(capfd, model, "--data", text, "--reuse", "16", "--out", "e")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    for part in (
        "8 phases a token",
        "same model, digital",
        "transformer, 4 bits, table exponential",
        "trained as the dwell that is priced",
        "bounds of physics",
        "time to dwell",
        "prefill, 1",
        "decode, 1",
        "logits are not timed",
    ):
        assert part in said, part
    assert "A phase locked at" not in said, "no phase locks"
    page = (here / "e" / "energy.html").read_text(encoding="utf-8")
    for part in ("On an array", "time to dwell", "Bounds of physics", "not timed"):
        assert part in page, part
    numbers = json.loads((here / "e" / "energy.json").read_text(encoding="utf-8"))
    assert numbers["shape"]["family"] == "kuramoto"
    assert [one["sweep"] for one in numbers["sweeps"]] == ["prefill", "decode"]


def test_an_array_that_is_too_small_is_refused(capfd):
    few = ("--set", "couplers_per_oscillator=8")
    code, out, err = run(capfd, "--shape", LINE, *few)
    assert (code, out) == (2, "")
    assert "a context of 16 tokens does not fit" in err
    code, _, err = run(capfd, "--shape", LINE, "--batch", "0")
    assert code == 2
    assert "--batch must be at least 1, got 0" in err


def test_the_library_is_listed_and_filtered(capfd):
    code, out, _ = run(capfd, "--components")
    assert code == 0
    total = int(re.search(r"(\d+) components", out)[1])
    code, out, _ = run(capfd, "--components", "--filter", "HOROWITZ", "--json")
    found = json.loads(out)
    assert code == 0
    assert 5 < len(found) < total
    assert all("horowitz" in str(part).lower() for part in found)
    assert all(part["unit"] and part["source"] for part in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of CKPT, --shape, --components and --validate, got 0"),
        (["x", "--shape", LINE], "got 2 of them"),
        (["--filter", "adc", "--shape", LINE], "--filter 'adc' goes with --components"),
        (["--components", "--filter", "nowhere"], "no component holds 'nowhere'"),
        (["nowhere"], "nowhere"),
        (["--shape", "T=1"], "H is missing"),
        (["--shape", LINE, "--node", "28"], "must be one of 7, 45"),
        (["--shape", LINE, "--node", "small"], "--node takes a node in nm"),
        (["--shape", LINE, "--node", "-7"], "--node takes a node in nm"),
        (["--shape", LINE, "--node", "²"], "--node takes a node in nm"),
        (["--shape", LINE, "--node", "٤٥"], "--node takes a node in nm"),
        (["--shape", LINE, "--node", "9" * 5000], "--node takes a node in nm"),
        (["--shape", LINE, "--device", ""], "no device ''"),
        (["--shape", LINE, "--out", ""], "--out takes the name of a folder, got ''"),
        (
            ["--shape", LINE, "--set", "settle_time=1", "--set", "settle_time=2"],
            "--set: settle_time is given twice, last as '2'",
        ),
        (["--shape", f"{LINE},clamps=maybe"], "clamps must be yes or no"),
        (["--shape", LINE.replace("T=16", "T=1" + "0" * 19)], "T must be at most"),
        (["--validate", "--device", "nosuch"], "--device does not go with --validate"),
        (["--validate", "--node", "28"], "--node does not go with --validate"),
        (["--validate", "--set", "foo=1"], "--set does not go with --validate"),
        (["--validate", "--seed", "-4"], "--seed does not go with --validate"),
        (["--validate", "--batch", "0"], "--batch does not go with --validate"),
        (["--validate", "--out", "D"], "--out does not go with --validate"),
        (["--validate", "--data", "D"], "--data does not go with --validate"),
        (["--components", "--out", "D"], "--out does not go with --components"),
        (["--components", "--reuse", "4"], "--reuse does not go with --components"),
        (["--shape", LINE, "--reuse", "0"], "reuse must be >= 1"),
        (["--shape", LINE, "--reuse", "nan"], "reuse must be >= 1"),
        (["--shape", LINE, "--device", "ideal"], "has no energy section"),
        (["--shape", LINE, "--device", "nothing"], "nothing"),
        (["--shape", LINE, "--set", "settle_time=inf"], "takes no finite time"),
        (["--shape", LINE, "--macs-per-s", "0"], "--macs-per-s must be finite and > 0"),
        (["--shape", LINE, "--macs-per-s=-1"], "--macs-per-s must be finite and > 0"),
        (["--shape", LINE, "--macs-per-s=nan"], "--macs-per-s must be finite and > 0"),
        (["--shape", LINE, "--ops-per-s", "0"], "--ops-per-s must be finite and > 0"),
        (["--shape", LINE, "--ops-per-s", "1"], "ops_per_s = 1 needs macs_per_s"),
        (["--shape", LINE, "--set", "digital_macs_per_s=-1"], "digital_macs_per_s: "),
        (
            ["--shape", LINE, "--settle-quantile", ".9"],
            "needs the drives of a checkpoi",
        ),
        (
            [SVA.replace("osc-d2", "softmax"), "--macs-per-s", "1e9"],
            "is not fixed-query",
        ),
        ([KURAMOTO, "--macs-per-s", "1e9"], "is not fixed-query oscillator attention"),
        ([KURAMOTO, "--settle-quantile", ".5"], "has no oscillators that settle"),
        ([SVA, "--settle-quantile", "1"], "must be in (0, 1), got 1"),
        ([SVA, "--settle-quantile", "0"], "must be in (0, 1), got 0"),
        ([SVA, "--settle-quantile", "nan"], "must be in (0, 1), got nan"),
        (
            [SVA, "--settle-quantile", ".5", "--set", "settle_time=1e-6"],
            "--settle-quantile 0.5 and --set settle_time exclude each other",
        ),
        (["--shape", LINE, "--data", "x"], "--data 'x' goes with a checkpoint"),
        (["--shape", LINE, "--seed", "-1"], "seed"),
        (["--shape", LINE.replace("d_osc=2", "d_osc=3"), "--device", "ring-65nm"], ""),
    ],
)
def test_one_sentence_for_a_wrong_request(capfd, arguments, message):
    code, out, err = run(capfd, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("oscsim: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_unit_that_would_be_misread(capfd, here):
    text = (DATA / "devices" / "ring-65nm.toml").read_text(encoding="utf-8")
    assert text.count('unit = "Hz"') == 1
    wrong = text.replace('unit = "Hz"', 'unit = "MHz"')
    (here / "bad.toml").write_text(wrong, encoding="utf-8")
    code, out, err = run(capfd, "--shape", LINE, "--device", "bad.toml")
    assert (code, out) == (2, "")
    assert "frequency_hz must be given in 'Hz'" in err


def test_an_unknown_component_or_action_in_a_device_file(capfd, here):
    text = (DATA / "devices" / "ring-65nm.toml").read_text(encoding="utf-8")
    for old, new, message in (
        ("tdc.ds_8b_65nm", "tdc.ds_9b", "unknown component 'tdc.ds_9b'; close: tdc."),
        ("state_read =", "state_reads =", "unknown action 'state_reads'"),
        ('state_read = ["tdc.ds_8b_65nm"]', "", "'state_read' was counted but has no"),
        ('"tdc.ds_8b_65nm"', '"knob.periphery"', "exactly one component in pJ or uW"),
        ("digital_node_nm = 45", "digital_node_nm = 28", "must be one of 7, 45"),
        (
            '"area.tdc_65"',
            '"area.tdc_6"',
            "unknown component 'area.tdc_6'; close: area",
        ),
        ("converter =", "wire =", "gives the area of 'wire': parts are oscillator"),
    ):
        assert text.count(old) == 1
        (here / "bad.toml").write_text(text.replace(old, new), encoding="utf-8")
        code, out, err = run(capfd, "--shape", LINE, "--device", "bad.toml")
        assert (code, out) == (2, "")
        assert message in err
