"""The p = 1 read-out in prefix sums: linear in time, the same numbers."""

import numpy as np

from oscsim.models.masks import Masks
from oscsim.typing import FloatArray

_FLOOR = 1e-8


def illegal_pairs(state: FloatArray, anchors: FloatArray, masks: Masks) -> int:
    """Return the number of existing pairs with ``1 + z_i.r_j < 0``.

    There the direct read-out clamps and prefix sums do not. With ``|r| <= 1``
    and ``|z| <= 1`` there is none, and no pair is looked at.

    Parameters
    ----------
    state : FloatArray, shape (batch, heads, time, d_osc)
        States z as read.
    anchors : FloatArray, shape (heads, time, d_osc)
        Anchors r as trained.
    masks : Masks
        Pairs that exist.
    """
    longest = np.max(np.sum(anchors * anchors, axis=-1))
    farthest = np.max(np.sum(state * state, axis=-1))
    if longest * farthest <= 1 + 8 * np.finfo(state.dtype).eps:
        return 0
    similarity = np.matmul(state, np.swapaxes(anchors, -1, -2))
    return int(np.count_nonzero((similarity < -1) & masks.connected[:, None]))


def read_in_prefix_sums(
    state: FloatArray,
    anchors: FloatArray,
    value: FloatArray,
    masks: Masks,
    causal: bool,
) -> FloatArray:
    """Return ``sum_j a_ij v_j = (S_v + z_i.S_rv) / (n + z_i.S_r)``.

    ``S_v = sum v_j``, ``S_rv = sum r_j v_j^T``, ``S_r = sum r_j`` and ``n`` run
    over the positions that are read: up to i if causal, otherwise all. Equal to
    the direct p = 1 read-out where no ``1 + z.r_j`` is negative [1]_; work is
    O(time d_osc d_head).

    Parameters
    ----------
    state, anchors
        As in `illegal_pairs`.
    value : FloatArray, shape (batch, heads, time, d_head)
        Values v.
    masks : Masks
        Positions that are read.
    causal : bool
        Whether later positions are left out.

    Returns
    -------
    FloatArray, shape (batch, heads, time, d_head)

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059.
    """
    # causal rows end with the full sum, so the last row says what is read at all
    read = masks.readable[:, -1].astype(value.dtype)[:, None, :, None]
    kept = value * read
    ones = np.broadcast_to(read, (*value.shape[:3], 1))
    both = np.concatenate([kept, ones], axis=-1)
    moments = anchors[..., None] * both[..., None, :]
    if causal:
        zeroth, first = np.cumsum(both, axis=2), np.cumsum(moments, axis=2)
        turned = np.matmul(state[..., None, :], first)[..., 0, :]
    else:
        zeroth = np.sum(both, axis=2, keepdims=True)
        turned = np.matmul(state, np.sum(moments, axis=2))
    total = zeroth + turned
    mixed: FloatArray = total[..., :-1] / np.maximum(total[..., -1:], _FLOOR)
    return mixed
