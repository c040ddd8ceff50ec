"""What a bare published state dict means: sizes from tensors, the rest assumed."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from oscsim.bridge.datasets import SVA_VOCABULARY
from oscsim.errors import CheckpointError
from oscsim.typing import FloatArray

# Longest published sentence with its two marks: anchors beyond were not trained.
_SVA_LENGTH = 9

_OTHER_MODELS = {
    r"\.attn\.(W_f|W_g|alpha|phi)\b": "the older attention on the circle",
    r"\.attn\.delta$": "relative anchors",
    r"\.attn\.beta$": "a coupling gain for each query",
    r"^pos_emb": "keyword spotting with learned positions",
    r"^dynamics\.": "Un-0",
    r"\.connectivity\.": "AKOrN",
}

_LAYER = re.compile(r"layers\.(\d+)\.")

_SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "vocab_size": ((r"embedding\.weight", 0),),
    "d_model": (
        (r"embedding\.weight", 1),
        (r"proj\.weight", 0),
        (r"norm\.weight", 0),
        (r"head\.weight", 1),
    ),
    "d_ff": (
        (r"layers\.\d+\.ffn\.0\.weight", 0),
        (r"layers\.\d+\.ffn\.0\.bias", 0),
        (r"layers\.\d+\.ffn\.3\.weight", 1),
    ),
    "max_len": ((r"pos_enc\.pe", 1), (r"layers\.\d+\.attn\.anchors", 1)),
    "n_outputs": ((r"head\.weight", 0), (r"head\.bias", 0)),
    "n_heads": ((r"layers\.\d+\.attn\.anchors", 0),),
    "d_osc": ((r"layers\.\d+\.attn\.anchors", 2),),
}


def refuse_other_models(tensors: Iterable[str], source: Path) -> None:
    """Refuse, by its name, a published model that is not of this family.

    Raises
    ------
    CheckpointError
        If a tensor's name belongs to an ablation, an older class or another
        oscillator model.
    """
    for name in tensors:
        for pattern, model in _OTHER_MODELS.items():
            if re.search(pattern, name):
                raise CheckpointError(
                    f"{source} holds {name}, which belongs to {model}: this variant "
                    "is not supported yet"
                )


def complete_config(
    tensors: Mapping[str, FloatArray], given: Mapping[str, Any], source: Path
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration of a state dict that came without one.

    Parameters
    ----------
    tensors : mapping of str to FloatArray
        Names without wrappers.
    given : mapping
        Fields the caller knows; they win.
    source : Path
        Named in messages.

    Returns
    -------
    dict
        Fields of `FixedQueryConfig`. A size whose every tensor is missing is
        1, so that the check of the tensors can list them.
    tuple of str
        One sentence for each field that neither tensors nor caller give.

    Raises
    ------
    CheckpointError
        If nothing in the file looks like this family, or if it is a softmax
        twin and ``n_heads`` is not given.

    Notes
    -----
    Defaults are those of the published models [1]_: p = 1, softplus, padding
    id 0, padded positions read out, causal only where every position predicts
    a word.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """
    layers = {match[1] for name in tensors if (match := _LAYER.match(name))}
    if not layers:
        raise CheckpointError(
            f"{source} is not a fixed-query model: it has no tensors named "
            f"layers.0... among {', '.join(list(tensors)[:8]) or 'none'}"
        )
    has_anchors = any(name.endswith(".attn.anchors") for name in tensors)
    attention = given.get("attention", "oscillator" if has_anchors else "softmax")
    sizes = _sizes(tensors) | {"n_layers": len(layers), "attention": attention}
    if attention == "softmax":
        sizes["d_osc"] = None
        if "n_heads" not in given:
            raise CheckpointError(
                f"{source} has no anchors, so it is a softmax twin, and the number of "
                "its heads is not in the file: give config=dict(n_heads=1) or as many "
                "as it has"
            )
    defaults = _defaults(sizes, given)
    used = {key: value for key, value in defaults.items() if key not in given}
    warnings = tuple(
        f"{key} is not in the file: {_shown(value)} assumed"
        for key, value in used.items()
    )
    return sizes | used | dict(given), warnings


def _shown(value: Any) -> str:
    is_published = value is SVA_VOCABULARY
    return f"the published {len(value)} words" if is_published else repr(value)


def _sizes(tensors: Mapping[str, FloatArray]) -> dict[str, Any]:
    sizes = {size: _size(tensors, tries) for size, tries in _SIZES.items()}
    if "proj.weight" in tensors:
        sizes |= {
            "vocab_size": 0,
            "n_features": _size(tensors, ((r"proj\.weight", 1),)),
        }
    found = any(name.endswith(".attn.anchors") for name in tensors)
    return sizes if found else sizes | {"d_osc": 2}


def _size(tensors: Mapping[str, FloatArray], tries: Iterable[tuple[str, int]]) -> int:
    for pattern, axis in tries:
        for name, tensor in tensors.items():
            if re.fullmatch(pattern, name) and tensor.ndim > axis:
                return int(tensor.shape[axis])
    return 1


def _defaults(sizes: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    causal = sizes["n_outputs"] == sizes["vocab_size"] > 1
    defaults: dict[str, Any] = {
        "causal": causal,
        "padding_idx": 0,
        "task": "ids",
        "vocabulary": None,
        "trained_length": None,
    }
    if "n_features" in sizes:
        fixed = {"causal": False, "padding_idx": None, "task": "digits"}
        defaults |= fixed | {"feature_mean": None, "feature_std": None}
    if sizes["attention"] == "oscillator":
        defaults |= {"p": 1, "coupling": "softplus", "mask_readout": False}
    if given.get("task") == "sva":
        defaults |= {"vocabulary": SVA_VOCABULARY, "trained_length": _SVA_LENGTH}
    return defaults
