"""One call that draws any result."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from oscsim.arrays import shown
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import Cost
from oscsim.bridge.infer import Run
from oscsim.bridge.maps import AttentionMaps
from oscsim.errors import SpecError
from oscsim.report.attention_figure import attention_figure
from oscsim.report.energy_figure import energy_figure
from oscsim.report.oscillator_figures import drive_figure, settling_figure
from oscsim.report.phase_figure import phase_layers_figure
from oscsim.report.robustness_figure import robustness_figure
from oscsim.report.run_figures import accuracy_figure
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
from oscsim.solve.trajectory import Trajectory
from oscsim.study.convergence import Convergence
from oscsim.study.phase_layers import PhaseLayers
from oscsim.study.robustness import Robustness

_KINDS: dict[type, dict[str, Callable[..., Figure]]] = {
    Trajectory: {
        "raster": phase_raster_figure,
        "order": order_parameter_figure,
        "locking": locking_figure,
        "sphere": sphere_figure,
    },
    Run: {
        "accuracy": lambda run: accuracy_figure(run, compare(run)),
        "drive": lambda run: drive_figure(compare(run), run.setting.device),
        "settling": lambda run: settling_figure(compare(run), run.setting.device),
    },
    Cost: {"energy": energy_figure},
    AttentionMaps: {"attention": attention_figure},
    Robustness: {"robustness": robustness_figure},
    Convergence: {"convergence": convergence_figure},
    Agreement: {"agreement": agreement_figure},
    PhaseLayers: {"layers": phase_layers_figure},
}
_OF_SEVERAL = (Robustness, Convergence, Agreement, PhaseLayers)


def plot(result: Any, kind: str | None = None, **options: Any) -> Figure:
    """Draw a result; write the figure with its ``savefig``.

    Parameters
    ----------
    result : object
        What to draw: a Trajectory, Run, Cost or AttentionMaps, or a Robustness,
        Convergence, Agreement or PhaseLayers, of which also a list.
    kind : str, optional
        Which figure, the first named here if absent. Trajectory: ``raster``,
        ``order``, ``locking`` (takes ``omega``), ``sphere``. Run: ``accuracy``,
        ``drive``, ``settling``. The others have one.
    **options : dict
        Passed to the function that draws, in `oscsim.report.figures`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    SpecError
        If there is no figure of such a result or none of that kind, an option is
        not one of the figure's, or one that it needs is absent.
    """
    several = isinstance(result, Sequence) and not isinstance(result, str)
    is_list = several and not isinstance(result, Agreement)
    first = result[0] if is_list and len(result) else result
    for known, kinds in _KINDS.items():
        if not isinstance(first, known) or (is_list and known not in _OF_SEVERAL):
            continue
        chosen: Any = next(iter(kinds)) if kind is None else kind
        if not isinstance(chosen, str) or chosen not in kinds:
            raise SpecError(
                f"a {known.__name__} has the figures {', '.join(kinds)}, got "
                f"{shown(kind)}"
            )
        if known in _OF_SEVERAL and not is_list:
            result = [result]
        _check_options(f"figure {chosen!r}", kinds[chosen], options)
        return kinds[chosen](result, **options)
    names = ", ".join(known.__name__ for known in _KINDS)
    raise SpecError(f"no figure of a {type(first).__name__}: give one of {names}")


def _check_options(
    name: str, draw: Callable[..., Figure], options: Mapping[str, Any]
) -> None:
    """Refuse what the function would not take, before it is called."""
    known = list(inspect.signature(draw).parameters.values())[1:]
    taken = [one.name for one in known]
    for option in options:
        if option not in taken:
            possible = f"takes {', '.join(taken)}" if taken else "takes no options"
            raise SpecError(f"{name} {possible}, got {option!r}")
    for one in known:
        if one.default is one.empty and one.name not in options:
            raise SpecError(f"{name} needs {one.name}")
