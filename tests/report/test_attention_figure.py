"""Attention maps are drawn as they are, on one scale."""

import numpy as np
import pytest

from oscsim.bridge.maps import AttentionMaps
from oscsim.report.figures import attention_figure


def images(figure):
    return [ax.images[0] for ax in figure.axes if ax.images]


def test_panels_hold_digital_chip_and_difference(report):
    maps = report.maps
    digital, chip, gap = images(attention_figure(maps))
    np.testing.assert_array_equal(digital.get_array(), maps.digital[0, 0])
    np.testing.assert_array_equal(chip.get_array(), maps.chip[0, 0])
    np.testing.assert_allclose(gap.get_array(), (maps.chip - maps.digital)[0, 0])
    assert digital.get_clim() == chip.get_clim()
    assert digital.get_clim()[0] == 0
    assert np.abs(maps.chip - maps.digital).max() < 0.25
    assert gap.get_clim() == (-0.25, 0.25)


def test_ticks_are_the_words(report):
    ax = attention_figure(report.maps).axes[0]
    words = list(report.maps.words)
    assert [label.get_text() for label in ax.get_xticklabels()] == words
    assert [label.get_text() for label in ax.get_yticklabels()] == words
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("anchor j", "query i")


def test_every_layer_and_head_has_a_row_and_names_are_no_formulas():
    rng = np.random.default_rng(0)
    digital, chip = rng.random((2, 2, 3, 4, 4))
    maps = AttentionMaps(("$a", "b$", "<c>", "&"), digital, chip)
    figure = attention_figure(maps)
    figure.draw_without_rendering()
    drawn = images(figure)
    assert len(drawn) == 18
    np.testing.assert_array_equal(drawn[3 * 4].get_array(), digital[1, 1])
    titles = [ax.get_title() for ax in figure.axes if ax.images]
    assert titles[3 * 4] == "digital, layer 1 head 1"


def test_equal_maps_have_an_empty_difference():
    same = np.full((1, 1, 3, 3), 1 / 3)
    figure = attention_figure(AttentionMaps(("a", "b", "c"), same, same))
    figure.draw_without_rendering()
    assert not images(figure)[2].get_array().any()


def test_a_difference_beyond_the_fixed_scale_widens_it_on_both_sides():
    digital, chip = np.zeros((2, 1, 1, 2, 2))
    chip[0, 0, 0, 1] = -0.4
    gap = images(attention_figure(AttentionMaps(("a", "b"), digital, chip)))[2]
    assert gap.get_clim() == (-0.4, 0.4)


@pytest.mark.parametrize(
    ("value", "text", "signed"),
    [
        (0.0, "0", "0"),
        (0.0004, "0", "0"),
        (0.004, "<.005", "<.005"),
        (0.006, ".01", "+.01"),
        (0.17, ".17", "+.17"),
        (1.0, "1.00", "+1.00"),
    ],
)
def test_small_values_are_told_from_none(value, text, signed):
    digital, chip = np.zeros((2, 1, 1, 1, 1))
    chip[...] = value
    figure = attention_figure(AttentionMaps(("a",), digital, chip))
    written = [ax.texts[0].get_text() for ax in figure.axes if ax.images and ax.texts]
    assert written == ["0", text, signed]
