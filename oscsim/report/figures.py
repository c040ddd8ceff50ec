"""Every figure of the package: a function of a result, without global state."""

from oscsim.report.attention_figure import attention_figure
from oscsim.report.energy_figure import energy_figure
from oscsim.report.oscillator_figures import (
    angle_figure,
    drive_figure,
    settling_figure,
)
from oscsim.report.run_figures import accuracy_figure
from oscsim.report.study_figures import convergence_figure, robustness_figure

__all__ = [
    "accuracy_figure",
    "angle_figure",
    "attention_figure",
    "convergence_figure",
    "drive_figure",
    "energy_figure",
    "robustness_figure",
    "settling_figure",
]
