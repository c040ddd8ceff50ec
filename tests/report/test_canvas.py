"""Drawings inside a page: text, no outside references, the same bits."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest

from oscsim.report.canvas import blank, inline_svg, plain, png


@pytest.fixture
def figure():
    with blank(3, 2) as made:
        ax = made.subplots()
        ax.bar([0, 1], [1, 2], hatch="//")
        ax.set_xlabel("drive (rad/s)")
        ax.imshow([[0, 1]], extent=(0, 1, 0, 1))
        return made


def test_text_stays_text_and_nothing_points_outside(figure):
    svg = inline_svg(figure, "one", "a label")
    assert "drive (rad/s)" in svg
    assert "http" not in svg
    assert "<script" not in svg
    assert svg.startswith('<svg role="img" aria-label="a label"')


def test_ids_carry_the_name_and_references_resolve(figure):
    one, two = inline_svg(figure, "one", ""), inline_svg(figure, "two", "")
    ids = set(re.findall(r'\bid="([^"]+)"', one))
    assert ids
    assert not ids & set(re.findall(r'\bid="([^"]+)"', two))
    pointers = set(re.findall(r'xlink:href="#([^"]+)"|url\(#([^)]+)\)', one))
    assert {a or b for a, b in pointers} <= ids
    assert pointers


def test_a_drawing_is_well_formed(figure):
    svg = inline_svg(figure, "one", "x").replace("xlink:href", "href")
    ET.fromstring(svg)


def test_the_same_figure_gives_the_same_bytes(figure):
    assert inline_svg(figure, "one", "") == inline_svg(figure, "one", "")
    assert png(figure) == png(figure)
    assert png(figure).startswith(b"\x89PNG")


def test_no_setting_leaks_out():
    before = mpl.rcParams["font.size"]
    with blank(1, 1):
        assert mpl.rcParams["font.size"] == 9
    assert mpl.rcParams["font.size"] == before


def test_a_dollar_starts_no_formula():
    with blank(3, 1) as figure:
        figure.text(0, 0, plain("price $x_1$"))
        assert "price $x_1$" in inline_svg(figure, "one", "")
