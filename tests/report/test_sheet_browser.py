"""The design sheet in a real browser: sliders, keyboard, telephone, no network."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from oscsim.design.rule import fit_rule
from oscsim.design.surrogate import surrogates
from tests.report.sheet_sample import page_of, sweep_table

pytestmark = pytest.mark.browser
DESKTOP = {"width": 1100, "height": 900}


@pytest.fixture(scope="module")
def browser():
    """Chromium; without it a test fails in one line and is not skipped."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail(
            "chromium was not found: apt-get install chromium, or deselect its tests "
            "with -m 'not browser'",
            pytrace=False,
        )
    # Imported here, so that the suite without these tests does without it.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium
        started = chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def table():
    return sweep_table()


@pytest.fixture(scope="module")
def sheet(table, tmp_path_factory):
    return saved(table, tmp_path_factory.mktemp("sheet"), has_figures=True)


def saved(table, folder, *, has_figures=False):
    """The address of a sheet."""
    path = folder / "sheet.html"
    path.write_text(page_of(table, has_figures=has_figures), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser):
    """Open pages; at the end none has complained or asked for anything else."""
    contexts, said = [], []

    def open_page(address, viewport=DESKTOP):
        context = browser.new_context(viewport=viewport)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url in (address, "data:,") or said.append(asked.url),
        )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def predicted(page):
    return float(page.locator("#answer").get_attribute("data-metric"))


def grids_of(table):
    return {grid.subject: grid for grid in surrogates(table)[0]}


def numbers_on(page):
    """Values of the two number fields."""
    names = ("relative_diffusion", "weight_bits")
    return {n: float(page.input_value(f"#number-{k}")) for k, n in enumerate(names)}


def test_a_slider_moves_the_number_to_what_python_computes(opened, sheet, table):
    page = opened(sheet)
    page.select_option("#model", "osc-d8")
    before = predicted(page)
    page.focus("#slider-0")
    for _ in range(33):
        page.keyboard.press("ArrowRight")
    numbers = numbers_on(page)
    assert 0.001 < numbers["relative_diffusion"] < 0.01, "between two stored values"
    expected = grids_of(table)["osc-d8"].at(numbers)
    assert predicted(page) == pytest.approx(expected.metric, abs=1e-9)
    assert abs(predicted(page) - before) > 1e-3
    shown = page.inner_text("#answer .large-number")
    assert shown == f"{expected.metric:.4f} ± {expected.half_width:.4f}"
    text = page.inner_text("#answer")
    assert f"Loss {100 * expected.loss:.2f} %" in text
    assert f"{expected.joules[1] * 1e9:.3g} nJ" in text
    assert page.get_attribute("#slider-0", "aria-valuetext") == page.input_value(
        "#number-0"
    )


@pytest.mark.parametrize("metric", ["bits_per_byte", "accuracy"])
def test_any_point_gives_the_number_of_python(opened, tmp_path, metric):
    found = sweep_table(metric=metric)
    page = opened(saved(found, tmp_path))
    rng, grids = np.random.default_rng(0), grids_of(found)
    sign = 1 if metric == "bits_per_byte" else -1
    chosen = set()
    for noise in (0.0, 1.0, *(10 ** rng.uniform(-4.5, 0, size=8))):
        bits = int(rng.integers(3, 7))
        page.fill("#number-0", repr(float(noise)))
        page.fill("#number-1", str(bits))
        at = {"relative_diffusion": noise, "weight_bits": bits}
        all_at = {name: grid.at(at).metric for name, grid in grids.items()}
        best = min(all_at, key=lambda name: sign * all_at[name])
        assert predicted(page) == pytest.approx(all_at[best], abs=1e-9)
        assert page.inner_text("#answer p:first-child").startswith(f"{best} (")
        chosen.add(best)
    assert len(chosen) > 1, "the best model changes over the noise"


def mixed(losses_of, **asked):
    """A table with losses that are made up per model: gains, zeros and saturation."""
    found = sweep_table(**asked)
    sign = 1 if found.is_loss_bits else -1
    cells = []
    for name in found.known:
        of = [cell for cell in found.cells if cell.subject == name]
        digital = found.known[name].value
        for cell, loss in zip(of, losses_of(len(of)), strict=True):
            values = digital * (1 + sign * (loss + 1e-3 * np.array([-1.0, 0.0, 1.0])))
            cells.append(replace(cell, values=values))
    return replace(found, cells=tuple(cells))


