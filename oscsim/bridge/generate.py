"""Text that a language model writes, digitally and on a chip, byte by byte."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oscsim.arrays import real_number, seed_number, whole_number
from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Progress, chip_passes, digital_pass
from oscsim.bridge.language import context_of, require_byte_model
from oscsim.bridge.passes import AnyPass, Block, evaluate, in_float64, one_blas_thread
from oscsim.bridge.phases import DIGITAL_PARTS, TURNS_LOST, loses_turns
from oscsim.bridge.setting import Setting, update_of
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import Device, Rung, as_device
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray, IntArray

MOST_BYTES = 100_000


@dataclass(frozen=True)
class Generated:
    """A prompt and how two models went on from it.

    Attributes
    ----------
    prompt : bytes
        What both read first.
    digital : bytes
        What the digital model wrote.
    chip : bytes or None
        What the same model wrote on chip 0; None at rung ``"digital"``.
    setting : Setting
        The hardware, the rung and the seed.
    temperature : float
        Divides the logits.
    warnings : tuple of str
        What a reader must know.
    """

    prompt: bytes
    digital: bytes
    chip: bytes | None
    setting: Setting
    temperature: float
    warnings: tuple[str, ...] = ()

    @property
    def equal_bytes(self) -> int | None:
        """Bytes before both texts part; None without a chip."""
        if self.chip is None:
            return None
        pairs = zip(self.digital, self.chip, strict=True)
        differ = (n for n, (one, other) in enumerate(pairs) if one != other)
        return next(differ, len(self.digital))


def generate(
    checkpoint: Checkpoint,
    prompt: str | bytes,
    *,
    device: Device | str | Path | None = None,
    rung: Rung = "device",
    n_bytes: int = 200,
    temperature: float = 1.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Generated:
    """Let a language model go on from a prompt, digitally and on chip 0.

    Every byte is drawn from ``softmax(logits / temperature)`` of the last bytes
    that the trained context holds. Both texts use the same random number for
    their n-th byte: they part only where the chip's probabilities do.

    Parameters
    ----------
    checkpoint : Checkpoint
        A causal model of bytes.
    prompt : str or bytes
        At least one byte of UTF-8.
    device : Device, name or path, optional
        The hardware; the default preset for the checkpoint's d_osc.
    rung : {"digital", "ideal", "finite", "noisy", "device"}
        Which of its imperfections act; ``"digital"`` writes one text.
    n_bytes : int
        Bytes to write, 1..100,000.
    temperature : float
        From 0, which always takes the most probable byte.
    seed : int
        Seed of all draws.
    progress : callable, optional
        Called with (bytes done, bytes asked).

    Returns
    -------
    Generated

    Raises
    ------
    SpecError
        If the prompt is empty or not UTF-8, a number is out of range, or the
        rung needs oscillators that the model does not have.
    DataError
        If the model does not predict bytes.
    DeviceError
        If the device cannot hold the model.
    """
    start = _prompt_bytes(prompt)
    require_byte_model(checkpoint)
    n_bytes = whole_number("bytes", n_bytes, 1, MOST_BYTES)
    temperature = real_number("temperature", temperature)
    if temperature < 0:
        raise SpecError(f"temperature must be at least 0, got {temperature:g}")
    setting = Setting(
        as_device(device, checkpoint.d_osc),
        rung,
        seed_number(seed),
        update=update_of(checkpoint, rung, None),
    )
    setting.require(checkpoint)
    writer = _Writer(checkpoint, temperature, setting.seed)
    tick = progress or (lambda _done, _asked: None)
    asked = n_bytes * (1 if rung == "digital" else 2)
    warnings = checkpoint.warnings
    with one_blas_thread():
        digital = writer.write(
            start,
            n_bytes,
            lambda: digital_pass(checkpoint.config),
            lambda done: tick(done, asked),
        )
        chip = None
        if rung != "digital":
            ids = np.frombuffer(start, np.uint8).astype(np.int64)[None]
            calibration = calibrate(
                checkpoint, writer.weights, ids[:, -writer.context :]
            )
            warnings += calibration.warnings
            if isinstance(checkpoint.config, KuramotoConfig):
                warnings += (DIGITAL_PARTS,)
                if loses_turns(checkpoint.config, setting.device):
                    warnings += (TURNS_LOST,)
            made = chip_passes(checkpoint.config, setting, calibration.layers, 0)
            chip = writer.write(
                start,
                n_bytes,
                lambda: made(0, SettleTally()),
                lambda done: tick(n_bytes + done, asked),
            )
    return Generated(start, digital, chip, setting, temperature, warnings)


def shown(text: bytes) -> str:
    """Return bytes as text; what is not UTF-8, or steers a terminal, as escapes."""
    decoded = text.decode("utf-8", errors="backslashreplace")
    return "".join(
        letter
        if letter.isprintable() or letter in "\n\t"
        else letter.encode("unicode_escape").decode()
        for letter in decoded
    )


def _prompt_bytes(prompt: str | bytes) -> bytes:
    try:
        start = prompt.encode() if isinstance(prompt, str) else bytes(prompt)
        start.decode()
    except UnicodeError as error:
        raise SpecError(f"the prompt is not UTF-8: {error}") from None
    if not start:
        raise SpecError("the prompt is empty: give at least one byte to go on from")
    return start


class _Writer:
    """Draws bytes one after the other from a model."""

    def __init__(self, checkpoint: Checkpoint, temperature: float, seed: int) -> None:
        self.config = checkpoint.config
        self.weights = in_float64(checkpoint.weights)
        self.context = context_of(checkpoint)
        self.temperature = temperature
        self.seed = seed

    def write(
        self,
        start: bytes,
        n_bytes: int,
        make_pass: Callable[[], AnyPass],
        tick: Callable[[int], None],
    ) -> bytes:
        """Return the bytes that follow a start; the n-th is item n on a chip."""
        text = bytearray(start)
        for number, u in enumerate(np.random.default_rng(self.seed).random(n_bytes)):
            tick(number)
            ids = np.frombuffer(bytes(text[-self.context :]), np.uint8)
            logits = self._next(ids.astype(np.int64)[None], number, make_pass())
            text.append(_drawn(logits, self.temperature, u))
        tick(n_bytes)
        return bytes(text[len(start) :])

    def _next(self, ids: IntArray, number: int, run: AnyPass) -> FloatArray:
        block = Block(slice(0, 1), ids, None, np.array([number]))
        found: FloatArray = evaluate(self.weights, self.config, block, run)[0, -1]
        return found


def _drawn(logits: FloatArray, temperature: float, u: float) -> int:
    """Return the byte at which the cumulative probability passes ``u``."""
    if temperature == 0:
        return int(np.argmax(logits))
    with np.errstate(over="ignore"):
        weight = np.cumsum(np.exp((logits - logits.max()) / temperature))
    return int(np.searchsorted(weight, u * weight[-1], side="right"))
