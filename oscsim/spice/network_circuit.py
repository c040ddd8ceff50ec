"""A Kuramoto or Lohe network as a circuit of controlled sources."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from oscsim.errors import NetlistError
from oscsim.network.spec import Network
from oscsim.spice.circuit import TIGHT, Circuit, Instance, subcircuit, values_of
from oscsim.spice.sphere_parts import bond, drive, rail, sphere, turn
from oscsim.spice.values import require_names, spice_value
from oscsim.typing import FloatArray

CROSSBAR = "kuramoto_crossbar"
_REALISED = (
    "geometry", "field", "omega", "coupling", "lag", "shil", "diffusion",
)  # fmt: skip
_SHARE = 0.02
"""Largest step as a share of the fastest oscillator's time constant."""


def network_circuit(
    network: Network,
    start: FloatArray,
    duration: float,
    *,
    labels: Sequence[str] | None = None,
    step: float | None = None,
) -> Circuit:
    """Return the circuit of a network.

    Phases on a crossbar: node ``th_NAME`` is a phase (1 V is 1 rad), rails carry
    its sine and cosine, and every coupling is a pair of controlled sources into
    column sums of 1 ohm. Unit vectors: nodes ``z_NAME_0``, ``z_NAME_1``... are
    their components (1 V is 1). 1 F and 1 ohm make 1 s; K and omega in rad/s.

    Parameters
    ----------
    network : Network
        One network without noise: dense, sparse or all-to-all.
    start : FloatArray, shape (n,) or (n, d)
        Phases (rad), or unit vectors.
    duration : float
        End of the run (s).
    labels : sequence of str, optional
        NAME of each oscillator; 0, 1, 2... by default.
    step : float, optional
        Largest step (s); by default 0.02 of the fastest time constant.

    Raises
    ------
    NetlistError
        If the network is a batch, noisy or of a kind without a circuit, the start
        does not fit it, a value is not finite or a name cannot stand in a netlist.
    """
    if network.n_networks > 1 or network.omega.ndim == 2:
        raise NetlistError(
            f"a circuit is one network, got a batch of {network.n_networks}"
        )
    if network.diffusion.any():
        raise NetlistError(
            "a circuit of controlled sources has no noise, got a diffusion up to "
            f"{network.diffusion.max():g}: leave it away"
        )
    _require_known(network)
    start = np.asarray(start, float)
    if start.shape != network.state_shape or not np.isfinite(start).all():
        raise NetlistError(
            f"start must be finite and of shape {network.state_shape}, got "
            f"{start.shape}"
        )
    if not duration > 0:
        raise NetlistError(f"duration must be above 0 s, got {duration:g}")
    names = tuple(labels or map(str, range(network.n_osc)))
    if len(names) != network.n_osc:
        raise NetlistError(f"{network.n_osc} labels are needed, got {len(names)}")
    require_names(names)
    step = step or min(_SHARE / _fastest(network), duration / 100)
    build = _phases if network.geometry == "torus" else _vectors
    return build(network, start, names, (spice_value(step), spice_value(duration)))


def _require_known(network: Network) -> None:
    """Refuse what a network has beside what these circuits can do."""
    for field in dataclasses.fields(network):
        if field.name not in _REALISED and np.size(getattr(network, field.name)):
            raise NetlistError(
                f"the network has {field.name}, for which there is no circuit here: "
                "leave it away"
            )


def _phases(
    network: Network, start: FloatArray, names: tuple[str, ...], times: tuple[str, str]
) -> Circuit:
    rails = [tuple(f"{rail}_{name}" for rail in ("s", "c", "x", "y")) for name in names]
    elements = [
        Instance(
            f"osc_{name}",
            "phase",
            (f"th_{name}", *rails[i]),
            values_of(omega=network.omega[i], start=start[i]),
        )
        for i, name in enumerate(names)
    ]
    for i, j, weight, lag in _edges(network):
        kind, values = "coupling", values_of(k=weight)
        if lag:
            kind, values = "lagged", values_of(k=weight, lag=lag)
        ports = (*rails[j][:2], *rails[i][2:])
        elements.append(Instance(f"k_{i}_{j}", kind, ports, values))
    for i in np.flatnonzero(network.field.any(axis=1)).tolist():
        h = network.field[i]
        values = values_of(hx=h[0], hy=h[1])
        elements.append(Instance(f"drive_{i}", "drive", rails[i][2:], values))
    if network.shil.size:
        for i in np.flatnonzero(network.shil.any(axis=1)).tolist():
            values = values_of(a=network.shil[i, 0], b=network.shil[i, 1])
            elements.append(Instance(f"pump_{i}", "pump", (f"th_{names[i]}",), values))
    used = dict.fromkeys(element.subcircuit for element in elements)
    return Circuit(
        name="kuramoto",
        title=f"Kuramoto network of {len(names)} phases on a crossbar",
        parameters=(),
        subcircuits=tuple(subcircuit(CROSSBAR, kind) for kind in used),
        elements=tuple(elements),
        initial=(),
        options=TIGHT,
        step=times[0],
        duration=times[1],
        saved=tuple(f"th_{name}" for name in names),
    )


