"""Families of models in tables, files, figures and on the sheet."""

import csv
import io
import math

import numpy as np
import pytest
import xarray as xr
from rich.console import Console

from oscsim.design.family_rule import family_rules
from oscsim.errors import SpecError
from oscsim.report.family_csv import families_csv, law_points
from oscsim.report.family_words import LAW_HEADER, law_cells, said_sources
from oscsim.report.gap_figure import gap_figure
from oscsim.report.rule_terminal import print_rule
from oscsim.report.sheet import write_sheet
from oscsim.report.sheet_figures import drawn_figures
from tests.design.family_sample import DIMENSIONS, SOFTMAX, family_table
from tests.report.sheet_sample import device_of, everything, page_of

NOISES = (0.0, 0.001, 0.1)
ALPHA, AMPLITUDE = 0.6, 3.5
SEEDS = {2: 2, 4: 2, 8: 1, 16: 1, 32: 1}


def perplexity(d, noise):
    """The law without noise, none at .1, where the smallest d_osc is best."""
    return SOFTMAX + AMPLITUDE * d**-ALPHA + 4 * noise * d


def made(**how):
    given = {"noises": NOISES, "spread": 0.004, "own": 0.01, "seed": 2}
    return family_table(perplexity, **({"seeds": SEEDS} | given | how))


@pytest.fixture(scope="module")
def sample():
    return everything(made())


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sample):
    path = tmp_path_factory.mktemp("families")
    write_sheet(path, *sample, device_of)
    return path


def rows(folder, name):
    return list(csv.DictReader(io.StringIO((folder / name).read_text("utf-8"))))


def printed(table):
    found = io.StringIO()
    rule, _, front = everything(table)
    console = Console(file=found, width=180, force_terminal=False)
    print_rule(console, rule, (), (), front)
    return found.getvalue()


def test_every_figure_and_table_is_written(folder):
    names = {path.name for path in folder.iterdir()}
    wanted = {f"gap-relative_diffusion.{kind}" for kind in ("png", "svg", "pdf", "csv")}
    assert wanted | {"families.csv"} <= names


def test_the_csv_of_laws_says_what_was_fitted(folder, sample):
    (one,) = sample[0].families
    found = rows(folder, "families.csv")
    assert [float(r["value"]) for r in found] == list(NOISES)
    for row, place in zip(found, one.places, strict=True):
        law = place.gap.law
        if law is None:
            assert row["alpha"] == ""
            assert row["why_no_law"].startswith("the gap rises from d_osc")
        else:
            assert float(row["alpha"]) == law.alpha
            assert float(row["alpha_low"]) == law.alpha95[0]
            assert float(row["amplitude_high"]) == law.amplitude95[1]
            assert row["fitted_d_osc"] == "2 4 8 16 32"
            assert row["why_no_law"] == ""
        assert int(row["best_d_osc"]) == place.best.d_osc
    assert found[0]["alpha"]
    assert not found[2]["alpha"]


def test_the_csv_of_a_figure_has_points_and_lines(folder, sample):
    (one,) = sample[0].families
    found = rows(folder, "gap-relative_diffusion.csv")
    points = [r for r in found if r["kind"] == "model"]
    assert len(points) == len(NOISES) * len(DIMENSIONS)
    for value in NOISES:
        here = [r for r in points if float(r["relative_diffusion"]) == value]
        (best,) = (r for r in here if r["is"] == "best")
        assert float(best["bits_per_byte"]) == min(
            float(r["bits_per_byte"]) for r in here
        )
        assert all(float(r["gap_low"]) < float(r["gap"]) for r in here)
        for row in here:
            n = SEEDS[int(row["d_osc"])]
            assert int(row["trainings"]) == n
            assert (row["spread"] != "") == (n > 1)
    lines = [r for r in found if r["kind"] == "law"]
    assert {float(r["relative_diffusion"]) for r in lines} == set(NOISES[:2])
    d_osc = [float(r["d_osc"]) for r in lines]
    assert (min(d_osc), max(d_osc)) == (2.0, 32.0)
    assert law_points(one.places[2]) is None


def test_netcdf_holds_families(folder, sample):
    (one,) = sample[0].families
    with xr.open_dataset(folder / "sweep.nc", engine="scipy") as found:
        assert found.sizes["family_value"] == len(NOISES)
        assert found.sizes["family_level"] == len(NOISES) * len(DIMENSIONS)
        assert found["family_alpha"][0] == one.places[0].gap.law.alpha
        assert np.isnan(found["family_alpha"][2])
        assert str(found["family_why_no_law"][2].item()).startswith("the gap rises")
        level = one.places[1].levels[4]
        k = len(DIMENSIONS) + 1
        assert (found["level_at"][k], found["level_d_osc"][k]) == (0.001, 4)
        assert found["level_metric"][k] == level.metric
        assert found["level_spread"][k] == level.spread
        assert found["level_gap_low"][k] == one.places[1].gap.gaps[4].low


