"""A language model on simulated chips against its own digital forward pass."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.bridge.calibrate import calibrate
from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.engine import Engine
from oscsim.models.config import FixedQueryConfig, tensor_shapes
from oscsim.models.fixed_query import Pass
from oscsim.substrate.device import Device
from oscsim.substrate.mismatch import program
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from tests.benchmarks.entries import Row, Scale
from tests.benchmarks.measure import Contender, alternate


def random_model(config: FixedQueryConfig) -> dict[str, np.ndarray]:
    """Return tensors of the size that training leaves; values do not matter."""
    rng = np.random.default_rng(11)
    weights = {}
    for name, shape in tensor_shapes(config).items():
        if name.endswith("bias"):
            weights[name] = np.zeros(shape)
        elif "norm" in name:
            weights[name] = np.ones(shape)
        elif name.endswith("anchors"):
            weights[name] = rng.normal(0, shape[-1] ** -0.5, shape)
        else:
            weights[name] = rng.normal(0, shape[-1] ** -0.5, shape)
    return weights


def infer_rows(scale: Scale) -> list[Row]:
    """Time one chip, settled, against the digital pass on the same threads.

    Couplings quantised and mismatched, thermal noise, read-out noise and
    converter. Detuning is off for the target, as it was set on; with it the noisy
    law has no closed form for d > 2, and stepping it is the row beside.
    """
    length = scale.of(128, 16)
    config = FixedQueryConfig(
        attention="oscillator",
        vocab_size=256,
        d_model=128,
        n_heads=4,
        n_layers=2,
        d_ff=512,
        d_osc=8,
        max_len=length,
        n_outputs=256,
        causal=True,
        padding_idx=None,
    )
    rng = np.random.default_rng(12)
    ids = rng.integers(0, config.vocab_size, (scale.of(128, 8), length))
    weights = random_model(config)
    checkpoint = Checkpoint(config, weights, "random", Path("random"), "")
    engine = Engine(checkpoint, ids, None)
    layers = calibrate(checkpoint, engine.weights, ids[:16]).layers
    preset = Device.load("sphere-generic")
    tuned = preset.changed(settle_time=math.inf, frequency_offset=0.0)
    tokens = float(ids.size)

    def on(device: Device) -> Any:
        chip = program(device, layers, seed=1, chip=0)
        return lambda: (
            engine.run(lambda: Pass(settle_on(chip, 0, SettleTally()))).logits
        )

    contenders = [
        Contender(
            "digital",
            "oscsim",
            lambda: engine.run(Pass).logits,
            tokens,
            family="digital",
        ),
        Contender("one chip", "oscsim", on(tuned), tokens, family="chip"),
        Contender("one chip, detuned", "oscsim", on(preset), tokens, family="detuned"),
    ]
    ideal = Device.load("ideal")
    contenders.append(
        Contender("ideal substrate", "oscsim", on(ideal), tokens, family="ideal")
    )
    with engine.running():
        rows = alternate("inference", contenders, scale.repeats)
    for row in rows:
        row["unit"] = "token"
    return rows
