"""What one layer asks of its oscillators for one item, and what the engine does."""

import numpy as np

from oscsim.bridge.infer import Data
from oscsim.bridge.passes import blocks, evaluate, one_blas_thread
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import Pass, settle_digital
from oscsim.models.masks import Masks
from oscsim.solve.noise import points_on_sphere
from oscsim.substrate.device import Device
from oscsim.substrate.drive import Drive
from oscsim.substrate.mismatch import Programming, Stage, program
from oscsim.substrate.settle import oscillator_numbers, settle_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray


class Twin:
    """The rung ``finite`` of an ideal chip for the drive of one item.

    Parameters
    ----------
    weights : dict of str to FloatArray
        Float64 tensors of the model.
    config : FixedQueryConfig
        What it is.
    drive : Drive
        Of one item.
    seed : int
        Of the starts.
    """

    def __init__(
        self,
        weights: dict[str, FloatArray],
        config: FixedQueryConfig,
        drive: Drive,
        seed: int,
    ) -> None:
        self.drive, self.seed = drive, seed
        self._layers = [
            Programming(weights[f"layers.{n}.attn.anchors"], np.ones(config.n_heads))
            for n in range(config.n_layers)
        ]

    def starts(self, head: int, positions: IntArray) -> FloatArray:
        """Return the starts of some queries, as chip 0 draws them.

        Parameters
        ----------
        head : int
            The head.
        positions : IntArray, shape (n,)
            The queries.

        Returns
        -------
        FloatArray, shape (n, d_osc)
        """
        chip = program(Device.load("ideal"), self._layers, seed=self.seed, chip=0)
        here = (np.zeros_like(positions), np.full_like(positions, head), positions)
        layer = self.drive.layer
        numbers = oscillator_numbers(self.drive, chip.layers[layer], here)
        stream = Stage.START.stream(self.seed, layer)
        return points_on_sphere(stream, numbers, self.drive.anchors.shape[-1])

    def after(self, time: float) -> FloatArray:
        """Return all states after a time, shape (1, heads, queries, d_osc).

        Parameters
        ----------
        time : float
            In model units: the inverse of those of the couplings.
        """
        device = Device.load("ideal").changed(settle_time=float(time))
        chip = program(device, self._layers, seed=self.seed, chip=0)
        return settle_on(chip, 0, SettleTally())(self.drive, Counts())


def drive_of(
    weights: dict[str, FloatArray],
    config: FixedQueryConfig,
    inputs: Data,
    item: int,
    layer: int,
) -> tuple[Drive, Masks]:
    """Return the drive of one layer for one item, and its masks.

    Parameters
    ----------
    weights : dict of str to FloatArray
        Float64 tensors of the model.
    config : FixedQueryConfig
        What it is.
    inputs : TokenSet, DigitSet or ByteText
        The data.
    item, layer : int
        Which.
    """
    ids = inputs.ids if isinstance(inputs, ByteText) else inputs.inputs
    positions = None if isinstance(inputs, ByteText) else inputs.positions
    block = next(
        part for part in blocks(ids, positions, config.filler) if item in part.items
    )
    row = int(np.flatnonzero(block.items == item)[0])
    kept: list[Drive] = []

    def settle(drive: Drive, counts: Counts) -> FloatArray:
        kept.append(drive)
        return settle_digital(drive, counts)

    with one_blas_thread():
        evaluate(weights, config, block, Pass(settle))
    whole = kept[layer]
    one = slice(row, row + 1)
    drive = whole._replace(
        items=whole.items[one],
        coupling=whole.coupling[one],
        connected=whole.connected[one],
        live=whole.live[one],
    )
    return drive, Masks.of(config, block.ids[one], block.items[one])


def words_of(
    config: FixedQueryConfig, inputs: Data, item: int, live: IntArray
) -> tuple[str, ...]:
    """Return the tokens of an item: words, characters, or numbers of frames.

    Parameters
    ----------
    config : FixedQueryConfig
        Its vocabulary.
    inputs : TokenSet, DigitSet or ByteText
        The data.
    item : int
        Which sentence, clip or window.
    live : IntArray, shape (n,)
        Positions that exist.
    """
    if isinstance(inputs, ByteText):
        return tuple(
            repr(chr(byte))[1:-1] if byte < 128 else f"{byte:02x}"
            for byte in inputs.ids[item][live].tolist()
        )
    if config.vocabulary is None or config.n_features is not None:
        return tuple(map(str, live.tolist()))
    return tuple(config.vocabulary[token] for token in inputs.inputs[item][live])
