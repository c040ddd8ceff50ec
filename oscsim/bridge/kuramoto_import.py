"""What a bare file of Kuramoto attention, or of its baseline, means."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from oscsim.typing import FloatArray

_PUBLISHED_CONTEXT = 128


def family_of(tensors: Iterable[str]) -> str:
    """Return the family that the names of tensors belong to.

    ``readout.phi`` is Kuramoto attention's alone; ``layers.0.attn.Wo.weight``,
    spelt without an underscore, its baseline's. Everything else is taken for a
    fixed-query model, whose reader says what it misses.
    """
    names = set(tensors)
    if "readout.phi" in names:
        return "kuramoto"
    return "transformer" if "layers.0.attn.Wo.weight" in names else "fixed-query"


def complete_phases(
    tensors: Mapping[str, FloatArray], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration of a bare Kuramoto attention file [1]_.

    Parameters
    ----------
    tensors : mapping of str to FloatArray
        Names without wrappers.
    given : mapping
        Fields the caller knows; they win.

    Returns
    -------
    dict
        Fields of `KuramotoConfig`; sizes and switches that show in the tensors
        come from these.
    tuple of str
        One sentence for each field that neither tensors nor caller give.

    References
    ----------
    .. [1] Nunley (2026), arXiv:2606.11585.
    """
    names, first = set(tensors), "layers.0.attn"
    vocab_size, n_osc = _shape(tensors, "embed.weight", 2)
    sizes: dict[str, Any] = {
        "family": "kuramoto",
        "vocab_size": vocab_size,
        "n_osc": n_osc,
        "n_layers": _layers(names),
        "n_heads": _shape(tensors, f"{first}.log_tau", 1)[0],
        "gates": f"{first}.Wq.weight" in names,
        "value": "linear" if f"{first}.Wval.weight" in names else "raw",
        "omega": "learned" if f"{first}.omega" in names else "zero",
    }
    sizes["share_metric"] = sizes["gates"] and f"{first}.Wk.weight" not in names
    sizes["d_ff"], sizes["ffn"] = None, "off"
    if "layers.0.ffn.w_gate.weight" in names:
        sizes["d_ff"], width = _shape(tensors, "layers.0.ffn.w_gate.weight", 2)
        sizes["ffn"] = "lift" if width == 2 * n_osc else "raw"
    defaults = _task(vocab_size) | {
        "bound": "coord",
        "phase_convention": "unwrapped",
        "self_term": "frozen",
    }
    return _filled(sizes, defaults, given)


def complete_transformer(
    tensors: Mapping[str, FloatArray], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration of a bare file of the baseline.

    Parameters
    ----------
    tensors, given
        As in `complete_phases`.

    Returns
    -------
    dict and tuple of str
        Fields of `TransformerConfig` and what was assumed; the number of heads
        does not show in any tensor.
    """
    vocab_size, d_model = _shape(tensors, "embed.weight", 2)
    sizes: dict[str, Any] = {
        "family": "transformer",
        "vocab_size": vocab_size,
        "d_model": d_model,
        "n_layers": _layers(set(tensors)),
        "d_ff": _shape(tensors, "layers.0.ffn.w_gate.weight", 2)[0],
    }
    return _filled(sizes, _task(vocab_size) | {"n_heads": 4}, given)


def _task(vocab_size: int) -> dict[str, Any]:
    task = "bytes" if vocab_size == 256 else "ids"
    return {"task": task, "max_len": _PUBLISHED_CONTEXT}


def _filled(
    sizes: dict[str, Any], defaults: dict[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    used = {key: value for key, value in defaults.items() if key not in given}
    return sizes | used | dict(given), tuple(
        f"{key} is not in the file: {value!r} assumed" for key, value in used.items()
    )


def _shape(tensors: Mapping[str, FloatArray], name: str, ndim: int) -> tuple[int, ...]:
    """Return a tensor's shape, ones where it is missing: its check lists it."""
    found = tensors.get(name)
    if found is None or found.ndim != ndim or 0 in found.shape:
        return (1,) * ndim
    return tuple(int(n) for n in found.shape)


def _layers(names: Iterable[str]) -> int:
    numbers = {m[1] for name in names if (m := re.match(r"layers\.(\d+)\.", name))}
    return max(1, len(numbers))
