"""Figures, page and sources of an energy estimate."""

import io
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from oscsim.bridge import judge as judging
from oscsim.bridge.estimate import estimate
from oscsim.bridge.judge import judge
from oscsim.energy.components import Library
from oscsim.energy.described import parse_shape
from oscsim.energy.factoring import factoring
from oscsim.report.bibtex import bibtex
from oscsim.report.estimate_figures import (
    crossover_figure,
    tornado_figure,
    waterfall_figure,
)
from oscsim.report.estimate_files import page
from oscsim.report.estimate_terminal import (
    crossings,
    groups,
    library_rows,
    print_estimate,
    qualities,
)
from oscsim.substrate.device import Device
from tests.energy.toy import entry


@pytest.fixture(scope="module")
def judged():
    patch = pytest.MonkeyPatch()
    patch.setattr(judging, "POINTS", 5)
    shape, _ = parse_shape("T=32,H=2,d_model=32,d_osc=2,layers=1,coupling=relu")
    found = estimate(
        shape,
        Device.load("ring-65nm"),
        factoring("relu", 1, clamps=False),
        title="<a & b>",
        n_draws=64,
    )
    result = found, judge(found, n_draws=16)
    patch.undo()
    return result


def test_a_waterfall_ends_at_the_subject(judged):
    one = judged[1][0]
    (ax,) = waterfall_figure(one).axes
    bars = ax.patches
    at = bars[0].get_x() + bars[0].get_width()
    for bar in bars[1:-1]:
        assert bar.get_x() == pytest.approx(at)
        at += bar.get_width()
    assert at == pytest.approx(bars[-1].get_width())
    assert "J per token, nominal" in ax.get_xlabel()


def test_a_tornado_shows_both_ends_of_the_largest(judged):
    one = judged[1][0]
    (ax,) = tornado_figure(one).axes
    low, high = (line.get_xdata() for line in ax.lines[:2])
    shown = one.attention.sensitivities[: len(low)]
    assert list(low) == [cause.at_low for cause in shown]
    assert list(high) == [cause.at_high for cause in shown]
    for label, cause in zip(ax.get_yticklabels(), shown, strict=True):
        assert label.get_text() == f"{cause.cause} ({cause.rank_correlation:+.2f})"


def test_a_crossover_names_units_and_marks_parity(judged):
    axes = crossover_figure(judged[1]).axes
    labels = [ax.get_xlabel() for ax in axes]
    assert labels == [
        "dig45.exp (pJ per event, log axis)",
        "dig45.int8_mac (pJ per event, log axis)",
    ]
    for ax, name in zip(axes, ("exponential", "mac"), strict=True):
        for line, one in zip(ax.lines, judged[1], strict=False):
            curve = getattr(one.attention, name)
            assert list(line.get_ydata()) == list(curve.nominal)
        assert any(list(line.get_ydata()) == [1, 1] for line in ax.lines)


def test_an_axis_of_less_than_a_decade_can_be_read(judged):
    """A logarithmic axis from .9 to 3 has one decade tick, or none."""
    figure = crossover_figure(judged[1])
    figure.canvas.draw()
    for ax in figure.axes:
        bottom, top = ax.get_ylim()
        ticks = [t for t in ax.get_yticks() if bottom <= t <= top]
        assert len(ticks) >= 3
        assert 1.0 in ticks, "parity can be read"
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "parity, ratio 1" in said


def test_a_group_of_one_is_not_called_drawn_together(judged):
    for said in groups(judged[0]):
        group, rest = said.split(": ", 1)
        members = [c.id for c in judged[0].components if c.corr_group == group]
        together = f"drawn together are {', '.join(members)}"
        alone = f"of this group {members[0]} alone"
        assert rest == (together if len(members) > 1 else alone)
    ends = [said.endswith(" alone") for said in groups(judged[0])]
    assert any(ends)
    assert not all(ends)


def test_no_marker_of_a_tornado_is_cut(judged):
    for one in judged[1]:
        (ax,) = tornado_figure(one).axes
        left, right = ax.get_xlim()
        ends = [x for line in ax.lines[:2] for x in line.get_xdata()]
        room = (math.log(right) - math.log(left)) * 0.02
        assert math.log(min(ends)) - math.log(left) > room
        assert math.log(right) - math.log(max(ends)) > room


