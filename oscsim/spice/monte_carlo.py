"""The same circuit with other component values: one draw of mismatch each."""

import re
from dataclasses import dataclass, replace

import numpy as np

from oscsim.errors import NetlistError, SpecError
from oscsim.spice.netlist import Netlist
from oscsim.spice.ngspice import Simulation, simulate_circuit
from oscsim.spice.process import side_by_side
from oscsim.substrate.mismatch import Stage, StaticDraws
from oscsim.typing import FloatArray


@dataclass(frozen=True)
class Draw:
    """One circuit with mismatch, and what it did.

    Attributes
    ----------
    factors : FloatArray, shape (n_components,)
        What the values were multiplied by, in the order of the netlist.
    run : Simulation
        The run.
    """

    factors: FloatArray
    run: Simulation


def mismatch_factors(sigma: float, n: int, *, seed: int, chip: int) -> FloatArray:
    """Return exp(sigma z), z standard normal: errors of couplers as a chip has them.

    The numbers of `oscsim.substrate.mismatch.program` for layer 0 of the same seed
    and chip: coupler k there is component k here.

    Parameters
    ----------
    sigma : float
        Relative mismatch.
    n : int
        Components.
    seed, chip : int
        Address of the draw.

    Raises
    ------
    SpecError
        If sigma is negative or not finite.
    """
    if not 0 <= sigma < np.inf:
        raise SpecError(f"sigma must be finite and at least 0, got {sigma:g}")
    draws = StaticDraws(seed, 0, chip).normals(Stage.COUPLING_GAIN, n)
    return np.asarray(np.exp(sigma * draws[:, 0]))


def component_values(netlist: Netlist, kind: str, parameter: str) -> FloatArray:
    """Return the values of a parameter in all instances of a sub-circuit.

    Parameters
    ----------
    netlist : Netlist
        Where they are, one instance per line.
    kind, parameter : str
        Sub-circuit and parameter, for example ``"weight"`` and ``"w"``.

    Returns
    -------
    FloatArray, shape (n_components,)
        In the order of the netlist.

    Raises
    ------
    NetlistError
        If there is no such instance, or a value is no plain number.
    """
    found = _instances(kind, parameter).findall(netlist.text)
    if not found:
        raise NetlistError(
            f"{netlist.name} has no instance of {kind!r} with a parameter {parameter!r}"
        )
    try:
        return np.array([float(value) for _, value in found])
    except ValueError as error:
        raise NetlistError(
            f"{netlist.name}: a value of {parameter!r} in {kind!r} is no plain number: "
            f"{error}"
        ) from None


def with_factors(
    netlist: Netlist, kind: str, parameter: str, factors: FloatArray
) -> Netlist:
    """Return a netlist with a parameter of all instances multiplied, each by its own.

    Parameters
    ----------
    netlist : Netlist
        Of nominal values.
    kind, parameter : str
        As for `component_values`.
    factors : FloatArray, shape (n_components,)
        One per instance.

    Raises
    ------
    SpecError
        If there are more or fewer factors than instances.
    NetlistError
        As `component_values` says.
    """
    values = component_values(netlist, kind, parameter)
    if factors.shape != values.shape:
        raise SpecError(
            f"factors must have shape {values.shape}, one per instance of {kind!r}, "
            f"got {factors.shape}"
        )
    changed = iter(values * factors)
    text = _instances(kind, parameter).sub(
        lambda found: f"{found.group(1)}{float(next(changed))!r}", netlist.text
    )
    return replace(netlist, text=text)


def monte_carlo(
    netlist: Netlist,
    kind: str,
    parameter: str,
    *,
    sigma: float,
    n_draws: int,
    seed: int = 0,
    n_processes: int | None = None,
    timeout: float = 300.0,
) -> list[Draw]:
    """Run a circuit with several draws of mismatch, in parallel processes.

    Parameters
    ----------
    netlist : Netlist
        Of nominal values.
    kind, parameter : str
        Which components: a sub-circuit and its parameter.
    sigma : float
        Mismatch: values are multiplied by exp(sigma z).
    n_draws : int
        Number of circuits, the chips 0 .. n_draws - 1.
    seed : int
        Of the draws.
    n_processes : int, optional
        Runs of ngspice at a time, as many as processors by default.
    timeout : float
        Longest wall time of one run (s).

    Returns
    -------
    list of Draw
        The same for any number of processes.

    Raises
    ------
    SpecError
        If a number is out of range.
    NetlistError, SimulatorError
        If there is no such component, or a circuit does not run.
    """
    if n_draws < 1 or (n_processes is not None and n_processes < 1):
        raise SpecError(
            "n_draws and n_processes must be at least 1, got "
            f"{n_draws} and {n_processes}"
        )
    n = len(component_values(netlist, kind, parameter))
    drawn = [
        mismatch_factors(sigma, n, seed=seed, chip=chip) for chip in range(n_draws)
    ]
    circuits = [with_factors(netlist, kind, parameter, one) for one in drawn]
    runs = side_by_side(
        lambda one: simulate_circuit(one, timeout), circuits, n_processes
    )
    return [Draw(one, run) for one, run in zip(drawn, runs, strict=True)]


def first_order_spread(
    weights: FloatArray, anchors: FloatArray, sigma: float
) -> FloatArray:
    """Return the deviation of the direction of h = sum_j w_j r_j under mismatch (rad).

    To first order in sigma, per direction across h:
    ``sigma sqrt(sum_j w_j^2 |P r_j|^2 / (d - 1)) / |h|``, P the projection across h.

    Parameters
    ----------
    weights : FloatArray, shape (n, n_anchors)
        Nominal weights.
    anchors : FloatArray, shape (n_anchors, d)
        Fixed vectors r_j.
    sigma : float
        Relative mismatch of every weight.

    Returns
    -------
    FloatArray, shape (n,)
    """
    h = weights @ anchors
    length = np.linalg.norm(h, axis=1, keepdims=True)
    along = anchors @ (h / length).T
    across = np.square(anchors).sum(axis=1)[:, None] - along**2
    total = (weights.T**2 * across).sum(axis=0) / (anchors.shape[1] - 1)
    return np.asarray(sigma * np.sqrt(total) / length[:, 0])


def _instances(kind: str, parameter: str) -> re.Pattern[str]:
    return re.compile(
        rf"^(x[^\n]*\s{re.escape(kind)}(?:\s[^\n]*)?\s{re.escape(parameter)}\s*=\s*)(\S+)",
        re.IGNORECASE | re.MULTILINE,
    )