def test_json_holds_families(sample):
    (said,) = sample[1]["families"]
    assert said["trainings"]["2"] == ["osc-d2-s0", "osc-d2-s1"]
    assert said["no_law_from"] == 0.1
    calm, _, rough = said["values"]
    assert calm["law"]["alpha"][0] == pytest.approx(ALPHA, abs=0.05)
    assert calm["floor"] is not None
    assert rough["law"] is None
    assert rough["best"]["d_osc"] in (2, 4)


def test_a_terminal_says_law_end_and_best():
    said = printed(made())
    assert "gap to softmax: p = 4, d_osc 2 (2), 4 (2), 8, 16, 32" in said
    assert "no law from relative_diffusion 0.1 on" in said
    assert "at 0.1: no law, the gap rises from d_osc" in said
    assert "best over trainings" in said
    assert "d_osc 8, 16, 32 have one training: they are taken to scatter" in said
    assert "best model at each value" not in said


def test_an_open_end_is_said_everywhere():
    """Trainings that differ by more than the gap at d_osc 16 and 32."""

    def closing(d, noise):
        return SOFTMAX + 2.9 * d**-2.1 + 4 * noise * d

    table = family_table(closing, noises=NOISES, spread=0.01, own=0.01, seed=6)
    (one,) = family_rules(table, {"relative_diffusion": 0.0}, resamples=400)
    law = one.places[0].gap.law
    assert math.isinf(law.alpha95[1])
    said = f"{law.alpha:.2f} [{law.alpha95[0]:.2f}, open)"
    cells = dict(zip(LAW_HEADER, law_cells(one.places[0]), strict=True))
    assert cells["alpha"] == said
    assert cells["C"].endswith(", open)")
    assert cells["so it"] == "holds within errors"
    assert cells["without a gap"] == f"{100 * law.dropped:.0f} %"
    labels = gap_figure(one).axes[0].get_legend_handles_labels()[1]
    assert labels[0] == f"0: alpha {said}"
    (row, *_) = csv.DictReader(io.StringIO(families_csv([one]).decode()))
    assert (row["alpha_high"], row["amplitude_high"]) == ("inf", "inf")
    assert (float(row["chi2"]), row["holds"]) == (law.chi2, "1")


def test_a_caption_says_what_the_intervals_are_over():
    def words(**how):
        (one,) = family_rules(made(**how), {"relative_diffusion": 0.0}, resamples=20)
        return said_sources(one)

    assert words() == "windows, chips and trainings"
    assert words(seeds=1, twins=1) == "windows and chips"
    said = " ".join(printed(made(seeds=1, twins=1)).split())
    assert "with 95 % over windows and chips;" in said
    assert "95 % over windows and chips;" in page_of(
        made(seeds=1, twins=1), has_figures=False
    )


def test_with_one_training_each_checkpoints_are_compared_alone():
    said = printed(made(seeds=1))
    assert "one training of each d_osc" in said
    assert "best model at each value" in said
    assert "each checkpoint alone" in said
    assert "best over trainings" not in said
    text = page_of(made(seeds=1), has_figures=False)
    assert "Each checkpoint alone" in text
    assert "<details><summary>Each checkpoint alone" not in text


def test_the_sheet_has_a_section_with_figure_and_tables(folder):
    text = (folder / "sheet.html").read_text("utf-8")
    start = text.index('<section id="families">')
    section = text[start : text.index("</section>", start)]
    for part in (
        'id="gap-relative-diffusion"',
        "equals softmax at d_osc",
        "not told apart from it",
        "no law from relative_diffusion 0.1 on",
    ):
        assert part in section
    assert "<details><summary>Each checkpoint alone" in text


def test_a_figure_shows_what_there_is():
    def panels(**how):
        (one,) = family_rules(made(**how), {"relative_diffusion": 0.0}, resamples=20)
        return gap_figure(one).axes

    both = panels()
    assert [ax.get_ylabel() for ax in both] == [
        "perplexity per byte\nabove softmax",
        "best d_osc",
    ]
    labels = both[0].get_legend_handles_labels()[1]
    assert [label.split(":")[1][:6] for label in labels] == [
        " alpha",
        " alpha",
        " no la",
    ]
    assert [ax.get_ylabel() for ax in panels(twins=0)] == ["best d_osc"]
    assert len(panels(seeds=1)) == 1
    with pytest.raises(SpecError, match="neither softmax twins nor two trainings"):
        panels(seeds=1, twins=0)


def test_two_families_have_a_figure_each():
    table = made(dimensions=(2, 4, 8), seeds=2)
    for name, about in table.subjects.items():
        if name.endswith("s0") and not about["is_twin"]:
            about["config"]["p"] = 1
    rule, content, front = everything(table)
    names = [d.name for d in drawn_figures(rule, front) if d.kind == "gap"]
    assert names == ["gap-relative_diffusion-p1", "gap-relative_diffusion-p4"]
    assert [one["family"] for one in content["families"]] == ["p = 1", "p = 4"]
    assert all(
        math.isfinite(one["values"][0]["law"]["alpha"][0])
        for one in content["families"]
    )