def _vectors(
    network: Network, start: FloatArray, names: tuple[str, ...], times: tuple[str, str]
) -> Circuit:
    d = network.field.shape[1]
    lengths = np.linalg.norm(start, axis=1)
    if np.abs(lengths - 1).max() > 1e-6:
        raise NetlistError(
            f"start must be unit vectors, got a length of {lengths.max():.6g}"
        )
    z = [tuple(f"z_{name}_{k}" for k in range(d)) for name in names]
    h = [tuple(f"h_{name}_{k}" for k in range(d)) for name in names]
    elements = [
        Instance(f"osc_{name}", "sphere", z[i] + h[i]) for i, name in enumerate(names)
    ]
    elements += [Instance(f"rail_{name}", "rail", h[i]) for i, name in enumerate(names)]
    for i, j, weight, _ in _edges(network):
        values = values_of(k=weight)
        elements.append(Instance(f"k_{i}_{j}", "bond", z[j] + h[i], values))
    for i in np.flatnonzero(network.field.any(axis=1)).tolist():
        values = values_of(**{f"f{k}": network.field[i, k] for k in range(d)})
        elements.append(Instance(f"drive_{i}", "drive", h[i], values))
    for i, rates in enumerate(network.omega):
        for a, b in zip(*np.nonzero(np.triu(rates)), strict=True):
            values = values_of(w=rates[a, b])
            ports = (z[i][a], z[i][b])
            elements.append(Instance(f"turn_{i}_{a}_{b}", "turn", ports, values))
    parts = {
        "sphere": sphere(d),
        "rail": rail(d),
        "bond": bond(d),
        "drive": drive(d),
        "turn": turn(),
    }
    used = dict.fromkeys(element.subcircuit for element in elements)
    nodes = tuple(node for nodes in z for node in nodes)
    return Circuit(
        name="lohe",
        title=f"Lohe network of {len(names)} unit vectors, d = {d}",
        parameters=(),
        subcircuits=tuple(parts[kind] for kind in used),
        elements=tuple(elements),
        initial=tuple(
            zip(nodes, map(spice_value, start.ravel().tolist()), strict=True)
        ),
        options=TIGHT,
        step=times[0],
        duration=times[1],
        saved=nodes,
    )


def _edges(network: Network) -> Iterator[tuple[int, int, float, float]]:
    """Yield (i, j, influence of j on i, lag) of every coupling that is not 0."""
    coupling, lag = network.coupling, network.lag
    n = network.n_osc
    if coupling is None:
        return
    if isinstance(coupling, float):
        coupling = coupling * (1 - np.eye(n))
    if sparse.issparse(coupling):
        edges = coupling.tocoo()
        rows, columns, weights = edges.row, edges.col, edges.data
        lags = lag.data if sparse.issparse(lag) else np.broadcast_to(lag, weights.shape)
    else:
        rows, columns = np.nonzero(coupling)
        weights = coupling[rows, columns]
        lags = np.broadcast_to(lag, (n, n))[rows, columns]
    listed: Any = zip(rows, columns, weights, lags, strict=True)
    for i, j, weight, own in listed:
        if weight and (i != j or own):
            yield int(i), int(j), float(weight), float(own)


def _fastest(network: Network) -> float:
    """Return the largest rate at which an oscillator can turn (rad/s)."""
    rates = network.strengths() + np.linalg.norm(network.field, axis=1)
    if network.geometry == "torus":
        rates = rates + np.abs(network.omega)
        if network.shil.size:
            rates = rates + 2 * np.linalg.norm(network.shil, axis=1)
    elif len(network.omega):
        rates = rates + np.linalg.norm(network.omega, axis=(1, 2))
    return float(rates.max()) or 1.0
