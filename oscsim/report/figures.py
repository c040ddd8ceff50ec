"""Every figure of the package: a function of a result, without global state."""

from oscsim.report.attention_figure import attention_figure
from oscsim.report.energy_figure import energy_figure
from oscsim.report.mismatch_figure import mismatch_figure
from oscsim.report.noise_figure import noise_figure
from oscsim.report.oscillator_figures import (
    angle_figure,
    drive_figure,
    settling_figure,
)
from oscsim.report.phase_figure import phase_layers_figure
from oscsim.report.robustness_figure import robustness_figure
from oscsim.report.run_figures import accuracy_figure
from oscsim.report.scaling_figure import scaling_figure
from oscsim.report.sphere_figure import sphere_figure
from oscsim.report.study_figures import (
    Agreement,
    agreement_figure,
    convergence_figure,
)
from oscsim.report.trajectory_figures import (
    locking_figure,
    order_parameter_figure,
    phase_raster_figure,
)

__all__ = [
    "Agreement",
    "accuracy_figure",
    "agreement_figure",
    "angle_figure",
    "attention_figure",
    "convergence_figure",
    "drive_figure",
    "energy_figure",
    "locking_figure",
    "mismatch_figure",
    "noise_figure",
    "order_parameter_figure",
    "phase_layers_figure",
    "phase_raster_figure",
    "robustness_figure",
    "scaling_figure",
    "settling_figure",
    "sphere_figure",
]
