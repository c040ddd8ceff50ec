"""Tensors out of a weight file, by name, checked before anything is trusted."""

import hashlib
import importlib
import io
import json
import pickle
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import safetensors

from oscsim.errors import CheckpointError
from oscsim.typing import FloatArray

_MAX_HEADER = 100_000_000
_ITEM_SIZE = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_WRAPPERS = ("module", "ema_model", "online_model")
_STATE_DICTS = ("state_dict", "model_state_dict", "model", "ema")
_HARMLESS = re.compile(
    r"(^|\.)(_?causal_mask|position_ids|initted|step|n_averaged|num_batches_tracked)$"
)


@dataclass(frozen=True)
class WeightFile:
    """What a weight file holds.

    Attributes
    ----------
    tensors : dict of str to FloatArray
        By name, wrappers stripped; all float32, or all float64 if any is.
    ignored : tuple of str
        Entries that no model needs, such as stored masks.
    notes : tuple of str
        What had to be chosen while reading.
    sha256 : str
        Digest of the file's bytes.
    """

    tensors: dict[str, FloatArray]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
    sha256: str


def read_weights(path: Path) -> WeightFile:
    """Read a ``.safetensors``, ``.pt`` or ``.pth`` file.

    Parameters
    ----------
    path : Path
        A ``.pt`` or ``.pth`` file needs torch and is read with
        ``weights_only=True``: code in a pickle is refused, never run.

    Returns
    -------
    WeightFile
        Half-precision tensors are upcast to float32, which is exact.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, of another kind, holds code, needs a
        library that is missing, or if two of its names are one after the
        wrappers of `torch.compile`, parallel training and averaging are
        stripped.
    """
    readers = {".safetensors": _safetensors, ".pt": _torch, ".pth": _torch}
    if path.exists() and not (path.is_file() and path.suffix in readers):
        raise CheckpointError(
            f"{path}: a checkpoint is a folder, a .safetensors, a .pt or a .pth file"
        )
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    raw, notes = readers[path.suffix](data, path)
    names = _strip_all(sorted(raw), path)
    ignored = tuple(sorted(name for name in names if _HARMLESS.search(name)))
    kept = {
        name: _as_float(raw[stored], name, path)
        for name, stored in names.items()
        if name not in ignored
    }
    double = any(tensor.dtype == np.float64 for tensor in kept.values())
    dtype = np.float64 if double else np.float32
    return WeightFile(
        {name: tensor.astype(dtype, copy=False) for name, tensor in kept.items()},
        ignored,
        notes,
        hashlib.sha256(data).hexdigest(),
    )


def strip_wrappers(name: str) -> str:
    """Return a tensor's name without what training wrappers added to it.

    ``module.``, ``ema_model.`` and ``online_model.`` are stripped from the
    front; ``_orig_mod.`` anywhere, because compiling one submodule puts it in
    the middle.
    """
    parts = [part for part in name.split(".") if part != "_orig_mod"]
    while len(parts) > 1 and parts[0] in _WRAPPERS:
        parts = parts[1:]
    return ".".join(parts)


def _strip_all(names: Iterable[str], path: Path) -> dict[str, str]:
    stored: dict[str, str] = {}
    for name in names:
        short = strip_wrappers(name)
        if short in stored:
            raise CheckpointError(
                f"{path}: {stored[short]!r} and {name!r} are both {short!r} once "
                "wrapper prefixes are stripped: keep one of them"
            )
        stored[short] = name
    return stored


def _as_float(tensor: Any, name: str, path: Path) -> FloatArray:
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind != "f":
        kind = getattr(tensor, "dtype", tensor)
        raise CheckpointError(
            f"{path}: {name} is stored as {kind}: float16, bfloat16, float32 or "
            "float64 is needed"
        )
    return tensor.astype(np.float32) if tensor.dtype == np.float16 else tensor


Raw = tuple[dict[str, Any], tuple[str, ...]]


