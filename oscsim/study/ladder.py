"""The ladder: the same checkpoint and inputs at rising fidelity."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.compare import AnyComparison, compare
from oscsim.bridge.engine import Progress
from oscsim.bridge.infer import AnyRun, Data, as_data, infer
from oscsim.bridge.language import LanguageRun
from oscsim.bridge.setting import Setting, update_of
from oscsim.models.fixed_query import ReadOut
from oscsim.substrate.device import RUNGS, Device, Rung, as_device
from oscsim.substrate.phase_chip import Ranging
from oscsim.substrate.phase_update import How
from oscsim.typing import IntArray


@dataclass(frozen=True, eq=False)
class Step:
    """One rung and its deviation from the rung below.

    Attributes
    ----------
    rung : str
        Name of the rung.
    comparison : Comparison or LanguageComparison
        Against the digital model.
    decisions_changed : float
        Fraction of decisions that differ from the rung below, item by item on
        the same chip and repeat; 0 for the first rung. The decision of a
        language model is the most probable byte.
    rms_change : float
        Root mean square change from the rung below: of the logit, or of the
        bits per token of a language model.
    """

    rung: Rung
    comparison: AnyComparison
    decisions_changed: float
    rms_change: float


@dataclass(frozen=True, eq=False)
class Ladder:
    """All rungs of one checkpoint on one device.

    Attributes
    ----------
    steps : tuple of Step
        From the digital model to the whole chip; fewer if interrupted.
    device : Device
        The hardware.
    chips, repeats, seed : int
        What every rung was run with.
    """

    steps: tuple[Step, ...]
    device: Device
    chips: int
    repeats: int
    seed: int

    @property
    def interrupted(self) -> bool:
        """Whether rungs are missing."""
        return len(self.steps) < len(RUNGS)

    def to_dict(self, checkpoint: str) -> dict[str, Any]:
        """Return the ladder as plain data, ready for JSON."""
        return {
            "checkpoint": checkpoint,
            "device": self.device.name,
            "chips": self.chips,
            "repeats": self.repeats,
            "seed": self.seed,
            "rungs": [
                {
                    "rung": step.rung,
                    "metric": step.comparison.metric,
                    "substrate": step.comparison.substrate,
                    "ci95": step.comparison.ci95 and list(step.comparison.ci95),
                    "agreement": step.comparison.agreement,
                    "max_abs_error": step.comparison.max_abs_error,
                    "decisions_changed": step.decisions_changed,
                    "rms_change": step.rms_change,
                    "unsettled": step.comparison.tally.unsettled,
                    "oscillators": step.comparison.tally.oscillators,
                }
                for step in self.steps
            ],
        }


def ladder(
    checkpoint: Checkpoint,
    data: Data | str | Path | None = None,
    *,
    device: Device | str | Path | None = None,
    chips: int = 4,
    repeats: int = 2,
    seed: int = 0,
    windows: int | None = None,
    context: int | None = None,
    readout: ReadOut = "direct",
    update: How | None = None,
    ranging: Ranging = "fixed",
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Ladder:
    """Run every rung on the same chips and report what each one adds.

    Random numbers are shared between rungs, so that differences are paired:
    the same starts at ``finite``, ``noisy`` and ``device``.

    Parameters
    ----------
    checkpoint : Checkpoint
        An oscillator model; a softmax twin has only the first rung.
    data : TokenSet, DigitSet, ByteText or path, optional
        Inputs; the bundled evaluation set by default.
    device : Device, name or path, optional
        The hardware; the default preset for the checkpoint's d_osc.
    chips, repeats, seed, windows, context, readout
        As in `oscsim.bridge.infer.infer`.
    update, ranging
        The same, on the rungs above ``digital``.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (rungs done, rungs).

    Returns
    -------
    Ladder
        Ctrl-C keeps the rungs that were done.

    Raises
    ------
    SpecError, DeviceError
        As `oscsim.bridge.infer.infer`.
    KeyboardInterrupt
        If interrupted before the first rung was done.
    """
    hardware = as_device(device, checkpoint.d_osc)
    inputs = as_data(data, checkpoint, windows, context)
    update = update_of(checkpoint, "device", update)
    if (update, ranging) != ("map", "fixed"):
        setting = Setting(hardware, seed=seed, update=update, ranging=ranging)
        setting.require(checkpoint)
    tick = progress or (lambda _done, _asked: None)
    steps: list[Step] = []
    below: AnyRun | None = None
    try:
        for number, rung in enumerate(RUNGS):
            tick(number, len(RUNGS))
            run = infer(
                checkpoint,
                inputs,
                device=hardware,
                rung=rung,
                chips=chips,
                repeats=repeats,
                seed=seed,
                readout=readout,
                update="map" if rung == "digital" else update,
                ranging="fixed" if rung == "digital" else ranging,
                n_threads=n_threads,
            )
            if run.interrupted:
                break
            steps.append(_step(rung, run, run if below is None else below))
            below = run
        else:
            tick(len(RUNGS), len(RUNGS))
    except KeyboardInterrupt:
        if not steps:
            raise
    return Ladder(tuple(steps), hardware, chips, repeats, seed)


def _step(rung: Rung, run: AnyRun, below: AnyRun) -> Step:
    change = run.outputs - below.outputs
    return Step(
        rung=rung,
        comparison=compare(run),
        decisions_changed=float(np.mean(_decisions(run) != _decisions(below))),
        rms_change=float(np.sqrt(np.mean(change**2))),
    )


def _decisions(run: AnyRun) -> IntArray:
    """Return the most probable bytes, or what the logits decide."""
    return run.top if isinstance(run, LanguageRun) else run.decided(run.logits)
