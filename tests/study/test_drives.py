"""Numbers of every drive, in closed form and by random errors."""

from dataclasses import replace

import numpy as np
import pytest

from oscsim.bridge.text_data import read_bytes
from oscsim.errors import SpecError
from oscsim.study.drives import (
    alignment,
    drive_length,
    effective_anchors,
    medians_by_position,
    mismatch_angle,
    over_oscillators,
)
from tests.bridge.language import CONTEXT, language_model, prose


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Nine windows: a block of eight, and one that is filled up."""
    path = prose(tmp_path_factory.mktemp("text") / "prose", CONTEXT * 9 + 1)
    return read_bytes(path, CONTEXT, 9)


def test_the_angle_of_equal_couplings_falls_as_one_over_the_root_of_n():
    """Anchors at +-0.3 rad about one axis: tan(0.3) / sqrt(n)."""
    for n in (2, 8, 32):
        angle = np.where(np.arange(n) % 2 == 0, 0.3, -0.3)
        anchors = np.stack([np.cos(angle), np.sin(angle)], axis=-1)[None]
        found = mismatch_angle(np.full((1, 1, 1, n), 2.0), anchors)
        assert found[0, 0, 0] == pytest.approx(np.tan(0.3) / np.sqrt(n), rel=1e-12)


def test_the_angle_is_that_of_small_random_errors():
    """Root mean square over 4,000 draws, standard error 1 %; d_osc 5, norms not 1."""
    rng = np.random.default_rng(0)
    coupling, anchors = rng.random((1, 1, 1, 9)), rng.normal(size=(1, 9, 5))
    s = 1e-4
    wrong = coupling * np.exp(s * rng.normal(size=(4000, 1, 1, 9)))
    h, turned = (np.matmul(w, anchors)[:, 0, 0] for w in (coupling, wrong))
    h = h / np.linalg.norm(h)
    across = turned - (turned @ h[0])[:, None] * h
    angle = np.linalg.norm(across, axis=-1) / np.linalg.norm(turned, axis=-1)
    rms = np.sqrt(np.mean(angle**2)) / s
    assert mismatch_angle(coupling, anchors)[0, 0, 0] == pytest.approx(rms, rel=0.05)


def test_sharing_and_cancelling_have_their_limits():
    """Two anchors at an angle 2 a: cos(a) of their sum is left."""
    anchors = np.array([[[np.cos(0.4), np.sin(0.4)], [np.cos(0.4), -np.sin(0.4)]]])
    equal, alone = np.full((1, 1, 1, 2), 2.0), np.array([[[[2.0, 0.0]]]])
    assert alignment(equal, anchors)[0, 0, 0] == pytest.approx(np.cos(0.4))
    assert alignment(alone, anchors)[0, 0, 0] == pytest.approx(1.0)
    assert effective_anchors(equal, anchors)[0, 0, 0] == pytest.approx(2.0)
    assert effective_anchors(alone, anchors)[0, 0, 0] == pytest.approx(1.0)
    uneven = np.array([[[[3.0, 1.0]]]])
    assert effective_anchors(uneven, anchors)[0, 0, 0] == pytest.approx(1.6)
    assert effective_anchors(equal, anchors * [[[1.0], [3.0]]])[
        0, 0, 0
    ] == pytest.approx(1.6), "long anchors count more"


def test_every_oscillator_is_measured_once_in_its_place(text):
    model = language_model()
    layers = over_oscillators(model, text, drive_length)
    assert [layer.shape for layer in layers] == [(9, 2, CONTEXT)] * 2
    reverse = text.ids[::-1]
    other = over_oscillators(
        model,
        replace(text, ids=reverse, targets=text.targets[::-1]),
        drive_length,
        n_threads=1,
    )
    for one, two in zip(layers, other, strict=True):
        np.testing.assert_allclose(one, two[::-1], rtol=1e-9)
    edges = (0, 3, CONTEXT)
    medians = medians_by_position(model, text, drive_length, edges)
    assert medians[1, 1] == np.median(layers[1][..., 3:])
    assert medians.shape == (2, 2)


def test_another_family_is_refused(text):
    with pytest.raises(SpecError, match="is a kuramoto model"):
        over_oscillators(language_model("kuramoto"), text, drive_length)
