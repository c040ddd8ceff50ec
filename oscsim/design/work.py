"""One chip of one cell: the unit of work that is scheduled, stored and resumed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np

from oscsim.bridge.engine import chip_passes
from oscsim.bridge.passes import AnyPass, Outcome
from oscsim.bridge.placement import place
from oscsim.counts import Counts
from oscsim.design.cells import Cell
from oscsim.design.subject import Subject
from oscsim.design.unpriced import why_no_price
from oscsim.energy.components import Library
from oscsim.energy.ledger import account
from oscsim.energy.prices import Prices
from oscsim.errors import EvaluationError
from oscsim.models.fixed_query import Pass
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Task:
    """One chip of one cell.

    Attributes
    ----------
    cell : Cell
        What is run.
    chip : int
        Number of the static draw.
    repeats : int
        Dynamic draws on it.
    """

    cell: Cell
    chip: int
    repeats: int


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What one chip of one cell gave.

    Attributes
    ----------
    value : float
        The metric: mean over counted items and repeats.
    items : FloatArray, shape (items,)
        Number of each item, mean over repeats.
    clipped, zeroed, undriven, unsettled : float
        Shares of the couplings clipped and lost, of the oscillators without a
        drive, and of those that needed longer than they were given.
    joules : tuple of float, or None
        p10, p50 and p90 of the system total per token; None without prices, and
        of chips after the first, which cost the same.
    failure : str
        Why there is no result; empty if there is one. The value is then NaN.
    seconds : float
        Processor time of the process meanwhile (s); no part of the result.
    """

    value: float
    items: FloatArray
    clipped: float
    zeroed: float
    undriven: float
    unsettled: float
    joules: tuple[float, float, float] | None
    failure: str
    seconds: float


def work(subjects: Mapping[str, Subject], task: Task) -> Outcomes:
    """Run one chip of one cell.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name, loaded once.
    task : Task
        What to run.

    Returns
    -------
    Outcomes
        The same bits in any process, in any order. A chip that leaves the range
        of float64 gives a failure, which is a result like any other.
    """
    started = process_time()
    subject = subjects[task.cell.subject]
    tally, counts = SettleTally(), Counts()
    try:
        runs = []
        with subject.engine.running():
            make = _passes(subject, task)
            for repeat in range(task.repeats):
                outcome, tallied = _run(subject, make, repeat)
                runs.append(outcome.logits)
                counts += outcome.counts
                tally += tallied
    except EvaluationError as error:
        nothing = np.full(len(subject.data), np.nan)
        spent = process_time() - started
        return Outcomes(np.nan, nothing, 0.0, 0.0, 0.0, 0.0, None, str(error), spent)
    items = np.mean(runs, axis=0)
    return Outcomes(
        value=float(items[subject.counted].mean()),
        items=items,
        clipped=_share(tally.clipped, tally.couplings),
        zeroed=_share(tally.zeroed, tally.couplings),
        undriven=_share(tally.undriven, tally.oscillators),
        unsettled=_share(tally.unsettled, tally.oscillators),
        joules=_joules(task.cell, counts) if task.chip == 0 else None,
        failure="",
        seconds=process_time() - started,
    )


MakePass = Callable[[int, SettleTally], AnyPass]


def _passes(subject: Subject, task: Task) -> MakePass:
    """Draw the chip and return what makes a pass of one of its repeats."""
    cell, layers = task.cell, subject.calibration.layers
    if cell.placement is None:
        config = subject.checkpoint.config
        return chip_passes(config, cell.setting, layers, task.chip)
    chip = place(cell.placement, layers, seed=cell.setting.seed, chip=task.chip)
    return lambda repeat, tally: Pass(chip.settle(repeat, tally))


def _run(subject: Subject, make: MakePass, repeat: int) -> tuple[Outcome, SettleTally]:
    tally = SettleTally()
    outcome = subject.engine.run(partial(make, repeat, tally), subject.score())
    return outcome, tally


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _joules(cell: Cell, counts: Counts) -> tuple[float, float, float] | None:
    """Return what a token costs, None where nothing has a price.

    `oscsim.design.unpriced.why_no_price` says why: cells with more bits than the
    laws of prices cover, for example, would look too cheap.
    """
    if why_no_price(cell):
        return None
    library = Library.load()
    prices = Prices.of_device(cell.setting.acting_device, library)
    ledger = account(counts, prices, library)
    found = ledger.range_j("system")
    return found.p10, found.p50, found.p90
