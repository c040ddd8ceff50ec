"""Damaged and foreign weight files, made on the fly: one sentence each."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.errors import CheckpointError
from tests.bridge.checkpoints import bare, raw

ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def refused(path: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1234567",
        b"These are weights, I promise.\n" * 5,
        (10**9).to_bytes(8, "little") + b"{}",
        (3).to_bytes(8, "little") + b"{}",
        b"\xff" * 8 + b"{}",
    ],
)
def test_not_a_safetensors_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    refused(path, f"is not a safetensors file, or is cut short: {len(content)} bytes")


def test_a_header_beyond_100_mb_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write((100_000_001).to_bytes(8, "little"))
        file.truncate(100_000_100)
    refused(path, "announce a header of 100000001")


@pytest.mark.parametrize("header", [b"{", b"\xff\xfe", b"[" * 5000, b'{"a":1,"a":1}'])
def test_a_header_that_is_not_json(tmp_path: Path, header: bytes) -> None:
    refused(raw(tmp_path / "m.safetensors", header), "its header is not JSON")


@pytest.mark.parametrize(
    "header", [b"[]", b"3", {"__metadata__": []}, {"__metadata__": {"a": 1}}]
)
def test_a_header_that_is_not_a_map(tmp_path: Path, header) -> None:
    refused(raw(tmp_path / "m.safetensors", header), "does not map names to tensors")


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        ENTRY | {"shape": 2},
        ENTRY | {"shape": [-2]},
        ENTRY | {"shape": [True]},
        ENTRY | {"shape": ["2"]},
        ENTRY | {"data_offsets": [0]},
        ENTRY | {"data_offsets": [0, 8.0]},
        ENTRY | {"data_offsets": [0, 2**63]},
        ENTRY | {"dtype": 32},
    ],
)
def test_a_damaged_entry(tmp_path: Path, entry) -> None:
    path = raw(tmp_path / "m.safetensors", {"w": entry}, bytes(8))
    refused(path, "damaged header entry for 'w'")


def test_a_size_that_does_not_fit_its_shape(tmp_path: Path) -> None:
    path = raw(tmp_path / "m.safetensors", {"w": ENTRY | {"shape": [3]}}, bytes(8))
    refused(path, r"'w' has 8 bytes, but F32 of shape \(3,\) takes 12")


def test_overlapping_tensors(tmp_path: Path) -> None:
    path = raw(tmp_path / "m.safetensors", {"w": ENTRY, "v": ENTRY}, bytes(8))
    refused(path, "damaged safetensors file")


def test_bytes_that_belong_to_no_tensor(tmp_path: Path) -> None:
    path = raw(tmp_path / "m.safetensors", {"w": ENTRY}, bytes(12))
    refused(path, "damaged safetensors file")


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_file_cut_short(tmp_path: Path, kept: float) -> None:
    path = bare(tmp_path / "m.safetensors")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    refused(path, "is cut short")


def test_an_unsupported_dtype(tmp_path: Path) -> None:
    entry = {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}
    path = raw(tmp_path / "m.safetensors", {"w": entry}, bytes(8))
    refused(path, "w is stored as F8_E4M3: float16, bfloat16, float32 or float64")


@pytest.mark.parametrize("name", ["m.bin", "m.npz", "m", "m.json"])
def test_another_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    refused(tmp_path / name, r"a checkpoint is a folder, a \.safetensors, a \.pt or a")


def test_a_missing_file(tmp_path: Path) -> None:
    refused(tmp_path / "osc_s0_ep20.pt", "there is no checkpoint")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint("nul\0byte.safetensors")


def test_a_pt_file_without_torch(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / "m.pt"
    path.write_bytes(b"x")
    refused(path, r"needs torch: pip install oscsim\[torch\]")


@given(st.binary(max_size=300))
def test_random_bytes_give_only_checkpoint_errors(tmp_path_factory, data) -> None:
    path = tmp_path_factory.getbasetemp() / "random.safetensors"
    path.write_bytes(data)
    with pytest.raises(CheckpointError):
        load_checkpoint(path)


@given(st.binary(max_size=100), st.binary(max_size=40))
def test_random_headers_give_only_checkpoint_errors(
    tmp_path_factory, header: bytes, body: bytes
) -> None:
    path = raw(tmp_path_factory.getbasetemp() / "header.safetensors", header, body)
    with pytest.raises(CheckpointError):
        load_checkpoint(path)


SIZE = st.integers(min_value=-2, max_value=40) | st.integers() | st.none()
ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(
            ["F32", "F64", "F16", "BF16", "I64", "BOOL", "F4", "X"]
        ),
        "shape": st.lists(SIZE, max_size=4),
        "data_offsets": st.lists(SIZE, min_size=1, max_size=3),
    }
)


@given(
    st.dictionaries(st.text(max_size=5), ENTRIES, max_size=3), st.binary(max_size=64)
)
def test_plausible_headers_give_only_checkpoint_errors(
    tmp_path_factory, header: dict, body: bytes
) -> None:
    path = raw(tmp_path_factory.getbasetemp() / "entry.safetensors", header, body)
    with pytest.raises(CheckpointError):
        load_checkpoint(path)


@given(st.data())
def test_one_changed_byte_gives_weights_or_a_checkpoint_error(
    tmp_path_factory, data
) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = bytearray(bare(folder / "whole.safetensors").read_bytes())
    header = int.from_bytes(whole[:8], "little")
    json.loads(whole[8 : 8 + header])
    index = data.draw(st.integers(0, 8 + header))
    whole[index] = data.draw(st.integers(0, 255))
    path = folder / "changed.safetensors"
    path.write_bytes(whole)
    try:
        loaded = load_checkpoint(path)
    except CheckpointError:
        return
    assert loaded.config.d_model == 8
