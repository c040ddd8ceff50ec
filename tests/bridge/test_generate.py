"""Generated text: the same draws, a sliding window, bytes that are not UTF-8."""

import numpy as np
import pytest

from oscsim.bridge.generate import generate, shown
from oscsim.errors import DataError, SpecError
from tests.bridge.language import CONFIGS, CONTEXT, language_model


def test_the_ideal_chip_writes_what_the_digital_model_writes():
    found = generate(language_model(), "the cat", rung="ideal", n_bytes=30)
    assert found.chip == found.digital
    assert found.equal_bytes == len(found.digital) == 30


def test_a_chip_parts_from_it_somewhere():
    found = generate(language_model(), "the cat", n_bytes=60, seed=3)
    assert found.chip != found.digital
    n = found.equal_bytes
    assert found.chip[:n] == found.digital[:n]
    assert found.chip[n] != found.digital[n]


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_family_writes_digitally(kind):
    found = generate(language_model(kind), "a", rung="digital", n_bytes=5)
    assert len(found.digital) == 5
    assert found.chip is None
    assert found.equal_bytes is None


def test_temperature_0_takes_the_most_probable_byte_of_the_sliding_window():
    model = language_model()
    start = b"a prompt longer than the window"
    found = generate(model, start, rung="digital", n_bytes=4, temperature=0)
    text = start
    for _ in range(4):
        ids = np.frombuffer(text[-CONTEXT:], np.uint8).astype(int)[None]
        text += bytes([int(model.logits(ids)[0, -1].argmax())])
    assert found.digital == text[len(start) :]


def test_a_high_temperature_draws_bytes_evenly_and_a_low_one_the_best():
    model = language_model()
    how = {"rung": "digital", "n_bytes": 400}
    hot = generate(model, "a", temperature=1e6, **how).digital
    u = np.random.default_rng(0).random(400)
    assert np.abs(np.frombuffer(hot, np.uint8) - np.floor(256 * u)).max() <= 1
    cold = generate(model, "a", temperature=1e-9, **how).digital
    assert cold == generate(model, "a", temperature=0, **how).digital


def test_seeds_repeat_and_differ():
    one, same, other = (
        generate(language_model(), "a", n_bytes=12, seed=s) for s in (1, 1, 2)
    )
    assert (one.digital, one.chip) == (same.digital, same.chip)
    assert one.digital != other.digital


def test_progress_counts_both_texts():
    calls = []
    generate(language_model(), "a", n_bytes=2, progress=lambda *c: calls.append(c))
    assert calls[0] == (0, 4)
    assert calls[-1] == (4, 4)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"prompt": ""}, "the prompt is empty"),
        ({"prompt": b"\xff"}, "the prompt is not UTF-8: .*can't decode byte 0xff"),
        ({"prompt": "\udcff"}, "the prompt is not UTF-8: .*surrogates not allowed"),
        ({"n_bytes": 0}, r"bytes must be a whole number in 1..100000, got 0"),
        ({"temperature": -1.0}, "temperature must be at least 0, got -1"),
        ({"temperature": np.nan}, "temperature must be finite"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"rung": "spice"}, "unknown rung 'spice'"),
    ],
)
def test_wrong_requests(how, message):
    with pytest.raises(SpecError, match=message):
        generate(language_model(), **({"prompt": "a"} | how))


def test_models_that_cannot():
    with pytest.raises(DataError, match="a vocabulary of 169 tokens"):
        generate(language_model(vocab_size=169, n_outputs=169), "a")
    with pytest.raises(SpecError, match="only the rung digital can run it"):
        generate(language_model("softmax"), "a")


def test_what_is_not_text_is_shown_as_escapes():
    assert shown("é\n\tx".encode()) == "é\n\tx"
    assert shown(b"a\xffb\xc3") == r"a\xffb\xc3"
    assert shown(b"\x1b[31m\x00\r") == r"\x1b[31m\x00\r"
