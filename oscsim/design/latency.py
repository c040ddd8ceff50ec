"""Seconds per token of the cells of a sweep."""

from collections.abc import Mapping

from oscsim.bridge.array import latency_per_token, takes_time
from oscsim.bridge.infer import existing_lengths
from oscsim.design.cells import Cell
from oscsim.design.subject import Subject
from oscsim.models.config import FixedQueryConfig


class Latencies:
    """Seconds per token on the substrate, which all chips of a cell share.

    Parameters
    ----------
    subjects : mapping of str to Subject
        Checkpoints by name.
    """

    def __init__(self, subjects: Mapping[str, Subject]) -> None:
        self.subjects = subjects
        self.known: dict[str, float | None] = {}

    def of(self, cell: Cell) -> float | None:
        """Return it for a cell, None where settling takes no finite time."""
        if cell.digest not in self.known:
            self.known[cell.digest] = self._of(cell)
        return self.known[cell.digest]

    def _of(self, cell: Cell) -> float | None:
        subject = self.subjects[cell.subject]
        config, data = subject.checkpoint.config, subject.data
        if not isinstance(config, FixedQueryConfig) or cell.digital_layers is None:
            return None
        if not takes_time(cell.setting):
            return None
        n_layers = config.n_layers - cell.digital_layers
        if not n_layers:
            return 0.0
        config = config.model_copy(update={"n_layers": n_layers})
        lengths = existing_lengths(config, data)
        return latency_per_token(cell.setting.device, config, lengths)