@pytest.mark.parametrize("metric", ["bits_per_byte", "accuracy"])
def test_gains_zeros_and_large_losses_are_read_as_python_does(opened, tmp_path, metric):
    rng = np.random.default_rng(4)

    def losses_of(n):
        kinds = np.array([-0.01, 0.0, 0.7, *(4 * [np.nan])])
        loss = rng.choice(kinds, size=n)
        return np.where(np.isnan(loss), 10 ** rng.uniform(-3, -0.4, n), loss)

    axes = {
        "relative_diffusion": (0.0, 0.001, 0.01, 0.1),
        "weight_bits": (3, 4, 6),
        "coupling_mismatch": (0.0, 0.03, 0.1),
    }
    found = mixed(losses_of, axes=axes, metric=metric)
    page, grids = opened(saved(found, tmp_path)), grids_of(found)
    page.select_option("#model", "osc-d8")
    order = grids["osc-d8"].axes
    seen = []
    for _ in range(25):
        at = {
            "relative_diffusion": float(10 ** rng.uniform(-3.7, -1)),
            "weight_bits": float(rng.integers(3, 7)),
            "coupling_mismatch": float(rng.choice([0.0, 0.1, *rng.uniform(0, 0.1, 4)])),
        }
        for k, name in enumerate(order):
            page.fill(f"#number-{k}", repr(at[name]))
        expected = grids["osc-d8"].at(at)
        assert predicted(page) == pytest.approx(expected.metric, abs=1e-9)
        lost = float(page.locator("#answer").get_attribute("data-loss"))
        assert lost == pytest.approx(expected.loss, abs=1e-9)
        seen.append(lost)
    assert min(seen) < 0 < 0.25 < max(seen)


def test_at_what_the_rule_allows_the_sheet_says_that_loss(opened, sheet, table):
    page, rule = opened(sheet), fit_rule(table, resamples=20)
    n = 0
    for one in rule.rules:
        if one.axis != "relative_diffusion":
            continue
        page.select_option("#model", one.subject)
        page.fill("#number-1", str(one.held["weight_bits"]))
        for loss, found in one.allowed.items():
            if np.isfinite(found.value):
                page.fill("#number-0", repr(found.value))
                lost = float(page.locator("#answer").get_attribute("data-loss"))
                assert lost == pytest.approx(loss, abs=1e-9)
                assert f"Loss {100 * loss:.2f} %" in page.inner_text("#answer")
                n += 1
    assert n > 5


def d_osc_on(page):
    """What the slider of d_osc shows, and says."""
    shown = page.inner_text("#number-d-osc")
    assert page.get_attribute("#slider-d-osc", "aria-valuetext") == shown
    return shown


def test_the_slider_of_d_osc_and_the_model_stay_in_step(opened, sheet, table):
    page = opened(sheet)
    assert d_osc_on(page) == "16", "where the best one stands"
    page.fill("#number-0", "1")
    assert d_osc_on(page) == "2", "it moves with the best one"
    page.select_option("#model", "osc-d8")
    assert d_osc_on(page) == "8"
    assert page.input_value("#slider-d-osc") == "1"
    page.focus("#slider-d-osc")
    for key, name in (("ArrowRight", "osc-d16"), ("Home", "osc-d2")):
        page.keyboard.press(key)
        assert page.input_value("#model") == name
        assert d_osc_on(page) == name.split("-d")[1]
        expected = grids_of(table)[name].at(numbers_on(page)).metric
        assert predicted(page) == pytest.approx(expected, abs=1e-9)
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#model") == "osc-d2", "whole stops, and no further"


def test_several_models_of_one_d_osc_are_one_stop(opened, tmp_path):
    """Two trainings of d_osc 8: the slider shows the better of them at the numbers."""
    found = sweep_table()
    subjects = {
        name: about | {"config": {"d_osc": 8}} if name == "osc-d16" else about
        for name, about in found.subjects.items()
    }
    found = replace(found, subjects=subjects)
    page, grids = opened(saved(found, tmp_path)), grids_of(found)
    assert page.get_attribute("#slider-d-osc", "max") == "1"
    page.focus("#slider-d-osc")
    page.keyboard.press("Home")
    assert page.input_value("#model") == "osc-d2", "the only one of d_osc 2"
    page.keyboard.press("End")
    assert page.input_value("#model") == "d-osc:8"
    winners = set()
    for noise in ("0", "0.01", "0.1"):
        page.fill("#number-0", noise)
        at = {n: grids[n].at(numbers_on(page)).metric for n in ("osc-d8", "osc-d16")}
        best = min(at, key=at.get)
        assert predicted(page) == pytest.approx(at[best], abs=1e-9)
        assert page.inner_text("#answer p:first-child").startswith(f"{best} (d_osc 8)")
        assert d_osc_on(page) == "8"
        winners.add(best)
    assert winners == {"osc-d8", "osc-d16"}
    page.select_option("#model", "osc-d16")
    assert d_osc_on(page) == "8"


