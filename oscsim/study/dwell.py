"""Kuramoto attention as the trained map and as a physical dwell, on ideal and real."""

from collections.abc import Callable
from typing import NamedTuple

from oscsim.bridge.checkpoint import Checkpoint, load_checkpoint
from oscsim.bridge.compare import compare
from oscsim.bridge.infer import infer
from oscsim.bridge.text_data import ByteText
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import Device
from oscsim.substrate.phase_chip import Ranging
from oscsim.substrate.phase_update import How


class DwellRow(NamedTuple):
    """Bits per byte of one way to update the phases.

    Attributes
    ----------
    on : str
        Device, or ``"digital"``.
    update : str
        ``"map"``: the trained step; ``"flow"``: a dwell of the time r |v|, r the
        bound of the update, which is the same to first order in v.
    self_term : str
        Of a flow: whether a token's own copy is latched (``"frozen"``) or turns
        with it (``"co-rotating"``); otherwise ``"-"``.
    ranging : str
        Which softmax weight is full scale: 1 (``"fixed"``), or the largest of its
        row.
    bits : float
        Bits per byte, mean over chips.
    difference, error : float
        Bits more than digital, and its standard error over windows (paired).
    agreement : float
        Share of the bytes whose most probable one is the digital model's.
    """

    on: str
    update: str
    self_term: str
    ranging: str
    bits: float
    difference: float
    error: float
    agreement: float


def dwell_rows(
    model: Checkpoint,
    text: ByteText,
    device: Device,
    *,
    chips: int = 4,
    seed: int = 0,
    n_threads: int | None = None,
    on_row: Callable[[DwellRow], None] = lambda _: None,
) -> list[DwellRow]:
    """Run a model digitally, then as map and as flow on ideal and real hardware.

    Parameters
    ----------
    model : Checkpoint
        Kuramoto attention, read from a file: its ``self_term`` is varied.
    text : ByteText
        Windows, the same for all.
    device : Device
        The real hardware, beside the ideal one.
    chips : int
        Static draws of it; one repeat each.
    seed : int
        Seed of all draws; chips are the same in every row.
    n_threads : int, optional
        Threads; the result does not depend on it.
    on_row : callable
        Called with each row as it is done.

    Returns
    -------
    list of DwellRow

    Raises
    ------
    SpecError
        If the model is not Kuramoto attention.
    DeviceError
        If the device has no phases.
    """
    if not isinstance(model.config, KuramotoConfig):
        raise SpecError(
            f"{model.name} is a {model.config.family} model: only Kuramoto attention "
            "dwells in a field"
        )
    trained = model.config.update
    rows: list[DwellRow] = []

    def measure(
        hardware: Device, update: How, self_term: str, ranging: Ranging
    ) -> None:
        config = {**model.given, "self_term": self_term}
        run = infer(
            model if self_term == "-" else load_checkpoint(model.path, config),
            text,
            device=hardware,
            chips=chips if hardware.imperfections else 1,
            repeats=1,
            seed=seed,
            update=update,
            ranging=ranging,
            n_threads=n_threads,
        )
        if run.interrupted:
            raise KeyboardInterrupt
        found = compare(run)
        if not rows:
            rows.append(
                DwellRow("digital", trained, "-", "-", found.digital, 0.0, 0.0, 1.0)
            )
            on_row(rows[0])
        rows.append(
            DwellRow(
                hardware.label,
                update,
                self_term,
                ranging,
                found.substrate,
                found.difference,
                found.difference_error,
                found.agreement,
            )
        )
        on_row(rows[-1])

    ideal = Device.load("ideal")
    measure(ideal, "map", "-", "fixed")
    for self_term in ("frozen", "co-rotating"):
        measure(ideal, "flow", self_term, "fixed")
    for ranging in ("fixed", "row"):
        measure(device, "map", "-", ranging)
        for self_term in ("frozen", "co-rotating"):
            measure(device, "flow", self_term, ranging)
    return rows
