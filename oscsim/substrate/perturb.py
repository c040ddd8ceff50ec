"""The published perturbations: dimensionless, redrawn for every sentence.

They are not a chip's static mismatch and not heat, which grows as |h| falls;
they are kept apart so that published robustness figures can be compared.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.physics.driven import settle, settle_detuned
from oscsim.solve.noise import Stream, normals
from oscsim.substrate.drive import Drive, Settle
from oscsim.substrate.mismatch import Stage, antisymmetric
from oscsim.typing import FloatArray, IntArray

Kind = Literal["coupling", "state", "frequency"]

FREQUENCY_TIME = 30.0


@dataclass(frozen=True)
class Perturbation:
    """One published perturbation of strength ``s``.

    ``coupling``: w exp(N(0, s^2)), redrawn per sentence, head and pair.
    ``state``: normalize(z* + N(0, s^2 I)). ``frequency``: Omega = (M - M^T)/2
    with entries of M from N(0, s^2), so that Omega's have deviation
    s / sqrt 2; the oscillator starts at its fixed point and is left for 30
    model time units, the longest settling time of the publication, which does
    not state one here.

    Attributes
    ----------
    kind : {"coupling", "state", "frequency"}
        What is perturbed.
    s : float
        Strength, dimensionless.

    Raises
    ------
    SpecError
        If the kind is unknown or ``s`` is negative or not finite.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, robustness at inference.
    """

    kind: Kind
    s: float

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise SpecError(
                f"unknown perturbation {self.kind!r}: one of "
                f"{', '.join(get_args(Kind))}"
            )
        if not (math.isfinite(self.s) and self.s >= 0):
            raise SpecError(
                f"strength of perturbation {self.kind} must be finite and >= 0, "
                f"got {self.s}"
            )

    def __str__(self) -> str:
        return f"{self.kind}={float(self.s)!r}"

    @classmethod
    def parse(cls, text: str) -> "Perturbation":
        """Read ``kind=s``, for example ``coupling=0.2``."""
        kind, _, strength = text.partition("=")
        try:
            return cls(kind, float(strength))  # type: ignore[arg-type]
        except ValueError as error:
            if isinstance(error, SpecError):
                raise
            raise SpecError(
                f"a perturbation is written kind=s, for example coupling=0.2, "
                f"got {text!r}"
            ) from None


def settle_perturbed(
    perturbation: Perturbation, *, seed: int, chip: int, repeat: int, max_len: int
) -> Settle:
    """Return the ideal substrate's ``settle`` under one perturbation.

    Parameters
    ----------
    perturbation : Perturbation
        Kind and strength.
    seed, chip, repeat : int
        Select the draw; sentences differ through their item numbers.
    max_len : int
        Number of anchor slots, so that draws do not depend on padding.
    """
    return partial(
        _settle_layer,
        perturbation=perturbation,
        seed=seed,
        chip=chip,
        repeat=repeat,
        max_len=max_len,
    )


def _settle_layer(
    drive: Drive,
    counts: Counts,
    *,
    perturbation: Perturbation,
    seed: int,
    chip: int,
    repeat: int,
    max_len: int,
) -> FloatArray:
    stream = Stage.PERTURB.stream(seed, drive.layer, chip, repeat)
    coupling = drive.coupling
    if perturbation.kind == "coupling":
        coupling = _perturbed_couplings(drive, perturbation.s, stream, max_len)
    fields = np.matmul(coupling, drive.anchors)
    batch, heads, queries, d_osc = fields.shape
    live = np.broadcast_to(drive.live[:, None, :], (batch, heads, queries))
    here = np.nonzero(live)
    item, head, query = here
    index = (drive.items[item] * heads + head) * max_len + query
    field = fields[here].astype(np.float64)
    nearer = np.zeros_like(field)
    nearer[:, 0] = np.copysign(1.0, field[:, 0])  # a start at the antipode stays there
    state = settle(field, nearer, math.inf)
    if perturbation.kind == "state":
        state = state + perturbation.s * normals(stream, index, d_osc)
        state /= np.linalg.norm(state, axis=-1, keepdims=True)
    elif perturbation.kind == "frequency":
        omega = _disorder(perturbation.s, stream, index, d_osc)
        state = settle_detuned(field, omega, state, FREQUENCY_TIME)
    states = np.zeros(fields.shape)
    states[here] = state
    return states


def _perturbed_couplings(
    drive: Drive, s: float, stream: Stream, max_len: int
) -> FloatArray:
    item, head, query, anchor = np.nonzero(
        np.broadcast_to(drive.connected[:, None], drive.coupling.shape)
    )
    heads = drive.coupling.shape[1]
    index = ((drive.items[item] * heads + head) * max_len + query) * max_len + anchor
    coupling = drive.coupling.astype(np.float64)
    coupling[item, head, query, anchor] *= np.exp(s * normals(stream, index, 1)[:, 0])
    return coupling


def _disorder(s: float, stream: Stream, index: IntArray, d_osc: int) -> FloatArray:
    entries = normals(stream, index, d_osc * (d_osc - 1) // 2) * (s / math.sqrt(2))
    if d_osc == 2:
        return entries[:, 0]
    return antisymmetric(entries, d_osc)
