"""The numbered examples run and print what they promise."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("[0-9]*.py"))


def rows_of_csv(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(name, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, "--quick"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # ends what hangs, also on a busy machine
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


def test_noise_prints_the_best_dimension_beside_the_replica(tmp_path):
    out = run("07_noise_and_dimension.py", tmp_path)
    assert "bytes-osc-d2-p4" in out
    said = re.findall(r"= (\S+): d_osc (\d+) is best.*; replica: (.+)", out)
    assert [(noise, theirs) for noise, _, theirs in said] == [
        ("0", "32"),
        ("0.03", "8"),
        ("0.3", "not measured"),
    ]
    assert said[0][1] == "32"
    assert said[2][1] == "2"
    with (tmp_path / "noise-dimension.csv").open() as file:
        table = list(csv.DictReader(file))
    for noise, best, _ in said:
        here = [row for row in table if float(row["relative"]) == float(noise)]
        least = min(here, key=lambda row: float(row["bits_per_byte"]))
        assert (least["d_osc"], least["place"]) == (best, "best")
    assert (tmp_path / "noise-dimension.png").stat().st_size > 10_000


def test_language_robustness_keeps_the_published_table_apart(tmp_path):
    out = run("08_language_robustness.py", tmp_path)
    ours, published = out.split("published: perplexity per word, digital 7.5946")
    row = re.search(r"^ +state +0.5 .*", published, re.MULTILINE)[0].split()
    assert row == ["state", "0.5", "11.105", "(+46.2%)"]
    digital = [float(x) for x in re.search(r"^ +digital.*", ours, re.M)[0].split()[1:]]
    row = re.search(r"^ +state +0.5 .*", ours, re.MULTILINE)[0]
    found = re.findall(r"(\d\.\d{4}) \( *([+-]\d+\.\d)%\)", row)
    assert len(found) == len(digital) >= 2
    for exact, (bits, change) in zip(digital, found, strict=True):
        expected = 100 * (2 ** (float(bits) - exact) - 1)
        assert float(change) == pytest.approx(expected, abs=0.1)
        assert float(bits) > exact + 0.1
    table = (tmp_path / "robustness-bytes.csv").read_text().splitlines()
    assert len(table) == 1 + 21 * len(digital), "ours alone"
    assert (tmp_path / "robustness-bytes.png").stat().st_size > 10_000


def test_mismatch_prints_static_beside_redrawn(tmp_path):
    out = run("09_mismatch_and_context.py", tmp_path)
    n_models = len(re.findall(r": loss in bits per byte", out))
    assert n_models >= 2
    said = re.findall(r"differs from redrawn in (\d+) of 12 cells", out)
    assert len(said) == n_models
    with (tmp_path / "mismatch-context.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 2 * 3 * 4 * n_models
    row = re.search(r"^ +redrawn +0.5 (.*)", out, re.MULTILINE)[1]
    losses = [float(x) for x in re.findall(r"([+-]\d\.\d{4}) \(", row)]
    expected = [float(r["loss"]) for r in table[20:24]]
    expected.append(float(table[23]["gained"]))
    assert losses == pytest.approx(expected, abs=6e-5)
    assert (tmp_path / "mismatch-context.png").stat().st_size > 10_000


def rows_of(out, n_columns):
    """The table rows of an example, as numbers."""
    words = [line.replace("%", "").split() for line in out.splitlines()]
    found = [row for row in words if len(row) == n_columns]
    return [
        [float(word) for word in row] for row in found if re.match(r"^[-+.\d]", row[0])
    ]


def test_kuramoto_follows_the_law_above_the_threshold(tmp_path):
    rows = rows_of(run("03_kuramoto_transition.py", tmp_path), 4)
    assert len(rows) == 9
    for coupling, measured, theory, _ in rows:
        exact = max(0.0, 1 - 1 / coupling) ** 0.5
        assert theory == pytest.approx(exact, abs=1e-4)
        if coupling >= 1.5:
            assert measured == pytest.approx(exact, abs=0.01)
            assert measured != pytest.approx((1 - 0.5 / coupling) ** 0.5, abs=0.05)
        if coupling <= 0.7:
            assert measured < 0.15
    for name in ("kuramoto.png", "kuramoto-locking.png"):
        assert (tmp_path / name).stat().st_size > 10_000


def test_noisy_locking_follows_both_laws(tmp_path):
    rows = rows_of(run("04_noisy_locking.py", tmp_path), 8)
    assert len(rows) == 18
    assert max(abs(z) for row in rows for z in (row[4], row[7])) < 4
    assert rows[4][3] > 0.2, "noise unlocks at the edge"
    assert (tmp_path / "locking.png").stat().st_size > 10_000


def test_spheres_synchronise_as_their_mean_field_says(tmp_path):
    rows = rows_of(run("05_lohe_sphere.py", tmp_path), 5)
    assert [row[0] for row in rows] == [2] * 7 + [3] * 7 + [8] * 7
    for d, ratio, measured, theory, _ in rows:
        if ratio >= 2:
            assert measured == pytest.approx(theory, abs=0.02)
        if ratio < 0.7:
            assert measured < 0.2
        if (d, ratio) == (2, 2):
            assert theory == pytest.approx(0.83146, abs=1e-4)
    assert (tmp_path / "lohe.png").stat().st_size > 10_000


def test_the_ising_machine_finds_the_best_cut(tmp_path):
    out = run("06_ising_max_cut.py", tmp_path)
    rows = re.findall(r"degree \d +(\d+) +(\d+) +(\d+)% +(\d+) +([\d.]+)", out)
    assert len(rows) == 3
    for edges, optimum, share, best, mean in rows:
        assert best == optimum
        assert float(share) >= 25
        assert float(mean) > 0.75 * float(edges) * 0.85
    assert (tmp_path / "max-cut.png").stat().st_size > 10_000


def test_scaling_prints_the_models_and_what_was_published_apart(tmp_path):
    out = run("11_scaling_law.py", tmp_path)
    ours, published = out.split("Published, perplexity per word")
    rows = re.findall(r"^(softmax|p = \d).*?(\d\.\d{4}) +(\d\.\d{4}) +[-+]", ours, re.M)
    assert len(rows) >= 4
    for _, bits, perplexity in rows:
        assert 2 < float(bits) < 3
        assert float(perplexity) == pytest.approx(2 ** float(bits), rel=0.002)
    assert "TinyStories: alpha 0.599" in published
    header, *table = (tmp_path / "scaling-bytes.csv").read_text().splitlines()
    assert header.startswith("quantity,p,d_osc,width,dimensions,value,low95,high95")
    assert sum(row.startswith("bits_per_byte") for row in table) == len(rows)
    assert (tmp_path / "scaling-bytes.png").stat().st_size > 10_000


def test_kuramoto_attention_is_shown_as_map_and_as_dwell(tmp_path):
    out = run("10_kuramoto_on_chips.py", tmp_path)
    table = (tmp_path / "kuramoto-on-chips.csv").read_text().splitlines()
    assert table[0].startswith("on,update,self_term,ranging,bits,difference")
    cells = [line.split(",") for line in table[1:]]
    assert [row[0] for row in cells] == ["digital", *["ideal"] * 3, *["ring-65nm"] * 6]
    assert abs(float(cells[1][5])) < 1e-10, "the ideal map is the digital one"
    assert float(cells[2][5]) > 0.3, "a map-trained model does not survive the dwell"
    assert f"{float(cells[2][4]):.4f}" in out
    layers = (tmp_path / "kuramoto-on-chips-layers.csv").read_text().splitlines()
    assert len(layers) == 1 + 3 * 4
    assert (tmp_path / "kuramoto-on-chips.png").stat().st_size > 10_000


def test_the_worked_example_prints_both_sides_of_the_coupling_function(tmp_path):
    out = run("12_energy_worked_example.py", tmp_path)
    ratios = re.findall(r"^D/A +([\d.]+) \(", out, re.MULTILINE)
    assert [float(r) for r in ratios] == [0.870, 0.961, 1.008, 1.015, 1.012, 1.017]


def test_array_prints_sweeps_and_refuses_what_does_not_fit(tmp_path):
    out = run("14_array.py", tmp_path)
    said = re.search(r"in ([\d.]+) ns \(p50\), .* ([\d.]+) µs \(p99\)", out)
    assert 0 < float(said[1]) < 1000 * float(said[2])
    assert len(re.findall(r"decode, 64", out)) == 2
    assert "not the 2.3e-07 s of the device" in out
    assert re.search(r"refused: a context of 64 tokens does not fit", out)
    assert "is worn out after" in out
    assert (tmp_path / "array.png").stat().st_size > 10_000


def test_energy_at_equal_accuracy_says_what_is_not_reached(tmp_path):
    out = run("13_energy_at_equal_accuracy.py", tmp_path)
    said = dict(re.findall(r"^(\w+, p \d), softmax width 64, system: (.*)$", out, re.M))
    assert said["substrate, p 1"] == "not reached"
    assert float(said["substrate, p 4"].split()[0]) == pytest.approx(1.09, abs=0.02)
    four = re.findall(r"softmax int4-table width 64, system: (.*)$", out, re.M)
    assert four == ["all better"] * 4, "4 bits, not trained again, are worse than all"
    table = (tmp_path / "energy-accuracy.csv").read_text().splitlines()
    assert table[0] == "way,device,p,d_osc,width,bits,mode,system_j,attention_j"
    shipped = EXAMPLES.parent / "data" / "benchmarks" / "energy-accuracy.csv"
    assert table == shipped.read_text().splitlines(), "nominal: draws play no part"
    assert (tmp_path / "energy-accuracy.png").stat().st_size > 10_000


@pytest.mark.slow
def test_quantised_rivals_agree_with_the_table_that_ships(tmp_path):
    out = run("15_quantised_rivals.py", tmp_path)
    shipped = {
        (row["checkpoint"], row["mode"]): row
        for row in rows_of_csv(
            EXAMPLES.parent / "data" / "benchmarks" / "quantised.csv"
        )
    }
    rows = rows_of_csv(tmp_path / "quantised.csv")
    assert len(rows) == 5 + 3 + 5 + 3
    for row in rows:
        other = shipped[row["checkpoint"], row["mode"]]
        assert row["sha256"] == other["sha256"]
        ends = float(row["low95"]), float(row["high95"])
        slack = 0.01 + 0.1 * abs(float(other["difference"]))
        if row["metric"] == "bits_per_byte":
            assert int(row["items"]) == 64
            assert ends[0] - slack < float(other["difference"]) < ends[1] + slack
        else:
            assert row["items"] == other["items"]
            assert float(row["value"]) == pytest.approx(float(other["value"]), abs=4e-3)
    eight = re.search(r"^bytes-softmax, int8: (.*)$", out, re.M)[1]
    four = re.search(r"^bytes-softmax, int4-table: (.*)$", out, re.M)[1]
    assert "not at equal accuracy" not in eight
    assert "not at equal accuracy (loses more than 0.02)" in four


@pytest.mark.spice
def test_circuits_stand_beside_the_engine(tmp_path):
    out = run("17_circuit_noise_mismatch.py", tmp_path)
    row = re.search(r"^ +0\.04 +(\S+) +(\S+) +(\S+) +3\.5%", out, re.MULTILINE)
    found, variance, law = (float(value) for value in row.groups())
    assert found == pytest.approx(0.04, rel=0.1)
    assert variance == pytest.approx(law, rel=0.1)
    angles = re.findall(r"^ 0\.02 +\d +(\S+) +(\S+) ", out, re.MULTILINE)
    assert len(angles) == 4
    for circuit, engine in angles:
        assert float(circuit) == pytest.approx(float(engine), abs=2e-3)
    pairs = re.findall(r"locked +(\S+) +locked +(\S+)", out)
    assert len(pairs) == 2
    for engine, circuit in pairs:
        assert float(circuit) == pytest.approx(float(engine), abs=8)
    assert (tmp_path / "circuit-noise-mismatch.png").stat().st_size > 10_000


@pytest.mark.spice
def test_tokens_in_ngspice_have_the_weights_of_the_engine(tmp_path):
    out = run("16_spice_rung.py", tmp_path)
    said = re.findall(r"weights within (\S+) of the engine's, (\S+) allowed: pass", out)
    assert [float(gate) for _, gate in said] == [0.01, 0.03, 0.01, 0.01]
    assert all(float(off) < 1e-4 for off, gate in said if gate == "0.01")
    assert 1e-6 < float(said[1][0]) < 0.03
    assert re.search(r"[01] of 2 tokens not settled to 0.02 rad", out)
    for name in ("sva-osc-d2-s0-lc", "bytes-osc-d8-p4-sphere"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        assert (tmp_path / f"{name}.cir").read_text().endswith(".end\n")
        table = (tmp_path / f"{name}.csv").read_text().splitlines()
        assert table[0] == "query,anchor,digital,engine,spice"
