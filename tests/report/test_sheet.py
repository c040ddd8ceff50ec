"""Files of a design sheet: what they say, and that they always say the same."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib import image

from oscsim.cli import run
from oscsim.design.laws import lost_alignment
from oscsim.design.rule_json import rule_json
from oscsim.design.run import sweep
from oscsim.errors import SpecError
from oscsim.report import sheet_page
from oscsim.report.best_figure import best_figure
from oscsim.report.front_figure import front_figure
from oscsim.report.loss_figure import law_line, loss_figure
from oscsim.report.sheet import write_sheet
from oscsim.report.sheet_data import embedded
from oscsim.report.sheet_laws import said_fit
from oscsim.report.sheet_page import page
from oscsim.report.sheet_sections import together_section
from tests.design.specs import small
from tests.report.sheet_sample import (
    BITS,
    NOISES,
    device_of,
    everything,
    page_of,
    sweep_table,
)


@pytest.fixture(scope="module")
def sample():
    return everything(sweep_table())


@pytest.fixture(scope="module")
def folder(sample, tmp_path_factory):
    found = tmp_path_factory.mktemp("sheet")
    write_sheet(found, *sample, device_of)
    return found


def rows(folder, name):
    return list(csv.DictReader(io.StringIO((folder / name).read_text("utf-8"))))


def test_every_figure_comes_in_three_formats_with_its_data(folder):
    axes = ("relative_diffusion", "weight_bits")
    kinds = ("loss", "best", "gap")
    figures = [f"{kind}-{axis}" for kind in kinds for axis in axes]
    figures.append("front")
    expected = {f"{n}.{e}" for n in figures for e in ("png", "svg", "pdf", "csv")}
    expected |= {"sheet.html", "rule.csv", "laws.csv", "families.csv", "sweep.nc"}
    expected.add("cheapest.csv")
    assert {path.name for path in folder.iterdir()} == expected


def test_pdfs_are_as_wide_as_a_column(folder):
    for path in folder.glob("*.pdf"):
        (width,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", path.read_bytes())
        assert float(width) / 72 * 25.4 == pytest.approx(85, abs=0.1), path.name


def test_figures_show_something(folder):
    for path in folder.glob("*.png"):
        pixels = image.imread(path)
        assert pixels.shape[1] == pytest.approx(85 / 25.4 * 300, abs=2)
        assert 0.01 < (pixels[..., :3].min(axis=2) < 0.6).mean() < 0.3, path.name


def test_svgs_lead_nowhere(folder):
    for path in folder.glob("*.svg"):
        assert "<a " not in path.read_text("utf-8"), path.name


def test_the_rule_table_is_the_rule(folder, sample):
    rule = sample[0]
    found = {
        (r["model"], r["number"], float(r["loss"])): r for r in rows(folder, "rule.csv")
    }
    assert len(found) == len(rule.rules) * len(rule.losses)
    words = set()
    for one in rule.rules:
        for loss in rule.losses:
            row, allowed = found[one.subject, one.axis, loss], one.allowed[loss]
            assert int(row["d_osc"]) == one.d_osc
            if math.isinf(allowed.value):
                is_all = (allowed.value > 0) == (one.curve.better == "smaller")
                assert row["allowed"] == ("all" if is_all else "none")
                words.add(row["allowed"])
            else:
                assert float(row["allowed"]) == allowed.value
    assert words == {"all", "none"}, "the sample shows both"


def test_the_data_of_the_loss_figure_are_cells_and_law(folder, sample):
    rule = sample[0]
    found = rows(folder, "loss-relative_diffusion.csv")
    cells = [r for r in found if r["kind"] == "cell"]
    assert len(cells) == 3 * len(NOISES)
    for row in cells:
        noise = float(row["relative_diffusion"])
        cell = rule.table.cell(
            row["model"], {"relative_diffusion": noise, "weight_bits": BITS[-1]}
        )
        assert float(row["loss"]) == pytest.approx(rule.table.loss(cell).mean())
    for one in (r for r in rule.rules if r.axis == "relative_diffusion"):
        line = [r for r in found if r["kind"] == "law" and r["model"] == one.subject]
        assert len(line) > 100
        drives = np.linspace(0.2, 3, 201)
        middle = 0.5 * (drives[1:] + drives[:-1]) / drives[100]
        for row in line[:: len(line) // 5]:
            x = lost_alignment(one.d_osc, middle, float(row["relative_diffusion"]))
            expected = one.curve.mean[0] + one.law.at(
                np.clip(x, *np.sort(one.law.x)[[0, -1]])
            )
            assert float(row["loss"]) == pytest.approx(expected, rel=1e-6)


def test_a_law_line_stays_within_what_was_fitted(sample):
    rule = sample[0]
    for one in (r for r in rule.rules if r.law is not None):
        values, loss = law_line(one, rule)
        inside = one.curve.values[one.curve.values > 0]
        assert values.min() == pytest.approx(inside.min(), rel=1e-2)
        assert values.max() == pytest.approx(inside.max(), rel=1e-6)
        assert np.isfinite(loss).all()


def test_a_poor_law_is_said_and_not_drawn(sample):
    rule = sample[0]
    one = next(r for r in rule.rules if r.law is not None)
    assert law_line(one, rule) is not None
    poor, rough = "is poor: use the data", "describes, roughly"
    for r2, chi2, chips, miss, said in (
        (0.5, 1.0, 8, 1.0, poor),
        (math.nan, 1.0, 8, 1.0, poor),
        (0.99, 1.0, 8, 1.0, "holds within scatter"),
        (0.99, 30.0, 8, 1.0, rough),
        (0.99, math.nan, 8, 1.0, rough),
        (0.99, 1.0, 7, 1.0, rough),
        (0.99, 1.0, 8, -2.1, rough),
    ):
        misses = np.full(len(one.law.x), miss)
        law = replace(one.law, r2=r2, chi2=chi2, chips=chips, misses=misses)
        assert said_fit(law) == said
        is_drawn = law_line(replace(one, law=law), rule) is not None
        assert is_drawn == (r2 == 0.99)


def test_the_best_is_marked_once_a_value(folder):
    found = rows(folder, "best-relative_diffusion.csv")
    best = {float(r["relative_diffusion"]): r for r in found if r["is"] == "best"}
    assert sorted(best) == list(NOISES)
    for value, row in best.items():
        there = [r for r in found if float(r["relative_diffusion"]) == value]
        assert len(there) == 3
        least = min(float(r["bits_per_byte"]) for r in there)
        assert float(row["bits_per_byte"]) == least
    assert best[0.0]["model"] == "osc-d16"
    assert best[1.0]["model"] == "osc-d2"


def test_the_front_holds_cells_and_the_baseline(folder, sample):
    found = rows(folder, "front.csv")
    assert len(found) == len(sample[0].table.cells) + 1
    (softmax,) = (r for r in found if r["kind"] != "cell")
    assert float(softmax["joules_p50"]) == 2e-9
    assert softmax["relative_diffusion"] == ""


def test_netcdf_gives_everything_back(folder, sample):
    table = sample[0].table
    with xr.open_dataset(folder / "sweep.nc", engine="scipy") as found:
        assert found.sizes["cell"] == len(table.cells)
        assert found.attrs["metric"] == "bits_per_byte"
        for k, cell in enumerate(table.cells):
            np.testing.assert_array_equal(found["metric"][k], cell.values)
            np.testing.assert_array_equal(found["loss"][k], table.loss(cell))
            np.testing.assert_array_equal(found["joules"][k], cell.joules)
            assert found["model"][k].item() == cell.subject
            for name, value in cell.point.items():
                assert found[f"axis_{name}"][k] == value
        for k, one in enumerate(sample[0].rules):
            for j, loss in enumerate(sample[0].losses):
                assert found["allowed"][k, j] == one.allowed[loss].value
        assert found["point_metric"].size == len(sample[2])


def test_netcdf_holds_texts_unequal_chips_and_no_prices(tmp_path):
    table = sweep_table(
        axes={"device": ("a", "b"), "weight_bits": (3, 4)}, priced=False
    )
    first = table.cells[0].__class__(
        **table.cells[0].__dict__
        | {
            "values": table.cells[0].values[:2],
            "chips": table.cells[0].chips[:2],
        }
    )
    table = table.__class__(**table.__dict__ | {"cells": (first, *table.cells[1:])})
    write_sheet(tmp_path, *everything(table), device_of)
    with xr.open_dataset(tmp_path / "sweep.nc", engine="scipy") as found:
        assert list(found["axis_device"].values[:4]) == ["a", "a", "b", "b"]
        assert np.isnan(found["metric"][0, 2])
        assert not np.isnan(found["metric"][1]).any()
        assert np.isnan(found["latency"]).all()


def test_the_same_cells_give_the_same_bytes(folder, sample, tmp_path):
    before = dict(mpl.rcParams)
    write_sheet(tmp_path, *everything(sweep_table()), device_of)
    assert dict(mpl.rcParams) == before
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_page_names_no_place_and_loads_nothing(folder):
    text = (folder / "sheet.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "http" not in text.replace("http-equiv", "")
    assert str(folder) not in text


def test_every_link_of_the_page_has_its_place(folder):
    text = (folder / "sheet.html").read_text("utf-8")
    places = re.findall(r'\bid="([^"]+)"', text)
    assert len(places) == len(set(places))
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links <= set(places)
    assert sum(link.startswith("cell-") for link in links) > 20


def test_a_cell_says_its_device_chips_and_shares(folder, sample):
    text = (folder / "sheet.html").read_text("utf-8")
    cell = sample[0].table.cells[7]
    start = text.index('id="cell-7"')
    said = text[start : text.index("</details>", start)]
    for value in cell.values:
        assert f"{value:.4f}" in said
    for part in ("25.00 %", "2.00 %", cell.digest, ">field<"):
        assert part in said
    assert "sphere" not in said, "what all devices share is said once"


def test_names_from_outside_are_escaped():
    table = sweep_table()
    nasty = "</script><b>&"
    table = table.__class__(**table.__dict__ | {"name": nasty})
    text = page_of(table)
    assert nasty not in text
    assert json.loads(embedded({"a": nasty})) == {"a": nasty}
    assert "<" not in embedded({"a": nasty})


def test_without_a_full_grid_there_are_tables_only():
    table = sweep_table(kept=lambda p: p["weight_bits"] == 3, design="list")
    points = [c.point | {"stuck_on": k / 100} for k, c in enumerate(table.cells)]
    cells = tuple(
        c.__class__(**c.__dict__ | {"point": p})
        for c, p in zip(table.cells, points, strict=True)
    )
    table = table.__class__(**table.__dict__ | {"cells": cells})
    text = page_of(table)
    assert "There are no sliders: a prediction needs a full grid of cells" in text
    assert "design list" in text
    assert 'id="grids"' not in text
    assert "osc-d8: 5 cells have a value, a full grid has 75" in text
    assert "Points by their loss, the least first" in text
    shown = text[text.index("Points by their loss") :]
    shown = shown[: shown.index("</table>")]
    losses = [float(x) for x in re.findall(r">([\d.]+) % ± [\d.]+ %<", shown)]
    assert len(losses) == len(cells)
    assert losses == sorted(losses)
    assert 'href="#cell-0"' in shown
    assert "Points by their loss" not in page_of(sweep_table(), has_figures=False)


def test_without_prices_the_page_says_so():
    text = page_of(sweep_table(priced=False))
    assert "No cell of this sweep has a price" in text
    assert 'id="front"' not in text
    assert "digital softmax" in text


def test_of_many_cells_the_page_details_those_it_shows(monkeypatch):
    monkeypatch.setattr(sheet_page, "MOST_DETAILED", 20)
    text = page_of(sweep_table(priced=False))
    found = set(map(int, re.findall(r'id="cell-(\d+)"', text)))
    assert "Details of 20 of 45 cells" in text
    assert len(found) == 20
    assert set(map(int, re.findall(r'href="#cell-(\d+)"', text))) <= found


def test_what_cannot_be_drawn_is_told(sample):
    rule = sample[0]
    with pytest.raises(SpecError, match="stuck_on has no rule"):
        loss_figure(rule, "stuck_on")
    alone = everything(sweep_table(models=("osc-d2",), priced=False))
    with pytest.raises(SpecError, match=r"two dimensions at least, got \[2\]"):
        best_figure(alone[0], "weight_bits")
    with pytest.raises(SpecError, match="no cell of the sweep has a price"):
        front_figure(alone[2], "bits_per_byte")


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    least = sweep_table(axes={"stuck_on": (0.0, 1.0)}, models=("osc-d2",), priced=False)
    (tmp_path / "file").write_text("kept")
    with pytest.raises(SpecError, match="choose another folder"):
        write_sheet(tmp_path / "file", *everything(least), device_of)


def test_a_sweep_becomes_a_sheet_by_command(tmp_path, capsys):
    ready = small(tmp_path)
    for name in ("one", "two"):
        store = tmp_path / f"{name}.sqlite"
        sweep(ready, store, workers=1)
        assert run(["rule", str(store), "--out", str(tmp_path / name)]) == 0
    said = capsys.readouterr().out
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"sheet.html", "sweep.nc", "front.pdf", "loss-weight_bits.csv"} <= set(files)
    for name in files:
        found = (tmp_path / "one" / name).read_bytes()
        assert found == (tmp_path / "two" / name).read_bytes(), name
        assert str(tmp_path).encode() not in found, name
        assert name in re.sub(r"\s", "", said)
    text = (tmp_path / "one" / "sheet.html").read_text("utf-8")
    assert "72000000.0" in text, "the device's fields are on the page"


def test_pairs_are_called_what_their_intervals_say():
    def pair(low, high):
        excess = [0.5 * (low + high), low, high]
        axes, values = ["weight_bits", "stuck_on"], [3.0, 0.1]
        numbers = {"apart": 0.1, "together": 0.2}
        return {
            "model": "m",
            "axes": axes,
            "values": values,
            "excess": excess,
        } | numbers

    told = {
        (0.01, 0.02): "worse together",
        (-0.02, -0.01): "less bad together",
        (-0.01, 0.01): "not told apart from additive",
    }
    for ends, said in told.items():
        text = together_section({"interactions": [pair(*ends)], "sobol": []})
        assert [words for words in told.values() if words in text] == [said]
        assert "weight_bits 3 and stuck_on 0.1" in text
    shares = {
        "model": "m",
        "axes": ["a", "b"],
        "first": [0.6, 0.3],
        "surface_r2": None,
        "total": [0.7, 0.4],
    }
    text = together_section({"interactions": [], "sobol": [shares]})
    assert "a 0.60 (with interactions 0.70), b 0.30" in text
    assert "surface" not in text
    drawn = shares | {"surface_r2": 0.93}
    text = together_section({"interactions": [], "sobol": [drawn]})
    assert "a quadratic surface that foretells 93% of the variance" in text
    assert together_section({"interactions": [], "sobol": []}) == ""


def test_a_sheet_says_what_is_on_and_not_swept_and_why_there_is_no_sobol_index():
    rule, _, front = everything(sweep_table(models=("osc-d2",)))
    on = {"made-up": {"weight_bits": 5, "start": "random"}, "ideal": {}}
    content = rule_json(rule, (), (), front, on=on, why_not={"osc-d2": "few cells"})
    text = page(rule, content, front, device_of, [])
    assert "On in made-up and not swept: weight_bits 5, start random." in text
    assert "On in ideal" not in text
    assert "osc-d2: few cells" in text
    assert "bits per byte, digital" in text
    assert "not swept" not in page_of(rule.table, has_figures=False)


def test_a_loss_that_is_not_monotone_is_told():
    table = sweep_table(models=("osc-d2",), axes={"stuck_on": (0.0, 0.1, 0.2)})
    middle = table.cells[1]
    raised = middle.__class__(**middle.__dict__ | {"values": middle.values + 0.2})
    bent = table.__class__(
        **table.__dict__ | {"cells": (table.cells[0], raised, table.cells[2])}
    )
    said = "the loss is not monotone, the curve misses it by up to 5.00 %"
    assert said in page_of(bent, has_figures=False)
    assert "not monotone" not in page_of(table, has_figures=False)


def test_an_axis_of_one_layer_says_which(tmp_path):
    axes = {"layer0.weight_bits": (3, 4), "layer1.weight_bits": (3, 4)}
    write_sheet(
        tmp_path, *everything(sweep_table(axes=axes, models=("osc-d2",))), device_of
    )
    assert (tmp_path / "loss-layer0.weight_bits.svg").exists()
    text = (tmp_path / "sheet.html").read_text("utf-8")
    assert "layer 0: coupling bits (layer0.weight_bits)" in text
    places = re.findall(r'\bid="([^"]+)"', text)
    assert len(places) == len(set(places))
    assert all(re.fullmatch(r"[\w.-]+", place) for place in places)
