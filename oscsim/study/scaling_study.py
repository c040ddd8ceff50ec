"""Everything that is said of a family of oscillator models and its softmax twins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from oscsim.errors import SpecError
from oscsim.study.family import Member
from oscsim.study.floored import FlooredLaw, floored_law
from oscsim.study.meeting import Meeting, meeting
from oscsim.study.resample import RESAMPLES, interval95, perplexities
from oscsim.study.scaling import ScalingLaw, scaling_law
from oscsim.typing import FloatArray


class Level(NamedTuple):
    """One model, all its trainings together.

    Attributes
    ----------
    d_osc, p, width : int or None
        What it is; d_osc and p are None for softmax.
    trainings, parameters : int
        How many, and the size of one.
    bits, perplexity : float
        Per byte: mean over trainings of the bits and of ``2^bits``.
    gap : float
        Perplexity minus that of the softmax twin of the family's width.
    gap95 : tuple of float
        2.5 and 97.5 % quantiles over resamples, windows and spread in common.
    """

    d_osc: int | None
    p: int | None
    width: int
    trainings: int
    parameters: int
    bits: float
    perplexity: float
    gap: float
    gap95: tuple[float, float]


@dataclass(frozen=True)
class FamilyLaws:
    """What is known of the models of one read-out exponent p.

    Attributes
    ----------
    p : int
        Exponent of the read-out.
    dimensions : tuple of int
        Every d_osc that was measured.
    law : ScalingLaw or None
        Gap to the softmax twin on the dimensions below the first that has
        none; None if these are fewer than three.
    floored : FlooredLaw or None
        Perplexity with a fitted floor; None below four dimensions, or if
        the largest d_osc is not better than the smallest.
    meetings : dict of int to Meeting
        Where the family has the bits of the softmax model of each width.
    """

    p: int
    dimensions: tuple[int, ...]
    law: ScalingLaw | None
    floored: FlooredLaw | None
    meetings: dict[int, Meeting]

    @property
    def left_out(self) -> tuple[int, ...]:
        """Dimensions that the law of the gap does not speak of."""
        fitted = () if self.law is None else self.law.dimensions
        return tuple(d for d in self.dimensions if d not in fitted)


@dataclass(frozen=True)
class ScalingStudy:
    """Families of oscillator models beside softmax models.

    Attributes
    ----------
    width : int
        Of the oscillator models and of the softmax twin in the gaps.
    windows, tokens : int
        Windows that were scored, and bytes that every model was trained on.
    levels : tuple of Level
        Every model: softmax by width, then by p and d_osc.
    families : tuple of FamilyLaws
        One for each p.
    """

    width: int
    windows: int
    tokens: int
    levels: tuple[Level, ...]
    families: tuple[FamilyLaws, ...]


def scaling_study(
    members: Iterable[Member], *, resamples: int = RESAMPLES, seed: int = 0
) -> ScalingStudy:
    """Fit what can be fitted to trained models.

    Parameters
    ----------
    members : iterable of Member
        Of `oscsim.study.family.measure`.
    resamples : int
        Number of resamples of every interval.
    seed : int
        Of the resampling.

    Returns
    -------
    ScalingStudy

    Raises
    ------
    SpecError
        If there is no oscillator model, they have several widths, or their
        softmax twin is missing.
    """
    models = _grouped(members)
    widths = {m.width for (p, _), found in models.items() if p for m in found}
    if len(widths) != 1:
        raise SpecError(
            "a family of oscillator models has one width, got "
            f"{', '.join(map(str, sorted(widths))) or 'no oscillator model'}"
        )
    (width,) = widths
    softmax = {w: _bits(found) for (p, w), found in models.items() if not p}
    if width not in softmax:
        raise SpecError(
            f"there is no softmax twin of width {width}: give its checkpoint too"
        )
    families: dict[int, dict[int, FloatArray]] = {}
    for (p, d_osc), found in models.items():
        if p:
            families.setdefault(p, {})[d_osc] = _bits(found)
    some = next(iter(models.values()))[0]
    return ScalingStudy(
        width=width,
        windows=len(some.bits),
        tokens=some.tokens,
        levels=_levels(models, width, resamples, seed),
        families=tuple(
            family_laws(p, family, softmax, width, resamples=resamples, seed=seed)
            for p, family in families.items()
        ),
    )


def _grouped(members: Iterable[Member]) -> dict[tuple[int, int], list[Member]]:
    """Return members by (p, d_osc), softmax models by (0, width), in order."""
    found: dict[tuple[int, int], list[Member]] = {}
    for m in members:
        key = (0, m.width) if m.d_osc is None else (m.p, m.d_osc)
        found.setdefault(key, []).append(m)
    return dict(sorted(found.items()))


def _bits(found: Iterable[Member]) -> FloatArray:
    return np.stack([m.bits for m in found])


def _levels(
    models: Mapping[tuple[int, int], list[Member]],
    width: int,
    resamples: int,
    seed: int,
) -> tuple[Level, ...]:
    bits = [_bits(found) for found in models.values()]
    every = perplexities(bits, resamples=resamples, seed=seed)
    gaps = every - every[:, [list(models).index((0, width))]]
    return tuple(
        Level(
            d_osc=found[0].d_osc,
            p=p or None,
            width=found[0].width,
            trainings=len(found),
            parameters=found[0].parameters,
            bits=float(bits[k].mean()),
            perplexity=float(every[0, k]),
            gap=float(gaps[0, k]),
            gap95=interval95(gaps[1:, k]),
        )
        for k, ((p, _), found) in enumerate(models.items())
    )


def family_laws(
    p: int,
    family: Mapping[int, FloatArray],
    softmax: Mapping[int, FloatArray],
    width: int,
    *,
    moved: Mapping[int, FloatArray] | None = None,
    has_floor: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> FamilyLaws:
    """Fit what can be fitted to the models of one read-out exponent.

    Parameters
    ----------
    p : int
        Exponent of the read-out.
    family : mapping of int to FloatArray, shape (seeds, windows)
        Bits per byte of every window for each d_osc and training.
    softmax : mapping of int to FloatArray, shape (seeds, windows)
        The same of the softmax models, by width.
    width : int
        Of the softmax twin that the gap is taken to.
    moved : mapping of int to FloatArray, shape (resamples, seeds), optional
        As of `oscsim.study.resample.perplexities`, by d_osc.
    has_floor : bool
        Whether to fit a floor too, where it can be.
    resamples, seed : int
        Of every interval.

    Raises
    ------
    SpecError
        If the models were measured on different numbers of windows.
    """
    dimensions, twin = tuple(sorted(family)), softmax[width]
    order = [family[d] for d in dimensions]
    *measured, level = perplexities([*order, twin], resamples=0)[0]
    worse = list(takewhile(lambda k: measured[k] > level, range(len(order))))
    below = {dimensions[k]: order[k] for k in worse}
    again: dict[str, Any] = {"moved": moved, "resamples": resamples, "seed": seed}
    fits = has_floor and len(order) > 3 and measured[-1] < measured[0]
    return FamilyLaws(
        p=p,
        dimensions=dimensions,
        law=scaling_law(below, twin, **again) if len(below) > 2 else None,
        floored=floored_law(family, twin, **again) if fits else None,
        meetings={
            w: meeting(family, bits, **again)
            for w, bits in softmax.items()
            if len(order) > 1
        },
    )
