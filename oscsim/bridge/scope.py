"""What a run modelled and what it did not, in words for the reader."""

import numpy as np

from oscsim.bridge.infer import AnyRun
from oscsim.bridge.setting import Setting
from oscsim.typing import FloatArray

ALWAYS_LEFT_OUT = (
    "phase noise and frequency error of the anchors (one locked reference)",
    "amplitude dynamics of the oscillators",
    "coupling delay and wire parasitics",
    "flicker noise, supply noise and drift",
    "temperature",
    "cross-talk between oscillators",
    "errors of the digital layers (run in float64)",
    "circuit level (SPICE)",
)

EFFECTS = {
    "range_limit": "coupling range with clipping at full scale",
    "weight_bits": "quantised couplings",
    "anchor_bits": "quantised anchors",
    "coupling_mismatch": "relative coupling mismatch",
    "coupling_offset": "absolute coupling offset",
    "anchor_mismatch": "anchor direction mismatch",
    "anchor_gain_mismatch": "anchor amplitude mismatch",
    "frequency_mismatch": "relative frequency mismatch",
    "frequency_offset": "absolute frequency offset",
    "stuck_off": "couplers stuck at zero",
    "stuck_on": "couplers stuck at full scale",
    "settle_time": "finite settling time",
    "diffusion": "thermal phase diffusion",
    "readout_noise": "read-out noise",
    "adc_bits": "quantised read-out",
}


def modelled(setting: Setting) -> tuple[list[str], list[str]]:
    """Return what acted in a run, and what did not.

    Returns
    -------
    tuple of two lists of str
        Modelled, not modelled.
    """
    if setting.perturbation is not None:
        kind, s = setting.perturbation.kind, setting.perturbation.s
        on = [f"published perturbation: {kind}, s = {s:g}"]
        return on, [*EFFECTS.values(), *ALWAYS_LEFT_OUT]
    device = setting.acting_device
    acting = set() if setting.rung == "digital" else set(device.imperfections)
    on = []
    for name, effect in EFFECTS.items():
        if name in acting:
            on.append(effect)
    if "settle_time" in acting:
        on[on.index(EFFECTS["settle_time"])] += f", {device.start} start"
    off = [effect for name, effect in EFFECTS.items() if name not in acting]
    return on, off + list(ALWAYS_LEFT_OUT)


def _are_equal(differences: FloatArray) -> bool:
    """Return whether logits differ by rounding only, such as that of a start."""
    return bool(np.all(np.abs(differences) < 1e-9))


def remarks(run: AnyRun) -> list[str]:
    """Return what makes chips or repeats of a run equal to each other."""
    if run.setting.rung == "digital" or run.setting.perturbation is not None:
        return []
    chips, repeats = run.outputs.shape[:2]
    same_chips = _are_equal(run.outputs - run.outputs[:1, :1])
    same_repeats = _are_equal(run.outputs - run.outputs[:, :1])
    static = set(run.setting.acting_device.imperfections) & {
        "coupling_mismatch",
        "coupling_offset",
        "anchor_mismatch",
        "anchor_gain_mismatch",
        "frequency_mismatch",
        "frequency_offset",
        "stuck_off",
        "stuck_on",
    }
    found = []
    if repeats > 1 and same_repeats:
        found.append("all repeats are equal: nothing random acts in a repeat")
    if chips > 1 and not static and same_chips:
        found.append("all chips are equal: the device has no mismatch")
    elif chips > 1 and not static:
        found.append("chips differ by noise only: the device has no mismatch")
    return found
