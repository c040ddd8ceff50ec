"""On what a checkpoint is run, checked before anything starts."""

from dataclasses import dataclass
from numbers import Integral
from typing import get_args

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.phases import phase_model
from oscsim.errors import DeviceError, SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.models.fixed_query import ReadOut
from oscsim.models.kuramoto_config import KuramotoConfig
from oscsim.substrate.device import DIGITAL_RATES, RUNGS, SIZES, Device, Rung
from oscsim.substrate.perturb import Perturbation
from oscsim.substrate.phase_chip import Ranging, require_phases
from oscsim.substrate.phase_update import How

SEED_END = 1 << 32


@dataclass(frozen=True)
class Setting:
    """On what a checkpoint is run.

    Attributes
    ----------
    device : Device
        The hardware.
    rung : {"digital", "ideal", "finite", "noisy", "device"}
        Which of its imperfections act.
    seed : int
        Seed of all draws, 0..2^32 - 1.
    perturbation : Perturbation or None
        A published perturbation of the ideal substrate; every chip number is
        then one more independent redraw.
    readout : {"direct", "prefix"}
        How the value sum is done: pair by pair, or in prefix sums (p = 1).
    update : {"map", "flow"}
        Kuramoto attention: the trained step in the chip's field, or what an
        oscillator does in it.
    ranging : {"fixed", "row"}
        Kuramoto attention: whether a softmax weight of 1 or the largest of its
        row is loaded as full scale.
    """

    device: Device
    rung: Rung = "device"
    seed: int = 0
    perturbation: Perturbation | None = None
    readout: ReadOut = "direct"
    update: How = "map"
    ranging: Ranging = "fixed"

    def __post_init__(self) -> None:
        if self.rung not in RUNGS:
            raise SpecError(f"unknown rung {self.rung!r}: one of {', '.join(RUNGS)}")
        if self.readout not in get_args(ReadOut):
            raise SpecError(
                f"unknown read-out {self.readout!r}: one of "
                f"{', '.join(get_args(ReadOut))}"
            )
        if self.update not in get_args(How):
            raise SpecError(
                f"unknown update {self.update!r}: one of {', '.join(get_args(How))}"
            )
        if self.ranging not in get_args(Ranging):
            raise SpecError(
                f"unknown ranging {self.ranging!r}: one of "
                f"{', '.join(get_args(Ranging))}"
            )
        is_whole = isinstance(self.seed, Integral)
        if not is_whole or isinstance(self.seed, bool) or not 0 <= self.seed < SEED_END:
            raise SpecError(f"seed must be in 0..2^32 - 1, got {self.seed}")
        perfect = self.rung == "ideal" or not self.device.imperfections
        if self.perturbation is not None and (self.rung == "digital" or not perfect):
            raise SpecError(
                "a published perturbation acts on the ideal substrate: use device "
                f"ideal, got device {self.device.name} at rung {self.rung}"
            )

    @property
    def acting_device(self) -> Device:
        """The device with the imperfections of the rung left on."""
        return self.device.at_rung("ideal" if self.rung == "digital" else self.rung)

    def require(self, checkpoint: Checkpoint) -> None:
        """Check that this checkpoint can be run here.

        Raises
        ------
        SpecError
            If the checkpoint has no oscillators and the rung needs them, or its
            read-out does not factor into prefix sums.
        DeviceError
            If the device cannot hold its d_osc.
        """
        config = checkpoint.config
        timed = [field for field in DIGITAL_RATES if field in self.device.changes]
        if timed:
            raise DeviceError(
                f"{timed[0]} cannot act in a run, whose digital part is not timed: "
                "oscsim energy times that of fixed-query attention"
            )
        if self.readout == "prefix":
            _require_factors(checkpoint)
        if self.update != "map":
            _require_phases("an update as flow", checkpoint, self.rung)
        if self.ranging != "fixed":
            _require_phases("ranging by row", checkpoint, self.rung)
        if self.rung == "digital":
            return
        if isinstance(config, KuramotoConfig):
            self._require_kuramoto(checkpoint.name, config)
            return
        if "winding_counter" in self.device.changes:
            raise DeviceError(
                "winding_counter cannot act: only Kuramoto attention carries phases "
                "from layer to layer"
            )
        if not isinstance(config, FixedQueryConfig):
            raise SpecError(
                f"{checkpoint.name} is a {config.family} model: only the rung digital "
                "can run it"
            )
        if config.d_osc is None:
            raise SpecError(
                f"{checkpoint.name} is a softmax model and has no oscillators: "
                "only the rung digital can run it"
            )
        self.device.require_d_osc(config.d_osc)

    def _require_kuramoto(self, name: str, config: KuramotoConfig) -> None:
        if self.perturbation is not None:
            raise SpecError(
                f"the published perturbations are of fixed-query attention, {name} is "
                "Kuramoto attention: change the device instead"
            )
        changed = self.device.changes
        sized = [field for field in SIZES if field in changed]
        if sized:
            raise DeviceError(
                f"{sized[0]} cannot act: arrays of a given size are for fixed-query "
                f"attention, {name} is Kuramoto attention"
            )
        require_phases(
            self.acting_device, phase_model(config, ranging=self.ranging), changed
        )

    def require_readout(self, illegal: int) -> None:
        """Check that prefix sums, if asked for, equal the direct read-out.

        Raises
        ------
        SpecError
            With the number of pairs at which they do not.
        """
        if self.readout == "prefix" and illegal:
            raise SpecError(
                f"the read-out in prefix sums is not this model's: 1 + z.r is negative "
                f"for {illegal:,} pairs and the clamp acts; use the read-out direct"
            )


def update_of(checkpoint: Checkpoint, rung: Rung, update: How | None) -> How:
    """Return the update asked for, or on a chip the one that the model knows.

    Without a choice, Kuramoto attention that was trained as a flow flows; every
    other model takes the trained step.
    """
    if update is not None:
        return update
    config = checkpoint.config
    is_flow = isinstance(config, KuramotoConfig) and config.update == "flow"
    return "flow" if is_flow and rung != "digital" else "map"


def _require_phases(what: str, checkpoint: Checkpoint, rung: Rung) -> None:
    if not isinstance(checkpoint.config, KuramotoConfig) or rung == "digital":
        raise SpecError(
            f"{what} is what Kuramoto attention does on a chip, got "
            f"{checkpoint.name} at rung {rung}"
        )


def _require_factors(checkpoint: Checkpoint) -> None:
    config = checkpoint.config
    if not isinstance(config, FixedQueryConfig) or config.d_osc is None:
        raise SpecError(
            f"{checkpoint.name} has no oscillator read-out: prefix sums are for "
            "fixed-query oscillator models with p = 1"
        )
    if config.p != 1:
        raise SpecError(
            f"the read-out of {checkpoint.name} has p = {config.p}: it factors into "
            "prefix sums for p = 1 only"
        )
