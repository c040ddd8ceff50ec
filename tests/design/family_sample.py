"""Sweeps over families whose law, trainings and chips are known."""

import numpy as np

from oscsim.design.subject import Known
from oscsim.design.table import CellResult, SweepTable

DIMENSIONS = (2, 4, 8, 16, 32)
WINDOWS, CHIPS = 200, 6
SOFTMAX = 5.0
NOISES = (0.0, 0.01, 0.1)
TRAINED = {"tokens": 100, "recipe": {"steps": 1}}


def family_table(
    perplexity,
    *,
    seeds=3,
    noises=NOISES,
    spread=0.0,
    own=0.0,
    of_chip=0.0,
    seed=1,
    twins=3,
    metric="bits_per_byte",
    dimensions=DIMENSIONS,
):
    """Cells of perplexity(d, noise) and twins of `SOFTMAX`.

    ``spread`` is the deviation between trainings, ``own`` of a window in one model,
    ``of_chip`` of a chip common to all models (bits); ``seeds`` a number, or one by
    d_osc.
    """
    draw = np.random.default_rng(seed)
    common = draw.normal(0, 0.3, WINDOWS)
    common -= common.mean()
    chip = of_chip * draw.normal(size=CHIPS)
    subjects, known, cells = {}, {}, []

    def model(name, config, number, level, is_twin):
        subjects[name] = {
            "config": {"d_model": 64, **config},
            "is_twin": is_twin,
            "training": {"seed": number, **TRAINED},
            "sha256": name,
            "metric": metric,
            "items": WINDOWS,
            "data_sha256": "data",
            "baselines": {},
        }
        shift = spread * draw.normal()
        alone = own * draw.normal(size=WINDOWS)
        bits = np.log2(level) + shift + common + alone - alone.mean()
        quantiles = np.tile(np.linspace(0.2, 3, 201)[:, None], 2)
        known[name] = Known(bits, np.ones(WINDOWS, bool), quantiles)
        return bits

    for number in range(twins):
        config = {"attention": "softmax", "p": 1, "d_osc": None}
        model(f"softmax-s{number}", config, number, SOFTMAX, True)
    for d in dimensions:
        for number in range(seeds if isinstance(seeds, int) else seeds[d]):
            name = f"osc-d{d}-s{number}"
            config = {"attention": "oscillator", "p": 4, "d_osc": d}
            bits = model(name, config, number, perplexity(d, noises[0]), False)
            for noise in noises:
                more = np.log2(perplexity(d, noise) / perplexity(d, noises[0]))
                items = bits + more + chip.mean()
                cells.append(
                    CellResult(
                        digest=f"{len(cells):08x}",
                        subject=name,
                        point={"relative_diffusion": noise},
                        values=items.mean() - chip.mean() + chip,
                        chips=np.arange(CHIPS),
                        items=items,
                        joules=None,
                        latency_s=None,
                        clipped=0.0,
                        zeroed=0.0,
                        undriven=0.0,
                        unsettled=0.0,
                    )
                )
    return SweepTable(
        name="made",
        metric=metric,
        spec={"name": "made", "design": "grid"},
        versions={"oscsim": "0"},
        subjects=subjects,
        known=known,
        cells=tuple(cells),
        missing=0,
    )
