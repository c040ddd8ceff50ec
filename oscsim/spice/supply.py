"""Energy that supplies deliver and resistors turn into heat, and recipes for both."""

from dataclasses import dataclass

import numpy as np

from oscsim.errors import SpecError
from oscsim.spice.waveforms import supply_energy
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class SupplyComparison:
    """The energy of one part of a circuit, measured and by the recipe.

    Attributes
    ----------
    name : str
        Circuit and part.
    seconds : float
        Over how long (s): the settling time, or whole periods.
    measured_j : float
        From the waveforms (J).
    recipe_j : float
        Of the component's recipe with the circuit's own values (J).
    component : str
        Whose recipe.
    explained : float
        The ratio that the reason gives.
    reason : str
        Why the ratio is not 1.
    """

    name: str
    seconds: float
    measured_j: float
    recipe_j: float
    component: str
    explained: float
    reason: str

    @property
    def ratio(self) -> float:
        """Measured over recipe."""
        return self.measured_j / self.recipe_j


def ring_cycle(n_stages: int, farad: float, volts: float) -> float:
    """Return C V^2 per stage and period (J), the recipe of ``osc.ring_cycle_45``.

    Parameters
    ----------
    n_stages : int
        Stages of the ring.
    farad : float
        Capacitance of a stage (F).
    volts : float
        Supply (V).
    """
    return n_stages * farad * volts**2


def coupler_power(swing: float, ohm: float) -> float:
    """Return (V/2)^2 / R (W), the recipe of ``cpl.res_power``.

    Parameters
    ----------
    swing : float
        V, from the lowest to the highest voltage of an oscillator (V).
    ohm : float
        R (ohm).
    """
    return (swing / 2) ** 2 / ohm


def resistor_energy(
    time: FloatArray, first: FloatArray, second: FloatArray, ohm: float
) -> float:
    """Return the energy (J) that a resistor between two nodes turned into heat.

    Parameters
    ----------
    time, first, second : FloatArray, shape (n_points,)
        Times (s) in uneven steps, and the voltages of its ends (V).
    ohm : float
        R (ohm).
    """
    across = first - second
    return supply_energy(time, across, -across / ohm)


def settling_time(time: FloatArray, values: FloatArray, tolerance: float) -> float:
    """Return from when on a signal stays near its end (s).

    Parameters
    ----------
    time, values : FloatArray, shape (n_points,)
        Times (s) and the signal.
    tolerance : float
        How near, in the signal's unit.

    Raises
    ------
    SpecError
        If it is not above 0, or the last tenth of the run still moves more.
    """
    away = np.abs(values - values[-1]) > tolerance
    at = int(np.flatnonzero(away)[-1]) + 1 if away.any() else 0
    if not tolerance > 0 or time[at] > time[-1] - (time[-1] - time[0]) / 10:
        raise SpecError(
            "a signal settles if it stays within a tolerance above 0, got "
            f"{tolerance:g} and {time[at]:g} s of {time[-1]:g}: run longer"
        )
    return float(time[at])
