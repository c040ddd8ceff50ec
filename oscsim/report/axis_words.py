"""Names of a sweep's numbers and metrics as a reader meets them."""

import math
from collections.abc import Mapping

from oscsim.design.axes import Value, field_of, layer_of
from oscsim.design.replicates import Interval
from oscsim.design.said import said_number

WORDS = {
    "device": "device preset",
    "digital": "what is left digital",
    "relative_diffusion": "noise D / median |h|",
    "relative_settle_time": "settling time × median |h|",
    "diffusion": "thermal diffusion D (rad²/s or model rate)",
    "settle_time": "settling time (s or model time)",
    "weight_bits": "coupling bits",
    "anchor_bits": "anchor bits",
    "adc_bits": "read-out bits",
    "coupling_mismatch": "relative coupling mismatch",
    "coupling_offset": "coupling offset (full scales)",
    "anchor_mismatch": "anchor direction error (rad)",
    "anchor_gain_mismatch": "relative anchor gain mismatch",
    "frequency_mismatch": "relative frequency mismatch",
    "frequency_offset": "detuning (rad/s)",
    "frequency_hz": "frequency (Hz)",
    "readout_noise": "read-out noise (rad or component)",
    "stuck_off": "share of couplers stuck at 0",
    "stuck_on": "share of couplers stuck at full scale",
}
METRICS = {
    "bits_per_byte": "bits per byte",
    "accuracy": "accuracy",
    "hard_accuracy": "accuracy on hard sentences",
}


def words(axis: str) -> str:
    """Return what an axis is called, with its unit; its own name if it has none."""
    field, layer = field_of(axis), layer_of(axis)
    said = WORDS.get(field, field.replace("_", " "))
    return said if layer is None else f"layer {layer}: {said}"


def named(axis: str) -> str:
    """Return the name with the words, for where the reader needs both."""
    said = words(axis)
    return axis if said == axis else f"{said} ({axis})"


def said_value(value: Value) -> str:
    """Return a value of an axis, a number to six digits."""
    if isinstance(value, bool | str):
        return str(value)
    return said_number(float(value), 6)


def said_point(point: Mapping[str, Value]) -> str:
    """Return the values of axes with their names; empty of none."""
    return ", ".join(f"{name} {said_value(value)}" for name, value in point.items())


def metric_words(metric: str) -> str:
    """Return what a metric is called."""
    return METRICS.get(metric, metric)


def direction(metric: str) -> str:
    """Return which end of a metric is good."""
    return "lower is better" if metric == "bits_per_byte" else "higher is better"


def fixed_interval(found: Interval, digits: int = 4) -> str:
    """Return a number with its interval to a fixed number of digits."""
    if not math.isfinite(found.low) or not math.isfinite(found.high):
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"
