"""The configuration of a checkpoint: stored, given or completed, then checked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from oscsim.bridge.datasets import SVA_VOCABULARY
from oscsim.bridge.importers import complete_config
from oscsim.bridge.kuramoto_import import complete_phases, complete_transformer
from oscsim.bridge.weights import unique_keys
from oscsim.errors import CheckpointError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import FAMILIES, ModelConfig
from oscsim.typing import FloatArray

CONFIG = "config.json"


def given_fields(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fields a caller gave, lists of words as tuples."""
    if not isinstance(config, Mapping | None):
        raise CheckpointError(f"config must map fields to values, got {config!r:.60}")
    given = dict(config or {})
    if isinstance(given.get("vocabulary"), list):
        given["vocabulary"] = tuple(given["vocabulary"])
    return given


def known_family(family: Any, source: Path) -> str:
    """Return the family that a file names, one of `FAMILIES`."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise CheckpointError(
            f"{source}: unknown family {family!r:.60}: one of {', '.join(FAMILIES)}"
        )
    return family


def require_fields(given: Mapping[str, Any], family: str) -> None:
    """Refuse fields that a family does not have."""
    fields = FAMILIES[family].model_fields
    unknown = sorted(str(key) for key in given if key not in fields)
    if unknown:
        raise CheckpointError(
            f"config has no field {', '.join(unknown)}: the fields of a {family} "
            f"model are {', '.join(fields)}"
        )


def completed(
    family: str,
    tensors: Mapping[str, FloatArray],
    given: Mapping[str, Any],
    source: Path,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration of a bare file and what had to be assumed."""
    if family == "kuramoto":
        return complete_phases(tensors, given)
    if family == "transformer":
        return complete_transformer(tensors, given)
    return complete_config(tensors, given, source)


def stored_config(folder: Path) -> dict[str, Any]:
    """Return the content of a folder's ``config.json``."""
    path = folder / CONFIG
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


def overridden(
    stored: dict[str, Any], given: dict[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields of both, and what was overridden."""
    changed = [key for key in given if key in stored and stored[key] != given[key]]
    return stored | given, tuple(
        f"{key} = {given[key]!r:.60} was given, the file says {stored[key]!r:.60}"
        for key in changed
    )


def with_vocabulary(fields: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Add what ``task="sva"`` stands for where the caller asked for it."""
    if given.get("task") == "sva" and fields.get("vocabulary") is None:
        return fields | {"vocabulary": SVA_VOCABULARY}
    return fields


def validated(family: str, fields: dict[str, Any], source: Path) -> ModelConfig:
    """Return the checked configuration of a family."""
    try:
        config: ModelConfig = FAMILIES[family].model_validate(fields)
    except ValidationError as error:
        raise CheckpointError(f"{source}: {sentence_of(error)}") from None
    if isinstance(config, FixedQueryConfig):
        _require_consistent(config, source)
    return config


def _require_consistent(config: FixedQueryConfig, source: Path) -> None:
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


def sentence_of(error: ValidationError) -> str:
    """Return the findings of pydantic as one sentence, fields by name."""
    findings = []
    for finding in error.errors():
        field = ".".join(str(part) for part in finding["loc"])
        message = finding["msg"].removeprefix("Value error, ")
        got = f", got {finding['input']!r:.60}" if finding["type"] != "missing" else ""
        findings.append(f"{field}: {message}{got}" if field else message)
    return "; ".join(findings)