def test_the_page_explains_its_words(judged):
    text = page(*judged)
    for said in ("Draws won: ", "Median: of the sums", "drawn together as"):
        assert said in text
    part = next(c for c in judged[0].components if c.corr_group)
    assert text.count(part.corr_group) >= 2
    for one in judged[0].steps:
        assert f"{one.context:.4g} tokens ({one.name}) / softmax" in text
    assert len(judged[0].steps) == 2
    start = text.index("nominal per token</th>")
    header = text[start : text.index("</tr>", start)]
    assert header.count("<th") <= 12, "one column a phase"
    assert "digital softmax on a GPU, reuse 1" in text


def test_the_page_escapes_and_says_what_ranges_are(judged):
    text = page(*judged)
    assert "&lt;a &amp; b&gt;" in text
    assert "<a & b>" not in text
    assert "assumption range" in text
    assert "softmax twin at 4 bits; no weights, accuracy unknown" in text
    for part in judged[0].components:
        assert part.id in text


def test_a_rival_that_loses_accuracy_is_marked_beside_its_price(judged):
    first, *others = judged[0].rivals
    worse = replace(first, accuracy="3 bits: not at equal accuracy (loses more)")
    found = replace(judged[0], rivals=(worse, *others))
    out = io.StringIO()
    print_estimate(Console(file=out, width=160), found, ())
    marked = [line for line in out.getvalue().splitlines() if "†" in line]
    assert len(marked) == 2
    assert marked[0].split(" †")[0].strip() == first.name
    assert "†: not at equal accuracy" in marked[1], "the caption says what it means"
    assert qualities(found)[0] == f"{first.name}: {first.remark}; {worse.accuracy}"
    assert len(qualities(found)) == len(found.rivals)
    softmax = replace(found, device=None)
    assert len(qualities(softmax)) == len(found.rivals) + len(found.subjects)
    assert worse.accuracy in page(found, judged[1])


def test_crossings_are_said_with_their_component(judged):
    said = crossings(judged[1][0].attention)
    assert "(exponential, dig45.exp)" in said
    assert "(MAC, dig45.int8_mac)" in said
    flat = replace(judged[1][0].attention.mac, nominal=np.full(5, 1.2))
    one = replace(judged[1][0].attention, mac=flat)
    assert "the curve does not cross 1 between 0.01 and 3 pJ (MAC" in crossings(one)


def components(*entries):
    return Library.parse(list(entries)).components.values()


def test_a_source_is_one_entry_and_no_field_is_invented():
    shared = "Jones & Li, J. 3:1 (2019), doi:10.1000/ab_c.3: 40 % less"
    text = bibtex(
        components(
            entry("one", 1.0, source=shared, year=2019),
            entry("two", 1.0, source=shared, year=2019),
            entry("three", 1.0, source="Lee et al., arXiv:2101.00001", year=2021),
            entry("four", 1.0, source="3 x 4 of Lee et al.", confidence="derived"),
        )
    )
    assert text.count("@misc{") == 3
    assert len(set(re.findall(r"@misc\{(\S+),", text))) == 3
    first, second, third = text.split("@misc")[1:]
    assert "doi = {10.1000/ab_c.3}" in first
    assert r"Jones \& Li" in first
    assert r"40 \% less" in first
    assert "note = {primary: one, two}" in first
    assert "eprint = {2101.00001}" in second
    assert "doi" not in second
    assert "year" not in third, "a derived number has no year of publication"
    assert "author" not in text
    assert "title" not in text


def test_choices_are_listed_and_not_cited():
    text = bibtex(
        components(
            entry("knob", 1.0, source="a choice, see x@1234567", confidence="assumed"),
            entry("lost", 1.0, source="rule of thumb (no citation)"),
            entry("sum", 1.0, source="8 bits of 64", confidence="derived"),
        )
    )
    assert "@" not in text, "BibTeX would read it as an entry"
    assert [line.split(":")[0] for line in text.splitlines()[1:]] == [
        "% knob",
        "% lost",
        "% sum",
    ]
    assert bibtex([]) == ""


def test_every_bundled_source_balances_its_braces():
    text = bibtex(Library.load().components.values())
    bare = text.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert 0 <= depth <= 3, "a symbol in a field in an entry"
    assert depth == 0
    assert "doi = {10.1109/ISSCC.2014.6757323}" in text


def test_filtering_reads_every_field():
    library = Library.load()
    assert len(library_rows(library)) == len(library.components)
    assert {part.unit for part in library_rows(library, "mV*um")} == {"mV*um"}
    (found,) = library_rows(library, "ARXIV:2310.03003")
    assert found.id == "gpu.llama65b_token"