def test_one_d_osc_has_no_slider(opened, tmp_path):
    page = opened(saved(sweep_table(models=("osc-d8",)), tmp_path))
    assert page.locator("#slider-d-osc").count() == 0
    assert predicted(page) > 1


def test_the_least_is_told_apart_as_the_table_of_best_models_does(opened, tmp_path):
    """Between models of equal chips and differing items the sheet must not decide."""
    found = sweep_table(models=("osc-d2", "osc-d8"))
    blurred = [
        replace(cell, items=cell.items * (1 + 0.5 * (-1.0) ** np.arange(5)))
        if cell.point == {"relative_diffusion": 0.1, "weight_bits": 6}
        and cell.subject == "osc-d8"
        else cell
        for cell in found.cells
    ]
    found = replace(found, cells=tuple(blurred))
    page = opened(saved(found, tmp_path))
    optima = {
        one.value: one
        for one in fit_rule(found).optima
        if one.axis == "relative_diffusion"
    }
    page.fill("#number-1", "6")
    words = set()
    for noise, one in optima.items():
        page.fill("#number-0", repr(noise))
        text = page.inner_text("#answer")
        assert text.startswith(f"{one.best} (d_osc {one.d_osc}), least here")
        if one.undecided:
            assert "Not told apart, over chips and items, from osc-d" in text
        else:
            assert "Told apart from all others, over chips and items" in text
        words.add(bool(one.undecided))
        assert "the best" not in text
    page.fill("#number-0", "0.02")
    text = page.inner_text("#answer")
    assert "overlap" in text
    assert "over chips and items" not in text
    assert words == {True, False}, "the sample shows both"


def test_the_keyboard_reaches_and_moves_everything(opened, sheet):
    page = opened(sheet)
    page.focus("#model")
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["slider-d-osc", "slider-0", "number-0", "slider-1", "number-1"]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.focus("#slider-1")
    assert page.input_value("#number-1") == "6"
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#number-1") == "5", "whole bits, between those run"
    page.keyboard.press("Home")
    assert page.input_value("#number-1") == "3"
    first = predicted(page)
    page.focus("#model")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#model") == "osc-d2"
    assert predicted(page) != first


@pytest.mark.parametrize(
    ("field", "typed", "told"),
    [
        ("#number-0", "5", r"5 lies outside the data: it was run from 0 to 1"),
        ("#number-0", "-0.1", r"-0\.1 lies outside the data"),
        ("#number-0", "", r"Give a number from 0 to 1"),
        ("#number-1", "4.5", r"whole numbers only"),
    ],
)
def test_leaving_the_data_gives_no_number(opened, sheet, field, typed, told):
    page = opened(sheet)
    kept = page.input_value(field)
    page.fill(field, typed)
    assert re.search(told, page.inner_text(field.replace("number", "error")))
    assert page.get_attribute(field, "aria-invalid") == "true"
    assert page.locator("#answer").get_attribute("data-metric") is None
    assert not re.search(r"\d", page.inner_text("#answer"))
    assert page.inner_text("#others") == ""
    page.fill(field, kept)
    assert predicted(page) > 1


