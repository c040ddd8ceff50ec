"""Reading labelled sentences: what comes out, and every way a file can be wrong."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.bridge.datasets import SVA_VOCABULARY, parse_sva, read_sva
from oscsim.errors import DataError
from oscsim.models.config import FixedQueryConfig

CONFIG = FixedQueryConfig(
    attention="softmax",
    task="sva",
    vocab_size=169,
    d_model=4,
    n_heads=1,
    n_layers=1,
    d_ff=4,
    max_len=12,
    n_outputs=1,
    vocabulary=SVA_VOCABULARY,
)
SHORT: dict[str, Any] = {
    "tokens": ["the", "dog", "runs", "."],
    "label": 1,
    "verb_idx": 2,
    "distractor_agrees": None,
}
LONG: dict[str, Any] = {
    "tokens": ["the", "dog", "near", "the", "cats", "run", "."],
    "label": 0,
    "verb_idx": 5,
    "distractor_agrees": False,
}


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(r) + "\n" for r in records).encode()


def parse(*records: Any, config: FixedQueryConfig = CONFIG):
    return parse_sva(lines(*records), config, source="f.jsonl")


def test_ids_are_bos_words_eos_padding() -> None:
    data = parse(SHORT, LONG)
    word = {w: i for i, w in enumerate(SVA_VOCABULARY)}
    assert data.ids.dtype == np.int32
    assert data.ids.tolist() == [
        [1, word["the"], word["dog"], word["runs"], word["."], 2, 0, 0, 0],
        [1, *(word[w] for w in LONG["tokens"]), 2],
    ]
    assert data.lengths.tolist() == [6, 9]
    assert data.labels.tolist() == [1, 0]
    assert data.hard.tolist() == [False, True]
    assert data.words[0] == ("the", "dog", "runs", ".")
    assert len(data) == 2


def test_positions_point_at_the_verb_behind_bos() -> None:
    data = parse(SHORT, LONG)
    read = [SVA_VOCABULARY[i] for i in data.ids[np.arange(2), data.positions]]
    assert read == ["runs", "run"]


def test_padding_is_the_configured_id() -> None:
    config = CONFIG.model_copy(update={"padding_idx": 5})
    assert parse(SHORT, LONG, config=config).ids[0, 6:].tolist() == [5, 5, 5]


def test_bundled_validation_set() -> None:
    path = Path(__file__).parents[2] / "data/datasets/sva/validation.jsonl"
    data = read_sva(path, CONFIG)
    assert data.ids.shape == (4000, 9)
    assert int(data.hard.sum()) == 1224
    assert data.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data.path == str(path)


def test_blank_lines_a_byte_order_mark_and_further_fields_are_fine() -> None:
    text = b"\xef\xbb\xbf" + lines(SHORT | {"note": "x"}) + b"\r\n  \n" + lines(LONG)
    assert len(parse_sva(text, CONFIG, source="f")) == 2


def test_an_unknown_word_counts_only_where_the_file_says_so() -> None:
    data = parse(SHORT | {"tokens": ["the", "<UNK>", "runs", "."]})
    assert data.ids[0, 2] == 3
    with pytest.raises(DataError, match=r"line 1: the token 'dogg' is not in"):
        parse(SHORT | {"tokens": ["the", "dogg", "runs", "."]})


def test_without_a_word_on_the_second_noun_a_sentence_is_not_hard() -> None:
    """Absent and null are the same."""
    absent = {key: value for key, value in LONG.items() if key != "distractor_agrees"}
    data = parse(LONG, absent, absent | {"distractor_agrees": None})
    assert data.hard.tolist() == [True, False, False]
    np.testing.assert_array_equal(data.ids, data.ids[:1].repeat(3, axis=0))


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in SHORT.items() if key != field}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (without("tokens"), "missing tokens$"),
        (without("label"), "missing label$"),
        (without("verb_idx"), "missing verb_idx$"),
        ({"tokens": ["the"]}, "missing label, verb_idx$"),
        (SHORT | {"label": 2}, "label must be 0 or 1, got 2"),
        (SHORT | {"label": True}, "label must be 0 or 1, got True"),
        (SHORT | {"label": "1"}, "label must be 0 or 1, got '1'"),
        (SHORT | {"verb_idx": 4}, r"verb_idx must be 0\.\.3 for 4 tokens, got 4"),
        (SHORT | {"verb_idx": -1}, r"verb_idx must be 0\.\.3 for 4 tokens, got -1"),
        (SHORT | {"verb_idx": 2.0}, r"verb_idx must be 0\.\.3 .*got 2\.0"),
        (SHORT | {"distractor_agrees": 0}, "must be true, false or null, got 0"),
        (SHORT | {"tokens": []}, r"tokens must be a non-empty list, got \[\]"),
        (SHORT | {"tokens": "the dog"}, "tokens must be a non-empty list, got 'the"),
        (SHORT | {"tokens": ["the", 7]}, "the token 7 is not in"),
        (SHORT | {"tokens": ["the", "<PAD>", "."]}, "<PAD> is added on reading"),
        (SHORT | {"tokens": ["the"] * 11}, "do not fit the checkpoint's longest input"),
        ([1, 2], "a JSON object is needed"),
        ("x", "a JSON object is needed"),
    ],
)
def test_a_wrong_record_is_refused_with_its_line(record: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"f.jsonl, line 2: .*{message}"):
        parse(SHORT, record)


@pytest.mark.parametrize("text", [b"{", b"NaN,", b"[" * 5000, b"9" * 5000 + b"x"])
def test_a_line_that_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(DataError, match="f, line 2: not JSON"):
        parse_sva(lines(SHORT) + text, CONFIG, source="f")


def test_text_that_is_not_utf8_is_refused_with_its_line() -> None:
    with pytest.raises(DataError, match="f, line 3: not UTF-8"):
        parse_sva(lines(SHORT, LONG) + b'{"tokens": "\xff"}', CONFIG, source="f")


@pytest.mark.parametrize("text", [b"", b"\n\n", b"  "])
def test_an_empty_file_is_refused(text: bytes) -> None:
    with pytest.raises(DataError, match="f holds no sentences"):
        parse_sva(text, CONFIG, source="f")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no data file .*none\.jsonl"):
        read_sva(tmp_path / "none.jsonl", CONFIG)
    with pytest.raises(DataError, match="is a folder: give a JSON-lines file"):
        read_sva(tmp_path, CONFIG)
    with pytest.raises(DataError, match="cannot be read"):
        read_sva("nul\0byte", CONFIG)


def test_a_checkpoint_that_cannot_name_words_is_refused() -> None:
    with pytest.raises(DataError, match="has no vocabulary"):
        parse(SHORT, config=CONFIG.model_copy(update={"vocabulary": None}))
    words = tuple(f"w{i}" for i in range(169))
    with pytest.raises(DataError, match="vocabulary has no <BOS>"):
        parse(SHORT, config=CONFIG.model_copy(update={"vocabulary": words}))


def test_two_lengths_without_padding_are_refused() -> None:
    config = CONFIG.model_copy(update={"padding_idx": None})
    assert parse(SHORT, SHORT, config=config).ids.shape == (2, 6)
    with pytest.raises(DataError, match="6 to 9 ids, but the checkpoint has no padd"):
        parse(SHORT, LONG, config=config)


@given(st.binary(max_size=200))
def test_no_bytes_give_anything_but_a_data_error(data: bytes) -> None:
    with pytest.raises(DataError):
        parse_sva(data, CONFIG, source="f")


@given(
    st.dictionaries(
        st.sampled_from(sorted(SHORT)),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        min_size=1,
    )
)
def test_no_values_give_anything_but_rows_or_a_data_error(changes) -> None:
    try:
        data = parse(SHORT | changes)
    except DataError:
        return
    assert len(data) == 1
