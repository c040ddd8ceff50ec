"""A trained model read from a file: configuration and weights, both checked."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oscsim.bridge.checkpoint_config import (
    CONFIG,
    completed,
    given_fields,
    known_family,
    overridden,
    require_fields,
    stored_config,
    validated,
    with_vocabulary,
)
from oscsim.bridge.importers import refuse_other_models
from oscsim.bridge.kuramoto_import import family_of
from oscsim.bridge.weights import read_weights
from oscsim.errors import CheckpointError, SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import ModelConfig, shapes_of
from oscsim.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from oscsim.substrate.device import Device, Rung

_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model whose every tensor is present, of the right shape and finite.

    Attributes
    ----------
    config : FixedQueryConfig, KuramotoConfig or TransformerConfig
        Sizes and switches; ``config.family`` says of which model.
    weights : dict of str to FloatArray
        Tensors named as in `oscsim.models.families.shapes_of`; all float32, or
        all float64.
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

    config: ModelConfig
    weights: dict[str, FloatArray]
    name: str
    path: Path
    sha256: str
    warnings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    weights_sha256: str = ""

    @property
    def fixed_query(self) -> FixedQueryConfig:
        """The configuration of a fixed-query model.

        Raises
        ------
        SpecError
            If the checkpoint is of another family.
        """
        if not isinstance(self.config, FixedQueryConfig):
            raise SpecError(
                f"{self.name} is a {self.config.family} model: a fixed-query model is "
                "needed here"
            )
        return self.config

    @property
    def d_osc(self) -> int | None:
        """Components of an oscillator of a fixed-query model, None for others."""
        return getattr(self.config, "d_osc", None)

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
        words = config.pop("vocabulary", None)
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
    """Read a checkpoint: fixed-query, Kuramoto attention, or a baseline.

    Parameters
    ----------
    path : str or Path
        A folder with ``config.json`` and ``model.safetensors`` (or the latter
        where the former is beside it), or a bare ``.safetensors``, ``.pt`` or
        ``.pth`` file (the last two need torch).
    config : mapping, optional
        Fields of the family's configuration that add to or override what the
        file says; ``family`` in ``config.json`` decides which it is, of a bare
        file the names of its tensors. A bare file gives its sizes; the published
        defaults fill the rest and each one used is listed in ``warnings``. The
        softmax twin needs ``n_heads``. ``task="sva"`` brings the published
        vocabulary.

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
    source, given = Path(path), given_fields(config)
    folder = _folder_of(source)
    if folder is not None:
        stored = stored_config(folder)
        family = known_family(stored.get("family", "fixed-query"), source)
        require_fields(given, family)
        file = read_weights(_weights_in(folder))
        refuse_other_models(file.tensors, source)
        fields, warnings = overridden(stored, given)
    else:
        file = read_weights(source)
        refuse_other_models(file.tensors, source)
        family = family_of(file.tensors)
        require_fields(given, family)
        fields, warnings = completed(family, file.tensors, given, source)
    checked = validated(family, with_vocabulary(fields, given), source)
    _check_tensors(file.tensors, checked, source)
    return Checkpoint(
        config=checked,
        weights={name: file.tensors[name] for name in shapes_of(checked)},
        name=source.stem if folder is None else folder.resolve().name,
        path=source,
        weights_sha256=file.sha256,
        sha256=_digest(file.sha256, checked),
        warnings=(*file.notes, *warnings),
        ignored=file.ignored,
        given=given,
    )


def _digest(weights: str, config: ModelConfig) -> str:
    return hashlib.sha256((weights + config.model_dump_json()).encode()).hexdigest()


def _folder_of(source: Path) -> Path | None:
    """Return the checkpoint folder meant by a path, None for a bare file."""
    if source.is_dir():
        return source
    if source.name == _WEIGHTS and (source.parent / CONFIG).is_file():
        return source.parent
    return None


def _weights_in(folder: Path) -> Path:
    path = folder / _WEIGHTS
    if not path.is_file():
        raise CheckpointError(f"the folder {folder} has no model.safetensors")
    return path


def _check_tensors(
    tensors: Mapping[str, FloatArray], config: ModelConfig, source: Path
) -> None:
    shapes = shapes_of(config)
    missing = [name for name in shapes if name not in tensors]
    unexpected = [name for name in tensors if name not in shapes]
    if missing or unexpected:
        kind = getattr(config, "attention", config.family)
        raise CheckpointError(
            f"{source} does not hold a {kind} model of "
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
