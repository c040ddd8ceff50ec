"""Windows of files of bytes: checksums, enwik8, refusals."""

import hashlib
import re

import numpy as np
import pytest

from oscsim.bridge.byte_text import SPLITS
from oscsim.bridge.text_data import (
    bundled_text,
    calibration_bytes,
    read_bytes,
)
from oscsim.errors import DataError, SpecError
from tests.bridge.language import prose

SHA256 = {
    "train": "4fb5efa9f35df431737731bf3c8f38a467b69731940ff82a4ee0e218aae58834",
    "validation": "95f9e74ad2290a55df39f3e1d0c57839032e8f9f270df3162219113c4376c2b7",
    "test": "f3353c365742724f3e818daa5003378c58618b996b816e16d75f8a95bd1d1331",
}


@pytest.mark.parametrize("split", SHA256)
def test_bundled_slices_are_those_of_the_notice(split):
    folder = bundled_text().parent
    found = hashlib.sha256((folder / f"{split}.bin").read_bytes()).hexdigest()
    assert found == SHA256[split]
    assert found in (folder / "NOTICE.md").read_text()


def test_windows_begin_at_the_first_byte_and_the_checksum_is_of_all(tmp_path):
    path = prose(tmp_path / "text", 200)
    data = path.read_bytes()
    found = read_bytes(path, 12, 3)
    assert found.ids.astype(np.uint8).tobytes() == data[:36]
    assert found.targets.astype(np.uint8).tobytes() == data[1:37]
    assert found.md5 == hashlib.md5(data).hexdigest()
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert (len(found), found.context, found.n_bytes, found.first) == (3, 12, 200, 0)
    assert found.label == f"{path}, bytes 0 to 36 of 200, MD5 {found.md5}"


def test_without_a_number_64_windows_or_as_many_as_there_are(tmp_path):
    assert len(read_bytes(prose(tmp_path / "long", 2000), 12)) == 64
    assert len(read_bytes(prose(tmp_path / "short", 121), 12)) == 10


@pytest.mark.parametrize(
    ("n", "windows", "message"),
    [
        (12, None, "has 12 bytes: one window of 12 and the byte after it need 13"),
        (0, None, "has 0 bytes"),
        (25, 3, "holds 2 windows of 12 bytes, 3 were asked for"),
    ],
)
def test_too_little_text(tmp_path, n, windows, message):
    with pytest.raises(DataError, match=message):
        read_bytes(prose(tmp_path / "text", n), 12, windows)


@pytest.mark.parametrize("windows", [0, -1, 1.0, True])
def test_a_wrong_number_of_windows(tmp_path, windows):
    with pytest.raises(SpecError, match="windows must be a whole number >= 1"):
        read_bytes(prose(tmp_path / "text"), 12, windows)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="there is no data file"):
        read_bytes(tmp_path / "no", 12)
    with pytest.raises(DataError, match="is not a regular file"):
        read_bytes(tmp_path, 12)


@pytest.mark.parametrize("name", ["enwik8", "enwik8.gz", "ENWIK8.txt"])
def test_a_file_called_enwik8_has_its_length(tmp_path, name):
    path = prose(tmp_path / name, 300)
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    message = f"is not enwik8: it has 300 bytes (MD5 {md5}), enwik8 has 100,000,000"
    with pytest.raises(DataError, match=re.escape(message)):
        read_bytes(path, 12)


def test_a_file_as_long_as_enwik8_has_its_checksum(tmp_path, monkeypatch):
    monkeypatch.setattr("oscsim.bridge.text_data.ENWIK8_LENGTH", 300)
    path = prose(tmp_path / "other", 300)
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    with pytest.raises(DataError, match=f"its MD5 is {md5}, enwik8's is a1fa5ffd"):
        read_bytes(path, 12)


def test_the_complete_enwik8_is_read_from_its_validation_split(tmp_path, monkeypatch):
    path = prose(tmp_path / "mine", 300)
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    monkeypatch.setattr("oscsim.bridge.text_data.ENWIK8_LENGTH", 300)
    monkeypatch.setattr("oscsim.bridge.text_data.ENWIK8_MD5", md5)
    monkeypatch.setitem(SPLITS, "validation", slice(200, 250))
    found = read_bytes(path, 12, 2)
    assert found.first == 200
    assert found.ids.astype(np.uint8).tobytes() == path.read_bytes()[200:224]


def test_without_bundled_text_it_must_be_given(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "oscsim.bridge.text_data.data_folder", lambda _: tmp_path / "none"
    )
    assert calibration_bytes(10) is None
    with pytest.raises(DataError, match="no text is bundled here"):
        bundled_text()
