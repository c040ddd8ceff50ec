"""A trained model read from a file: configuration and weights, both checked."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from oscsim.bridge.datasets import SVA_VOCABULARY
from oscsim.bridge.importers import complete_config, refuse_other_models
from oscsim.bridge.weights import read_weights, unique_keys
from oscsim.errors import CheckpointError
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from oscsim.substrate.device import Device, Rung

_CONFIG, _WEIGHTS = "config.json", "model.safetensors"
_FIELDS = tuple(FixedQueryConfig.model_fields)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model whose every tensor is present, of the right shape and finite.

    Attributes
    ----------
    config : FixedQueryConfig
        Sizes and switches.
    weights : dict of str to FloatArray
        Tensors named as in `tensor_shapes`; all float32, or all float64.
    name : str
        Folder name, or file name without suffix.
    path : Path
        What was asked for.
    sha256 : str
        Digest of the weight file and of the configuration in force.
    warnings : tuple of str
        What the file does not say and was assumed, or was overridden.
    ignored : tuple of str
        Entries of the file that the model does not need.
    given : dict
        Fields of the configuration that the caller gave.
    weights_sha256 : str
        Digest of the weight file alone.
    """

    config: FixedQueryConfig
    weights: dict[str, FloatArray]
    name: str
    path: Path
    sha256: str
    warnings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    weights_sha256: str = ""

    def logits(
        self,
        inputs: IntArray | FloatArray,
        rung: "Rung" = "digital",
        device: "Device | str | Path | None" = None,
        seed: int = 0,
        positions: IntArray | None = None,
    ) -> FloatArray:
        """Return raw outputs; see `oscsim.bridge.outputs.logits`."""
        from oscsim.bridge.outputs import logits  # noqa: PLC0415

        return logits(
            self, inputs, rung=rung, device=device, seed=seed, positions=positions
        )

    def describe(self) -> dict[str, Any]:
        """Return what the checkpoint is, ready for JSON.

        The vocabulary is given by its size; ``anchor_norms`` is the smallest
        and largest length of an anchor, 1 only before training.
        """
        config = self.config.model_dump(mode="json")
        words = config.pop("vocabulary")
        anchors = [w for name, w in self.weights.items() if name.endswith("anchors")]
        norms = [float(n) for w in anchors for n in np.linalg.norm(w, axis=-1).flat]
        return {
            "name": self.name,
            "path": str(self.path),
            "weights_sha256": self.weights_sha256,
            "identity_sha256": self.sha256,
            "config": config,
            "vocabulary_size": None if words is None else len(words),
            "dtype": str(next(iter(self.weights.values())).dtype),
            "n_values": sum(w.size for w in self.weights.values()),
            "anchor_norms": [min(norms), max(norms)] if norms else None,
            "tensors": {name: list(w.shape) for name, w in self.weights.items()},
            "warnings": list(self.warnings),
            "ignored": list(self.ignored),
        }


def load_checkpoint(
    path: str | Path, config: Mapping[str, Any] | None = None
) -> Checkpoint:
    """Read a fixed-query checkpoint, oscillator or softmax twin.

    Parameters
    ----------
    path : str or Path
        A folder with ``config.json`` and ``model.safetensors`` (or the latter
        where the former is beside it), or a bare ``.safetensors``, ``.pt`` or
        ``.pth`` file (the last two need torch).
    config : mapping, optional
        Fields of `FixedQueryConfig` that add to or override what the file
        says. A bare file gives its sizes; the published defaults fill the rest
        and each one used is listed in ``warnings``. The softmax twin needs
        ``n_heads``. ``task="sva"`` brings the published vocabulary.

    Returns
    -------
    Checkpoint
        Half-precision weights are upcast to float32 once.

    Raises
    ------
    CheckpointError
        If the path is missing or of another kind; if the file is damaged or
        holds code; if tensors are missing, unexpected, of a wrong shape or
        not finite; if a field of the configuration is unknown, wrong or
        cannot be told.

    Notes
    -----
    ``mask_readout`` defaults to False for a bare file, as the models of [1]_
    were trained.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """
    if not isinstance(path, str | Path):
        raise CheckpointError(f"a checkpoint is given by its path, got {path!r:.60}")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise CheckpointError(f"the path {path!r} is not valid Unicode") from None
    source, given = Path(path), _given(config)
    folder = _folder_of(source)
    if folder is not None:
        stored = _stored_config(folder)
        file = read_weights(_weights_in(folder))
        refuse_other_models(file.tensors, source)
        fields, warnings = _override(stored, given)
    else:
        file = read_weights(source)
        refuse_other_models(file.tensors, source)
        fields, warnings = complete_config(file.tensors, given, source)
    checked = _validate(_with_vocabulary(fields, given), source)
    _check_tensors(file.tensors, checked, source)
    return Checkpoint(
        config=checked,
        weights={name: file.tensors[name] for name in tensor_shapes(checked)},
        name=source.stem if folder is None else folder.resolve().name,
        path=source,
        weights_sha256=file.sha256,
        sha256=_digest(file.sha256, checked),
        warnings=(*file.notes, *warnings),
        ignored=file.ignored,
        given=given,
    )


