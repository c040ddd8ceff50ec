"""Windows of bytes and the checks of enwik8."""

import numpy as np
import pytest

from oscsim.bridge.byte_text import read_enwik8, windows
from oscsim.errors import DataError


def test_windows_predict_every_byte_but_the_first_once():
    data = np.arange(33, dtype=np.uint8)
    found = windows(data, 8)
    np.testing.assert_array_equal(found.ids.ravel(), np.arange(32))
    np.testing.assert_array_equal(found.targets.ravel(), np.arange(1, 33))
    assert found.ids.shape == (4, 8)


def test_a_remainder_is_left_out():
    assert len(windows(np.zeros(40, np.uint8), 8).ids) == 4
    assert len(windows(np.zeros(9, np.uint8), 8).ids) == 1


def test_too_little_text_is_refused():
    with pytest.raises(DataError, match="give at least 9"):
        windows(np.zeros(8, np.uint8), 8)


def test_a_wrong_enwik8_is_refused_by_length(tmp_path):
    short = tmp_path / "enwik8"
    short.write_bytes(b"abc")
    with pytest.raises(DataError, match="has 3 bytes, enwik8 has 100,000,000"):
        read_enwik8(short, "train")


def test_a_wrong_enwik8_is_refused_by_checksum(tmp_path, monkeypatch):
    monkeypatch.setattr("oscsim.bridge.byte_text.ENWIK8_LENGTH", 3)
    wrong = tmp_path / "enwik8"
    wrong.write_bytes(b"abc")
    with pytest.raises(DataError, match="MD5 is 900150983cd24fb0d6963f7d28e17f72"):
        read_enwik8(wrong, "train")


def test_a_missing_enwik8_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_enwik8(tmp_path / "no", "test")