def test_a_telephone_does_not_scroll_sideways(opened, sheet):
    page = opened(sheet, {"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == 390
    for box in page.locator("input, select").all():
        assert box.bounding_box()["height"] >= 24


def test_a_link_opens_the_cell(opened, sheet, table):
    page = opened(sheet)
    details = page.locator("#losses details").first
    details.locator("summary").click()
    link = details.locator("a").nth(3)
    place = link.get_attribute("href")
    cell = page.locator(f"{place} + div")
    assert not cell.is_visible()
    link.click()
    cell.wait_for(state="visible")
    assert table.cells[int(place.split("-")[1])].digest in cell.inner_text()


def test_points_of_figures_lead_to_their_cells_by_keyboard(opened, sheet, table):
    """One stop of Tab a figure, arrows from point to point, Enter to the cell."""
    page = opened(sheet)
    figures = page.locator("figure:has(svg a)")
    names = [figure.get_attribute("id") for figure in figures.all()]
    assert names == ["loss-relative-diffusion", "loss-weight-bits", "front"]
    points = [figure.locator("svg a").count() for figure in figures.all()]
    assert points == [15, 9, 45], "every cell that is drawn"
    for figure in figures.all():
        assert figure.locator("svg").get_attribute("role") == "group"
        assert figure.locator("svg a[tabindex='0']").count() == 1
    first = figures.first.locator("svg a")
    first.first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY", "one stop"
    page.keyboard.press("Shift+Tab")
    for key in ("ArrowRight", "ArrowDown", "End", "ArrowLeft", "Home", "ArrowRight"):
        page.keyboard.press(key)
    said = first.nth(1).get_attribute("aria-label")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == said
    assert figures.first.locator("..").locator(".point").inner_text() == said
    number = int(first.nth(1).get_attribute("href").removeprefix("#cell-"))
    cell = table.cells[number]
    assert said == (
        f"{cell.subject}, relative_diffusion 0.001, weight_bits 6: "
        f"{cell.values.mean():.4f} bits per byte"
    )
    page.keyboard.press("Enter")
    page.locator(f"#cell-{number} + div").wait_for(state="visible")
    assert page.evaluate("document.activeElement.id") == f"cell-{number}"
    assert cell.digest in page.inner_text(f"#cell-{number} + div")


def test_a_point_of_the_front_leads_to_its_cell_by_pointer(opened, sheet, table):
    page = opened(sheet)
    points = page.locator("#front svg a")
    targets = {points.nth(k).get_attribute("href") for k in range(points.count())}
    assert targets == {f"#cell-{k}" for k in range(len(table.cells))}
    point = points.last
    place = point.get_attribute("href")
    point.locator("use").click()
    page.locator(f"{place} + div").wait_for(state="visible")


def test_the_answer_is_spoken_once_the_numbers_stand_still(opened, sheet):
    page = opened(sheet)
    told = page.locator("#told")
    assert told.get_attribute("aria-live") == "polite"
    page.select_option("#model", "osc-d8")
    page.locator("#told:not(:empty)").wait_for(state="attached")
    page.evaluate(
        "window.heard = []; new MutationObserver(() => window.heard.push("
        "document.getElementById('told').textContent)).observe("
        "document.getElementById('told'), {childList: true})"
    )
    page.focus("#slider-0")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1200)
    metric = page.inner_text("#answer .large-number")
    (heard,) = page.evaluate("window.heard")
    assert heard.startswith(f"osc-d8 (d_osc 8): {metric} bits per byte, loss ")
    assert len(heard) < 80


def test_on_a_telephone_the_answer_stays_in_sight(opened, sheet):
    page = opened(sheet, {"width": 390, "height": 700})
    page.focus("#slider-0")
    page.keyboard.press("ArrowRight")
    brief = page.locator("#brief")
    assert brief.inner_text().endswith(" %")
    box = brief.bounding_box()
    assert box["y"] > 0
    assert box["y"] + box["height"] <= 701
    page.set_viewport_size(DESKTOP)
    assert not brief.is_visible()


def test_choices_alone_have_an_answer_too(opened, tmp_path):
    found = sweep_table(axes={"device": ("a", "b")})
    page = opened(saved(found, tmp_path))
    assert page.locator("input[type=number]").count() == 0
    page.select_option("#model", "osc-d8")
    for device in ("a", "b"):
        page.select_option("#choice-0", device)
        cell = found.cell("osc-d8", {"device": device})
        assert predicted(page) == pytest.approx(cell.values.mean(), abs=1e-9)
    page.focus("#slider-d-osc")
    page.keyboard.press("Home")
    cell = found.cell("osc-d2", {"device": "b"})
    assert predicted(page) == pytest.approx(cell.values.mean(), abs=1e-9)


def test_a_choice_of_device_changes_the_number(opened, tmp_path):
    axes = {"device": ("a", "b"), "relative_diffusion": (0.0, 0.01, 0.1)}
    found = sweep_table(axes=axes)
    page = opened(saved(found, tmp_path))
    page.select_option("#model", "osc-d2")
    page.fill("#number-0", "0.05")
    seen = []
    for device in ("a", "b"):
        page.select_option("#choice-0", device)
        (grid,) = (
            g
            for g in surrogates(found)[0]
            if g.subject == "osc-d2" and g.chosen == {"device": device}
        )
        seen.append(predicted(page))
        expected = grid.at({"relative_diffusion": 0.05}).metric
        assert seen[-1] == pytest.approx(expected, abs=1e-9)
    assert seen[1] - seen[0] > 0.01


def test_a_page_without_a_grid_has_no_sliders(opened, tmp_path):
    def kept(point):
        return point["weight_bits"] != 4 or point["relative_diffusion"] != 0.1

    found = sweep_table(kept=kept, design="list")
    page = opened(saved(found, tmp_path))
    assert page.locator("input").count() == 0
    assert "There are no sliders" in page.inner_text("#predict")
    rules, points = page.locator("#rules table").all()
    assert "loss ≤" in rules.inner_text()
    shown = points.locator("tbody tr").count()
    assert shown == min(20, len(found.cells))


def test_in_print_the_answer_stays(opened, sheet):
    page = opened(sheet)
    page.emulate_media(media="print")
    assert page.locator("#answer").is_visible()
    assert not page.locator("#slider-0").is_visible()
    assert page.locator("#number-0").is_visible()
