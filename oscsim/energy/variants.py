"""Ways to do one attention stage, digital or with oscillators, as counts of parts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from oscsim.errors import SpecError

Coupling: TypeAlias = Literal["free", "softplus", "relu"]
Normalisation: TypeAlias = Literal["as drafted", "alike"]


class Part(NamedTuple):
    """Something that a variant does, per token.

    Attributes
    ----------
    label : str
        In words; unique in a variant unless it is one part of several prices.
    phase, action : str
        As in the ledger.
    use : str
        Which price of the table.
    number : float
        Events, or seconds for an action that ends in ``_s``.
    """

    label: str
    phase: str
    action: str
    use: str
    number: float


@dataclass(frozen=True)
class Stage:
    """One attention stage, not causal.

    Attributes
    ----------
    n_positions : int
        Queries and anchors T.
    n_heads, d_head : int
        Heads H and the width of keys and of values.
    d_osc : int
        Components of an oscillator; 2 is a ring, more a gm-C sphere.
    reuse : float
        Uses of one byte read from on-chip memory.
    coupling : {"free", "softplus", "relu"}
        Coupling function that is charged; ``"free"`` charges none.
    normalisation : {"as drafted", "alike"}
        ``"as drafted"``: without the data path's overhead where the mixed value
        is scaled, and without scaling it in B, D and D2. ``"alike"``: one
        reciprocal and d_head products with overhead everywhere.
    """

    n_positions: int = 128
    n_heads: int = 4
    d_head: int = 32
    d_osc: int = 2
    reuse: float = 16.0
    coupling: Coupling = "free"
    normalisation: Normalisation = "as drafted"

    def __post_init__(self) -> None:
        for name in ("n_positions", "n_heads", "d_head"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.d_osc < 2:
            raise SpecError(f"d_osc must be at least 2, got {self.d_osc}")
        if not self.reuse >= 1:
            raise SpecError(f"reuse must be >= 1 (uses per read), got {self.reuse}")
        for name, known in (
            ("coupling", ("free", "softplus", "relu")),
            ("normalisation", ("as drafted", "alike")),
        ):
            if getattr(self, name) not in known:
                raise SpecError(
                    f"{name} must be one of {', '.join(known)}, "
                    f"got {getattr(self, name)!r}"
                )

    @property
    def pairs(self) -> int:
        """Scores of one query over all heads, T H."""
        return self.n_positions * self.n_heads


class Times(NamedTuple):
    """One period of a ring and one settling time of a sphere (s)."""

    period_s: float
    sphere_settle_s: float


def _cache(stage: Stage, width: int) -> Part:
    n_bytes = stage.pairs * width / stage.reuse
    return Part("key and value memory", "value", "read", "sram_read_byte", n_bytes)


def _state_memory(stage: Stage, elements: int) -> Part:
    number = stage.n_heads * elements / stage.reuse
    return Part("running sums, memory", "value", "state", "state_byte", number)


def _scores(stage: Stage) -> list[Part]:
    return [Part("scores", "weights", "mac", "mac", stage.pairs * stage.d_head)]


def _couplings(stage: Stage) -> list[Part]:
    parts = _scores(stage)
    if stage.coupling != "free":
        use = f"coupling_{stage.coupling}"
        parts.append(Part("coupling function", "weights", use, use, stage.pairs))
    return parts


def _softmax(stage: Stage) -> list[Part]:
    n = stage.pairs
    return [
        Part("exponential, maximum, sum", "weights", "exp", "exp", n),
        Part("exponential, maximum, sum", "weights", "add", "add", n),
        Part("exponential, maximum, sum", "weights", "compare", "maximum", n),
    ]


def _values(stage: Stage) -> Part:
    return Part("values", "value", "mac", "mac", stage.pairs * stage.d_head)


def _normalise(stage: Stage, *, scales: bool = True) -> list[Part]:
    """One reciprocal per head, and its products with the mixed value."""
    label, n = "normalise", stage.n_heads
    if stage.normalisation == "as drafted" and not scales:
        return [Part(label, "normalise", "recip", "recip", n)]
    bare = "bare_" if stage.normalisation == "as drafted" else ""
    return [
        Part(label, "normalise", "recip", f"{bare}recip", n),
        Part(label, "normalise", "mul", f"{bare}mul", n * stage.d_head),
    ]


def _drive(stage: Stage) -> Part:
    return Part("drive sum", "load", "mac", "mac", stage.pairs * stage.d_osc)


def _unit(stage: Stage) -> list[Part]:
    n, d = stage.n_heads, stage.d_osc
    label = "z = h/|h|"
    return [
        Part(label, "settle", "mul", "mul", 2 * n * d),
        Part(label, "settle", "add", "add", n * d),
        Part(label, "settle", "rsqrt", "rsqrt", n),
    ]


def _similarity(stage: Stage) -> Part:
    return Part("similarity", "similarity", "mac", "mac", stage.pairs * stage.d_osc)


def _sums(stage: Stage, label: str, factor: int) -> Part:
    n = factor * stage.n_heads * stage.d_head * stage.d_osc
    return Part(label, "value", "mac", "mac", n)


def _write(number: float) -> Part:
    label = "coupling write"
    return Part(label, "load", "coupling_write", "coupling_write", number)


def _core(stage: Stage, times: Times, inputs: int | None = None) -> list[Part]:
    """Oscillators with their couplers; a ring and its share of an anchor."""
    label, d = "oscillators and couplers", stage.d_osc
    n_in = stage.n_positions if inputs is None else inputs
    if d > 2:
        time = stage.n_heads * d * times.sphere_settle_s
        return [
            Part(label, "settle", "component_s", "sphere_s", time),
            Part(label, "settle", "coupler_s", "sphere_coupler_s", n_in * time),
        ]
    time = stage.n_heads * times.period_s
    return [
        Part(label, "settle", "oscillator_s", "ring_s", time),
        Part(label, "settle", "anchor_s", "ring_s", time),
        Part(label, "settle", "coupler_s", "ring_coupler_s", n_in * time),
    ]


def _read(stage: Stage) -> Part:
    use = "component_read" if stage.d_osc > 2 else "phase_read"
    number = stage.n_heads * stage.d_osc
    return Part("read-out", "readout", "state_read", use, number)


def _convert(label: str, number: float) -> Part:
    return Part(label, "readout", "state_read", "component_read", number)


def _in_memory(label: str, phase: str, stage: Stage) -> Part:
    return Part(label, phase, "cim_mac", "cim_mac", stage.pairs * stage.d_head)


def _a(s: Stage, _: Times) -> list[Part]:
    both = _cache(s, 2 * s.d_head)
    return [*_scores(s), _values(s), *_softmax(s), *_normalise(s), both]


def _b(s: Stage, _: Times) -> list[Part]:
    parts = [*_couplings(s), _drive(s), *_unit(s), _similarity(s)]
    parts += [*_normalise(s, scales=False), _values(s)]
    return [*parts, _cache(s, 2 * s.d_head)]


def _b2(s: Stage, _: Times) -> list[Part]:
    parts = [*_couplings(s), _drive(s), *_unit(s), _sums(s, "factored values", 2)]
    state = _state_memory(s, s.d_head * s.d_osc)
    return [*parts, *_normalise(s), _cache(s, s.d_head), state]


def _c(s: Stage, _: Times) -> list[Part]:
    parts = [_sums(s, "factored drive", 1), *_unit(s), _sums(s, "factored values", 1)]
    parts += [_sums(s, "running sums", 2), *_normalise(s)]
    return [*parts, _state_memory(s, 2 * s.d_head * s.d_osc)]


def _d2(s: Stage, times: Times) -> list[Part]:
    parts = [*_couplings(s), _write(s.pairs), *_core(s, times)]
    parts += [_convert("score conversion", s.pairs), *_normalise(s, scales=False)]
    return [*parts, _values(s), _cache(s, 2 * s.d_head)]


def _d(s: Stage, times: Times) -> list[Part]:
    parts = [*_couplings(s), _write(s.pairs), *_core(s, times), _read(s)]
    parts += [_similarity(s), *_normalise(s, scales=False), _values(s)]
    return [*parts, _cache(s, 2 * s.d_head)]


def _e(s: Stage, times: Times) -> list[Part]:
    parts = [*_couplings(s), _write(s.pairs), *_core(s, times), _read(s)]
    parts += [_sums(s, "factored values", 2), *_normalise(s), _cache(s, s.d_head)]
    return [*parts, _state_memory(s, s.d_head * s.d_osc)]


def _f(s: Stage, times: Times) -> list[Part]:
    lines = s.d_osc if s.d_osc == 2 else 0
    parts = [_sums(s, "factored drive", 1), _write(s.n_heads * s.d_osc)]
    parts += [*_core(s, times, lines), _read(s), _sums(s, "factored values", 1)]
    parts += [_sums(s, "running sums", 2), *_normalise(s)]
    return [*parts, _state_memory(s, 2 * s.d_head * s.d_osc)]


def _g(s: Stage, _: Times) -> list[Part]:
    parts = [_in_memory("scores", "weights", s), _in_memory("values", "value", s)]
    parts += [_convert("score conversion", s.pairs), *_softmax(s), _write(s.pairs)]
    return [*parts, *_normalise(s), _convert("output", s.n_heads * s.d_head)]


def _h(s: Stage, times: Times) -> list[Part]:
    kind = "ring" if s.d_osc == 2 else "sphere"
    time = times.period_s if s.d_osc == 2 else times.sphere_settle_s
    use, n = "phase_compare", s.pairs
    if s.d_osc > 2:
        use, n = "analog_similarity", s.pairs * s.d_osc
    bias = f"{kind}_multiplier_s"
    parts = [_in_memory("scores", "weights", s), _in_memory("values", "value", s)]
    parts += _couplings(s)[1:] + _core(s, times)
    parts += [
        Part("bias of analog couplers", "settle", "coupler_s", bias, s.pairs * time),
        Part("similarity", "similarity", use, use, n),
    ]
    return [*parts, *_normalise(s), _convert("output", s.n_heads * s.d_head)]


VARIANTS: dict[str, tuple[str, Callable[[Stage, Times], list[Part]]]] = {
    "A": ("softmax, digital", _a),
    "B": ("oscillator model, digital, unfactored", _b),
    "B2": ("oscillator model, digital, read-out factored", _b2),
    "C": ("bilinear couplings, digital, all factored", _c),
    "D2": ("oscillators, similarities converted one by one", _d2),
    "D": ("oscillators, digital scores and values", _d),
    "E": ("oscillators, digital scores, read-out factored", _e),
    "F": ("bilinear couplings, oscillators only normalise", _f),
    "G": ("softmax on in-memory compute", _g),
    "H": ("oscillators on in-memory compute, all analog", _h),
}
