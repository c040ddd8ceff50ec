"""The report of a language model: figure, table, and the right pairing."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.bridge.compare import compare
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest
from oscsim.bridge.scope import modelled
from oscsim.bridge.summary import summary, warnings_of
from oscsim.bridge.text_data import read_bytes
from oscsim.report.language_figure import bits_figure
from oscsim.report.language_sections import bits_over_chips, headline
from oscsim.report.numbers import bits
from oscsim.report.page import Report, page
from tests.bridge.language import CONTEXT, language_model, prose


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    text = read_bytes(prose(tmp_path_factory.mktemp("text") / "prose"), CONTEXT)
    return infer(language_model(), text, rung="noisy", chips=2, repeats=2)


def report_of(run):
    on, off = modelled(run.setting)
    return Report(run, compare(run), None, None, on, off, (), Manifest.of(run))


def test_the_figure_has_every_chip_repeat_and_position(language):
    c = compare(language)
    chips, along = bits_figure(language, c).axes
    lines = {line.get_label(): line for line in chips.lines}
    np.testing.assert_allclose(lines["chip"].get_ydata(), c.per_chip)
    repeats = lines["repeat"].get_ydata().reshape(2, 2)
    np.testing.assert_allclose(repeats, language.bits.mean(axis=(2, 3)))
    assert set(lines["digital"].get_ydata()) == {c.digital}
    digital, substrate = (line.get_ydata() for line in along.lines)
    np.testing.assert_allclose(digital.mean(), c.digital)
    np.testing.assert_allclose(substrate, language.bits.mean(axis=(0, 1, 2)))
    low, high = chips.get_ylim()
    assert low < c.ci95[0] < c.ci95[1] < high


def test_the_table_holds_the_numbers(language):
    c, told = compare(language), headline(language, compare(language))
    for number in (c.digital, c.substrate, c.perplexity, c.digital_perplexity):
        assert f"{number:.4f}" in told
    assert bits(c.difference, c.difference_error, sign="+") in told
    assert language.data.md5 in told
    assert "6 windows of 12 bytes" in told


def test_a_page_says_windows_and_where_the_text_is_from(language):
    told = page(report_of(language))
    assert f"6 windows of {language.data.path}, seed 0." in told
    assert "bits per token, sha256" in told
    assert "noisy, 2 chips with 2 repeats" in told


def test_the_digital_rung_has_one_column_and_no_figure(language):
    digital = infer(language_model(), language.data, rung="digital")
    assert bits_over_chips(digital, compare(digital)) == ""
    assert "substrate" not in headline(digital, compare(digital))


def test_one_chip_gives_no_interval(language):
    one = infer(language_model(), language.data, rung="noisy", chips=1, repeats=1)
    assert "one chip: none" in headline(one, compare(one))
    assert "one chip gives no interval over chips" in warnings_of(one, None)
    assert bits_figure(one, compare(one)).axes[0].get_xlabel().endswith("no interval)")


def test_prefix_sums_stand_in_the_record(language):
    model = language_model(short_anchors=True)
    found = infer(
        model, language.data, rung="ideal", chips=1, repeats=1, readout="prefix"
    )
    assert "in prefix sums" in page(report_of(found))
    assert summary(found, compare(found), None)["readout"] == "prefix"


def test_a_comparison_of_another_kind_of_run_is_a_mistake(language, report):
    with pytest.raises(TypeError, match="not of this run"):
        summary(language, report.comparison, None)
    with pytest.raises(TypeError, match="not of this run"):
        page(replace(report_of(language), comparison=report.comparison))


def test_bits_have_four_digits_and_an_error_if_there_is_one():
    assert bits(2.34567) == "2.3457"
    assert bits(0.01, 0.00123, sign="+") == "+0.0100 ± 0.0012"