def _digest(weights: str, config: FixedQueryConfig) -> str:
    return hashlib.sha256((weights + config.model_dump_json()).encode()).hexdigest()


def _folder_of(source: Path) -> Path | None:
    """Return the checkpoint folder meant by a path, None for a bare file."""
    if source.is_dir():
        return source
    if source.name == _WEIGHTS and (source.parent / _CONFIG).is_file():
        return source.parent
    return None


def _given(config: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(config, Mapping | None):
        raise CheckpointError(f"config must map fields to values, got {config!r:.60}")
    given = dict(config or {})
    unknown = sorted(str(key) for key in given if key not in _FIELDS)
    if unknown:
        raise CheckpointError(
            f"config has no field {', '.join(unknown)}: the fields are "
            f"{', '.join(_FIELDS)}"
        )
    if isinstance(given.get("vocabulary"), list):
        given["vocabulary"] = tuple(given["vocabulary"])
    return given


def _stored_config(folder: Path) -> dict[str, Any]:
    path = folder / _CONFIG
    try:
        stored = json.loads(
            path.read_text(encoding="utf-8-sig"), object_pairs_hook=unique_keys
        )
    except FileNotFoundError:
        raise CheckpointError(
            f"the folder {folder} has no config.json: a checkpoint folder holds "
            "config.json and model.safetensors"
        ) from None
    except (OSError, ValueError, RecursionError):
        raise CheckpointError(f"{path} is not a JSON file") from None
    if not isinstance(stored, dict):
        raise CheckpointError(f"{path} must hold a JSON object")
    if isinstance(stored.get("vocabulary"), list):
        stored["vocabulary"] = tuple(stored["vocabulary"])
    return stored


def _weights_in(folder: Path) -> Path:
    path = folder / _WEIGHTS
    if not path.is_file():
        raise CheckpointError(f"the folder {folder} has no model.safetensors")
    return path


def _override(
    stored: dict[str, Any], given: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields of both, and what was overridden."""
    changed = [key for key in given if key in stored and stored[key] != given[key]]
    return stored | given, tuple(
        f"{key} = {given[key]!r:.60} was given, the file says {stored[key]!r:.60}"
        for key in changed
    )


def _with_vocabulary(fields: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Add what ``task="sva"`` stands for where the caller asked for it."""
    if given.get("task") == "sva" and fields.get("vocabulary") is None:
        return fields | {"vocabulary": SVA_VOCABULARY}
    return fields


def _validate(fields: dict[str, Any], source: Path) -> FixedQueryConfig:
    try:
        config = FixedQueryConfig.model_validate(fields)
    except ValidationError as error:
        raise CheckpointError(f"{source}: {_sentence(error)}") from None
    if config.task == "sva" and config.n_outputs != 1:
        raise CheckpointError(
            f"{source}: task 'sva' reads one output, the head has {config.n_outputs}"
        )
    if config.padding_idx is not None and config.padding_idx >= config.vocab_size:
        raise CheckpointError(
            f"{source}: padding_idx must be below vocab_size = {config.vocab_size}, "
            f"got {config.padding_idx}"
        )
    if config.trained_length is not None and config.trained_length > config.max_len:
        raise CheckpointError(
            f"{source}: trained_length must be at most max_len = {config.max_len}, "
            f"got {config.trained_length}"
        )
    return config


def _sentence(error: ValidationError) -> str:
    """Return the findings of pydantic as one sentence, fields by name."""
    findings = []
    for finding in error.errors():
        field = ".".join(str(part) for part in finding["loc"])
        message = finding["msg"].removeprefix("Value error, ")
        got = f", got {finding['input']!r:.60}" if finding["type"] != "missing" else ""
        findings.append(f"{field}: {message}{got}" if field else message)
    return "; ".join(findings)


def _check_tensors(
    tensors: Mapping[str, FloatArray], config: FixedQueryConfig, source: Path
) -> None:
    shapes = tensor_shapes(config)
    missing = [name for name in shapes if name not in tensors]
    unexpected = [name for name in tensors if name not in shapes]
    if missing or unexpected:
        raise CheckpointError(
            f"{source} does not hold a {config.attention} model of "
            f"{config.n_layers} layers: missing {_listed(missing)}; "
            f"unexpected {_listed(unexpected)}"
        )
    wrong = [
        f"{name} is {tensors[name].shape}, expected {shape}"
        for name, shape in shapes.items()
        if tensors[name].shape != shape
    ]
    if wrong:
        raise CheckpointError(f"{source}: wrong shape: {'; '.join(wrong)}")
    bad = {name: int((~np.isfinite(tensors[name])).sum()) for name in shapes}
    if any(bad.values()):
        listed = _listed(f"{name} ({n} values)" for name, n in bad.items() if n)
        raise CheckpointError(f"{source}: weights are not finite: {listed}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
