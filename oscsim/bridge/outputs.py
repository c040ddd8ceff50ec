"""Raw outputs of a checkpoint for arrays of token ids."""

from pathlib import Path

import numpy as np

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.digit_data import checked_frames
from oscsim.bridge.engine import Engine
from oscsim.bridge.setting import Setting
from oscsim.errors import DataError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.families import ModelConfig
from oscsim.substrate.device import Device, Rung, as_device
from oscsim.typing import FloatArray, IntArray


def logits(
    checkpoint: Checkpoint,
    inputs: IntArray | FloatArray,
    *,
    rung: Rung = "digital",
    device: Device | str | Path | None = None,
    seed: int = 0,
    positions: IntArray | None = None,
) -> FloatArray:
    """Return a checkpoint's raw outputs, digital or on chip 0 of a device.

    Parameters
    ----------
    checkpoint : Checkpoint
        The model.
    inputs : IntArray, shape (batch, time)
        Token ids as the model was trained on them, marks and padding included;
        or normalised frames (batch, time, n_features), NaN where padded.
    rung : {"digital", "ideal", "finite", "noisy", "device"}
        Which imperfections act.
    device : Device, name or path, optional
        The hardware; the default preset for the checkpoint's d_osc.
    seed : int
        Seed of all draws.
    positions : IntArray, shape (batch,), optional
        Column that the head reads in every row, used as given.

    Returns
    -------
    FloatArray
        Float64. With ``positions``, shape (batch,) for one output and
        (batch, n_outputs) for more; otherwise (batch, time, n_outputs).

    Raises
    ------
    DataError
        If ids or positions have the wrong shape or are out of range.
    SpecError, DeviceError
        As `oscsim.bridge.infer.infer`.
    """
    config = checkpoint.config
    ids: IntArray | FloatArray
    if isinstance(config, FixedQueryConfig) and config.n_features is not None:
        ids = checked_frames(inputs, config)
        if positions is not None:
            raise DataError("a model of frames reads no position: leave positions out")
    else:
        ids = checked_ids(inputs, config)
    columns = None
    if positions is not None:
        columns = _checked_positions(positions, ids)
        _ = checkpoint.fixed_query  # the others read every position
    setting = Setting(as_device(device, checkpoint.d_osc), rung, seed)
    setting.require(checkpoint)
    engine = Engine(checkpoint, ids, columns)
    layers = calibrate(checkpoint, engine.weights, ids).layers
    with engine.running():
        found: FloatArray = engine.on_chip(setting, layers, 0, 1).logits[0]
    if columns is not None and found.shape[1:] == (1,):
        found = found[:, 0]
    return found


def checked_ids(inputs: IntArray | FloatArray, config: ModelConfig) -> IntArray:
    """Return token ids as int64 after checking shape and range.

    Raises
    ------
    DataError
        Naming the first id that is outside the vocabulary, or the shape.
    """
    ids = _array_of("inputs", inputs)
    if ids.ndim != 2 or 0 in ids.shape or not np.issubdtype(ids.dtype, np.integer):
        raise DataError(
            "inputs must be integers of shape (batch, time), at least one of each; "
            f"got {ids.dtype} of shape {ids.shape}"
        )
    if ids.shape[1] > config.max_len:
        raise DataError(
            f"inputs have {ids.shape[1]} positions, the checkpoint holds "
            f"{config.max_len}"
        )
    wrong = np.argwhere((ids < 0) | (ids >= config.vocab_size))
    if len(wrong):
        row, column = (int(k) for k in wrong[0])
        raise DataError(
            f"inputs[{row}, {column}] = {ids[row, column]} is not a token: ids are "
            f"0..{config.vocab_size - 1}"
        )
    return ids.astype(np.int64)


def _array_of(name: str, values: IntArray | FloatArray) -> IntArray:
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError(f"{name} must be an array: rows of one length") from None


def _checked_positions(positions: IntArray, ids: IntArray | FloatArray) -> IntArray:
    columns = _array_of("positions", positions)
    if columns.shape != (len(ids),) or not np.issubdtype(columns.dtype, np.integer):
        raise DataError(
            f"positions must be {len(ids)} integers, one per row; got {columns.dtype} "
            f"of shape {columns.shape}"
        )
    wrong = np.flatnonzero((columns < 0) | (columns >= ids.shape[1]))
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"positions[{row}] = {columns[row]} is not a column: 0..{ids.shape[1] - 1}"
        )
    return columns.astype(np.int64)