def _safetensors(data: bytes, path: Path) -> Raw:
    header = _header(data, path)
    aliases = header.pop("__metadata__", {})
    body = len(data) - 8 - int.from_bytes(data[:8], "little")
    for name, entry in header.items():
        _check_entry(entry, name, body, path)
    parse: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = safetensors.deserialize
    try:
        entries = parse(data)
    except (safetensors.SafetensorError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: damaged safetensors file: {error}") from None
    try:
        tensors = {name: _decode(entry) for name, entry in entries}
    except ValueError as error:
        raise CheckpointError(f"{path}: damaged safetensors file: {error}") from None
    for name, other in aliases.items():
        if name not in tensors and other in tensors:
            tensors[name] = tensors[other]
    return tensors, ()


def _header(data: bytes, path: Path) -> dict[str, Any]:
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(len(data) - 8, _MAX_HEADER):
        raise CheckpointError(
            f"{path} is not a safetensors file, or is cut short: {len(data)} bytes, "
            f"of which the first 8 announce a header of {size}"
        )
    try:
        header = json.loads(data[8 : 8 + size], object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        raise CheckpointError(
            f"{path} is not a safetensors file: its header is not JSON"
        ) from None
    metadata = header.get("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not all(
        isinstance(value, str) for value in metadata.values()
    ):
        raise CheckpointError(
            f"{path} is not a safetensors file: its header does not map names to "
            "tensors"
        )
    return dict(header)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object's entries; a key that occurs twice is a ValueError."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name occurs twice")
    return entries


def _check_entry(entry: Any, name: str, body: int, path: Path) -> None:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [begin, end]}:
            numbers = [*shape, begin, end]
        case _:
            numbers, dtype, shape, begin, end = [None], "", [], 0, 0
    if not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise CheckpointError(f"{path}: damaged header entry for {name!r:.60}")
    if end > body:
        raise CheckpointError(
            f"{path} is cut short: {name!r:.60} ends at byte {end} of the data, "
            f"the file has {body}"
        )
    if dtype in _ITEM_SIZE and end - begin != prod(shape) * _ITEM_SIZE[dtype]:
        raise CheckpointError(
            f"{path}: {name!r:.60} has {end - begin} bytes, but {dtype} of shape "
            f"{tuple(shape)} takes {prod(shape) * _ITEM_SIZE[dtype]}"
        )


def _decode(entry: Mapping[str, Any]) -> Any:
    """Return an array, or the name of a dtype that is not a plain float."""
    if entry["dtype"] not in _ITEM_SIZE:
        return entry["dtype"]
    if entry["dtype"] == "BF16":
        upper_half = np.frombuffer(entry["data"], "<u2").astype(np.uint32) << 16
        return upper_half.view(np.float32).reshape(entry["shape"])
    dtype = f"<f{_ITEM_SIZE[entry['dtype']]}"
    return np.frombuffer(entry["data"], dtype).reshape(entry["shape"]).copy()


def _torch(data: bytes, path: Path) -> Raw:
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise CheckpointError(
            f"{path}: reading a {path.suffix} file needs torch: "
            "pip install oscsim[torch], or convert the file to .safetensors"
        ) from None
    if zipfile.is_zipfile(io.BytesIO(data)):
        _require_whole_zip(data, path)
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(_refusal(data, path, str(error))) from None
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise CheckpointError(
            f"{path} is not a PyTorch file, or is damaged: {reason}"
        ) from None
    try:
        state, notes = _state_dict(content, path)
        return {name: _from_torch(torch, v) for name, v in state.items()}, notes
    except (TypeError, RuntimeError, RecursionError, ValueError, MemoryError) as error:
        if isinstance(error, CheckpointError):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise CheckpointError(
            f"{path} holds what is not a plain tensor: {reason}"
        ) from None


def _require_whole_zip(data: bytes, path: Path) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            bad = archive.testzip()
    except Exception:
        bad = "its directory"
    if bad is not None:
        raise CheckpointError(f"{path} is damaged: {bad} fails its checksum")


def _refusal(data: bytes, path: Path, reason: str) -> str:
    name = re.search(r"GLOBAL ([\w.]+)|global[: ]+[`']?([\w.]+\.[\w.]+)", reason)
    if name is None and not zipfile.is_zipfile(io.BytesIO(data)):
        return f"{path} is not a PyTorch file"
    what = f" ({name[1] or name[2]})" if name else ""
    return (
        f"{path} is refused: its pickle holds code or objects{what} besides tensors; "
        "nothing was executed: save model.state_dict() alone"
    )


def _state_dict(content: Any, path: Path) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the state dict of a file, and what else could have been read."""
    if not isinstance(content, Mapping):
        raise CheckpointError(
            f"{path} holds a {type(content).__name__}: a state dict is needed"
        )
    found = [key for key in _STATE_DICTS if isinstance(content.get(key), Mapping)]
    if found:
        state, notes = _state_dict(content[found[0]], path)
        others = [f"read {found[0]!r}, not {key!r}" for key in found[1:]]
        return state, (*others, *notes)
    odd = [key for key in content if not isinstance(key, str)]
    if odd or not content:
        raise CheckpointError(f"{path} holds no state dict: names are {odd!r:.60}")
    return content, ()


def _from_torch(torch: Any, value: Any) -> Any:
    """Return an array, or the dtype of what cannot be one."""
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    if value.layout != torch.strided or value.is_meta or value.is_quantized:
        return f"{value.layout} {value.dtype}"
    if value.numel() * value.element_size() > value.untyped_storage().nbytes():
        return f"an expanded view of {value.dtype}"
    if value.dtype in (torch.float16, torch.bfloat16):
        value = value.float()
    return value.detach().resolve_conj().resolve_neg().contiguous().numpy().copy()
