"""On what a checkpoint is run, checked before anything starts."""

from dataclasses import dataclass
from numbers import Integral

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.errors import SpecError
from oscsim.substrate.device import RUNGS, Device, Rung
from oscsim.substrate.perturb import Perturbation

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
    """

    device: Device
    rung: Rung = "device"
    seed: int = 0
    perturbation: Perturbation | None = None

    def __post_init__(self) -> None:
        if self.rung not in RUNGS:
            raise SpecError(f"unknown rung {self.rung!r}: one of {', '.join(RUNGS)}")
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
            If the checkpoint has no oscillators and the rung needs them.
        DeviceError
            If the device cannot hold its d_osc.
        """
        if self.rung == "digital":
            return
        d_osc = checkpoint.config.d_osc
        if d_osc is None:
            raise SpecError(
                f"{checkpoint.name} is a softmax model and has no oscillators: "
                "only the rung digital can run it"
            )
        self.device.require_d_osc(d_osc)
