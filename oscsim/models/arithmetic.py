"""How a digital model multiplies, averages and exponentiates."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from oscsim.models.layers import linear
from oscsim.typing import FloatArray

AVERAGE_FLOOR = 1e-8


class Arithmetic(Protocol):
    """What a forward pass leaves to the data path.

    Norms, activations other than the exponential of a softmax, coupling
    functions, biases and residual sums are not part of it. A name says which
    operation of the model it is, so that ranges can be kept for each.
    """

    def linear(
        self, weights: Mapping[str, FloatArray], name: str, x: FloatArray
    ) -> FloatArray:
        """Return ``x W^T + b`` with ``W, b = name.weight, name.bias`` (if any)."""

    def product(self, name: str, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the matrix product ``a b`` of two results."""

    def exponential(self, x: FloatArray) -> FloatArray:
        """Return ``e^x`` for ``x <= 0``."""

    def weighted_sum(
        self, name: str, affinity: FloatArray, value: FloatArray
    ) -> FloatArray:
        """Return ``sum_j a_ij v_j`` for ``a_ij >= 0``."""

    def average(self, name: str, affinity: FloatArray, value: FloatArray) -> FloatArray:
        """Return ``sum_j a_ij v_j / sum_j a_ij`` for ``a_ij >= 0``."""


class Exact:
    """Floating point of whatever precision the tensors have."""

    def linear(
        self, weights: Mapping[str, FloatArray], name: str, x: FloatArray
    ) -> FloatArray:
        """Return ``x W^T + b``; see `oscsim.models.layers.linear`."""
        return linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    def product(self, name: str, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``a b``."""
        found: FloatArray = np.matmul(a, b)
        return found

    def exponential(self, x: FloatArray) -> FloatArray:
        """Return ``e^x``."""
        found: FloatArray = np.exp(x)
        return found

    def weighted_sum(
        self, name: str, affinity: FloatArray, value: FloatArray
    ) -> FloatArray:
        """Return the sum of the values, weighted."""
        return self.product(name, affinity, value)

    def average(self, name: str, affinity: FloatArray, value: FloatArray) -> FloatArray:
        """Return the mean of the values, weighted by `shares`."""
        return self.product(name, shares(affinity), value)


EXACT = Exact()


def shares(affinity: FloatArray) -> FloatArray:
    """Return affinities over their sum along the last axis, zeros where all are 0."""
    total = np.sum(affinity, axis=-1, keepdims=True)
    found: FloatArray = affinity / np.maximum(total, AVERAGE_FLOOR)
    return found
