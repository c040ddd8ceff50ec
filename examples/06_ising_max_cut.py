"""Max-cut by an Ising machine of oscillators, with its cut trace and brute force.

An edge of negative weight pushes its ends apart; injection at twice the frequency
makes every phase choose 0 or pi, which are the two sides of the cut. A spin is the
sign of cos theta at any time, so the cut can be followed while the network settles.
"""

import argparse
from pathlib import Path

import networkx as nx
import numpy as np

import oscsim as osc
from oscsim.report.canvas import BLUE, INK, ORANGE, PALE, blank, png

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--nodes", type=int, default=18, help="at most 20: brute force")
parser.add_argument("--figure", type=Path, default=Path("max-cut.png"))
parser.add_argument("--quick", action="store_true", help="fewer nodes and runs")
given = parser.parse_args()
n, runs = (12, 16) if given.quick else (given.nodes, 64)
sides = 1 - 2 * ((np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1)


def cut(graph, spins):
    """Return how many edges join different sides; spins of shape (..., n)."""
    i, j = np.array(graph.edges).T
    return (spins[..., i] != spins[..., j]).sum(axis=-1)


print("graph               edges  optimum  found in   best  mean  random")
for seed, degree in enumerate((3, 4, 5)):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(nx.random_regular_graph(degree, n, seed=seed).edges)
    n_edges = graph.number_of_edges()
    network = osc.Network.kuramoto(graph, coupling=-1.0, shil=1.0, diffusion=0.05)
    options = {"method": "heun", "save_every": 10, "n_trajectories": runs, "seed": seed}
    run = osc.simulate(network, t1=30, dt=0.02, **options)
    trace = cut(graph, np.sign(np.cos(run.y)))
    optimum, end = cut(graph, sides).max(), trace[:, -1]
    print(f"{n} nodes, degree {degree} {n_edges:6} {optimum:8}", end="")
    print(f"{(end == optimum).mean():10.0%} {end.max():6} {end.mean():5.1f}", end="")
    print(f"{n_edges / 2:8.1f}")
with blank(5.2, 3.2) as figure:
    ax = figure.subplots()
    ax.plot(run.t, trace.T, color=PALE, lw=0.6)
    ax.plot([], [], color=PALE, label=f"{runs} runs")
    ax.plot(run.t, trace.mean(axis=0), color=BLUE, label="mean")
    ax.axhline(optimum, color=ORANGE, ls="--", label="optimum by brute force")
    ax.axhline(n_edges / 2, color=INK, ls=":", label="random sides")
    ax.set(xlabel="time (s)", ylabel=f"cut edges of {n_edges}")
    ax.set_title(f"random regular graph, {n} nodes of degree {degree}")
    figure.legend(loc="outside upper center", ncols=2)
given.figure.write_bytes(png(figure))
