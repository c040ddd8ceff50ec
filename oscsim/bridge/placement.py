"""Layers and heads of one model on different hardware, or kept digital."""

from collections.abc import Sequence
from dataclasses import dataclass

from oscsim.counts import Counts
from oscsim.errors import SpecError
from oscsim.models.fixed_query import settle_digital
from oscsim.substrate.device import Device
from oscsim.substrate.drive import Drive, Settle
from oscsim.substrate.mismatch import Chip, Programming, program
from oscsim.substrate.settle import settle_on
from oscsim.substrate.tally import SettleTally
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class Placement:
    """Where each layer and head of a fixed-query model runs.

    Attributes
    ----------
    devices : tuple of Device
        Hardware of each attention layer.
    digital : frozenset of (int, int)
        (layer, head) pairs that stay digital, ``z = h / |h|``.
    """

    devices: tuple[Device, ...]
    digital: frozenset[tuple[int, int]] = frozenset()

    def require(self, n_layers: int, n_heads: int) -> None:
        """Check that a model has these layers and heads.

        Raises
        ------
        SpecError
            If it has another number of layers, or no such head.
        """
        if len(self.devices) != n_layers:
            raise SpecError(
                f"a placement names {len(self.devices)} layers, the model has "
                f"{n_layers}"
            )
        for layer, head in sorted(self.digital):
            if not (0 <= layer < n_layers and 0 <= head < n_heads):
                raise SpecError(
                    f"there is no layer {layer} head {head}: the model has layers "
                    f"0..{n_layers - 1} and heads 0..{n_heads - 1}"
                )


@dataclass(frozen=True)
class PlacedChip:
    """One static draw of every device of a placement.

    The same layer of the same device and chip number is the same draw, whatever
    stands in the other layers.

    Attributes
    ----------
    placement : Placement
        What runs where.
    chips : tuple of Chip
        The draw that each layer runs on.
    """

    placement: Placement
    chips: tuple[Chip, ...]

    def settle(self, repeat: int, tally: SettleTally) -> Settle:
        """Return the ``settle`` of this chip in one repeat.

        A layer with digital and other heads runs whole on the chip, and its
        digital heads are replaced: the tally holds them too.

        Parameters
        ----------
        repeat : int
            Number of the dynamic draw.
        tally : SettleTally
            Filled with what happened on the chips.
        """
        on_chip = [settle_on(chip, repeat, tally) for chip in self.chips]
        digital = self.placement.digital

        def settle(drive: Drive, counts: Counts) -> FloatArray:
            n_heads = drive.coupling.shape[1]
            kept = [h for h in range(n_heads) if (drive.layer, h) in digital]
            if len(kept) == n_heads:
                return settle_digital(drive, counts)
            states = on_chip[drive.layer](drive, counts)
            if kept:
                states[:, kept] = settle_digital(drive, Counts())[:, kept]
            return states

        return settle


def place(
    placement: Placement, layers: Sequence[Programming], *, seed: int, chip: int
) -> PlacedChip:
    """Draw one chip of every device of a placement.

    Parameters
    ----------
    placement : Placement
        What runs where.
    layers : sequence of Programming
        Anchors and scales of each layer.
    seed, chip : int
        Of the static draws.

    Raises
    ------
    SpecError
        If the placement names another number of layers.
    """
    if len(placement.devices) != len(layers):
        raise SpecError(
            f"a placement names {len(placement.devices)} layers, the model has "
            f"{len(layers)}"
        )
    drawn: list[tuple[Device, Chip]] = []
    chips: list[Chip] = []
    for device in placement.devices:
        known = next((found for other, found in drawn if other is device), None)
        if known is None:
            known = program(device, layers, seed=seed, chip=chip)
            drawn.append((device, known))
        chips.append(known)
    return PlacedChip(placement, tuple(chips))
