"""A network file says what the Python call says, and faults are named in one line."""

import time

import networkx as nx
import numpy as np
import pytest

import oscsim as osc
from oscsim.errors import SpecError
from oscsim.network import topology
from oscsim.solve.netfile import read_network

TORUS = """
[network]
model = "kuramoto"
topology = { kind = "ring", n = 6 }
"""
SPHERE = """
[network]
model = "lohe"
d = 3
topology = { kind = "ring", n = 6 }
"""
TIMES = """
[simulate]
t1 = 2
dt = 0.01
"""


@pytest.fixture
def read(tmp_path):
    def from_text(text, times=TIMES):
        path = tmp_path / "net.toml"
        path.write_text(text + times)
        return read_network(path)

    return from_text


def dense(network):
    return network.coupling.toarray()


def with_topology(entry):
    return f'[network]\nmodel = "kuramoto"\ntopology = {{ {entry} }}\n'


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('kind = "ring", n = 6, neighbours = 2', topology.ring(6, 2)),
        ('kind = "ring", n = 6, directed = true', topology.ring(6, directed=True)),
        (
            'kind = "lattice", shape = [3, 4], periodic = true',
            topology.lattice((3, 4), periodic=True),
        ),
        (
            'kind = "small-world", n = 9, neighbours = 2, rewire = 0.5, seed = 4',
            topology.small_world(9, 2, rewire=0.5, seed=4),
        ),
        (
            'kind = "random-regular", n = 8, degree = 3, seed = 4',
            topology.random_regular(8, 3, seed=4),
        ),
        ('kind = "scale-free", n = 9, seed = 4', topology.scale_free(9, seed=4)),
    ],
)
def test_named_topologies(read, entry, expected):
    np.testing.assert_array_equal(
        dense(read(with_topology(entry))[0]), expected.toarray()
    )


def test_all_to_all_stays_a_number(read):
    network, _ = read(with_topology('kind = "all-to-all", n = 4') + "coupling = 2\n")
    assert network.coupling == 0.5
    assert network.n_osc == 4


def test_edges_are_source_target_weight(read):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(4))
    graph.add_edge(0, 1, weight=2.0)
    graph.add_edge(1, 2)
    entry = 'kind = "edges", n = 4, edges = [[0, 1, 2.0], [1, 2]]'
    directed = dense(read(with_topology(entry + ", directed = true"))[0])
    np.testing.assert_array_equal(directed, dense(osc.Network.kuramoto(graph)))
    assert (directed[1, 0], directed[2, 1]) == (2.0, 1.0)
    both = dense(read(with_topology(entry))[0])
    np.testing.assert_array_equal(both, directed + directed.T)
    none = read(with_topology('kind = "edges", n = 3, edges = []'))[0]
    assert not dense(none).any()


def test_edges_from_a_file_beside_it(read, tmp_path):
    text = "# a comment\n0 1 2.5\n\n1, 2 # and another\n"
    (tmp_path / "edges.txt").write_text(text)
    found = dense(read(with_topology('kind = "edges", n = 3, file = "edges.txt"'))[0])
    np.testing.assert_array_equal(found, [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])


def test_a_matrix_is_row_by_target(read):
    entry = 'kind = "matrix", matrix = [[0, 1.5], [0, 0]]'
    network, _ = read(with_topology(entry) + "coupling = 2.0\nlag = [[0, 0.1], [0, 0]]")
    assert network.coupling[0, 1] == 3.0
    assert network.lag[0, 1] == 0.1


def test_everything_of_a_torus(read):
    text = (
        TORUS
        + """
omega = { distribution = "normal", width = 0.5, centre = 1.0, seed = 9 }
lag = 0.25
diffusion = 0.1
shil = 0.5
shil_phase = [0, 0.1, 0.2, 0.3, 0.4, 0.5]
anchors = [0.5, 1.0]
anchor_weights = [[1, 0], [0, 1], [1, 1], [0, 0], [0, 0], [0, 2]]
"""
    )
    network, _ = read(text)
    expected = osc.Network.kuramoto(
        topology.ring(6),
        omega=osc.natural_frequencies("normal", 6, width=0.5, centre=1.0, seed=9),
        lag=0.25,
        diffusion=0.1,
        shil=0.5,
        shil_phase=np.arange(6) / 10,
        anchors=[0.5, 1.0],
        anchor_weights=[[1, 0], [0, 1], [1, 1], [0, 0], [0, 0], [0, 2]],
    )
    for name in ("field", "omega", "lag", "shil", "diffusion"):
        np.testing.assert_array_equal(getattr(network, name), getattr(expected, name))


def test_harmonics_of_the_coupling(read):
    network, _ = read(TORUS + "harmonics = [[1, 0.5], [0.25, 0]]\n")
    np.testing.assert_array_equal(network.harmonics, [[1, 0.5], [0.25, 0]])
    with pytest.raises(SpecError, match="harmonics"):
        read(TORUS + "harmonics = [[1, 0.5], [0.25]]\n")


def test_everything_of_a_sphere(read):
    turn = "[[0, -1, 0], [1, 0, 0], [0, 0, 0]]"
    text = SPHERE + f"omega = {turn}\nanchors = [[0, 0, 1]]\n"
    text += "anchor_weights = [[1], [1], [1], [2], [2], [2]]\n"
    network, _ = read(text)
    assert network.state_shape == (6, 3)
    np.testing.assert_array_equal(network.omega[4], [[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(network.field[5], [0, 0, 2])
    circle = SPHERE.replace("d = 3", "d = 2") + "omega = [1, 2, 3, 4, 5, 6]\n"
    assert read(circle)[0].omega[2, 1, 0] == 3.0
    quantiles = SPHERE.replace("d = 3", "d = 2")
    quantiles += 'omega = { distribution = "uniform", width = 6 }\n'
    assert read(quantiles)[0].omega[:, 1, 0].tolist() == [-5, -3, -1, 1, 3, 5]


def test_arguments_of_the_simulation(read):
    _, file = read(TORUS)
    expected = {"t1": 2, "dt": 0.01, "method": "rk4", "save_every": 1}
    expected |= {"n_trajectories": 1, "seed": 0, "dtype": "float64"}
    assert file.arguments() == expected
    assert file.arguments(seed=5)["seed"] == 5
    times = TIMES + "save_every = 7\nseed = 3\nstart = [0, 1, 2, 3, 4, 5]\n"
    arguments = read(TORUS, times)[1].arguments()
    assert (arguments["save_every"], arguments["seed"]) == (7, 3)
    assert arguments["start"].shape == (6,)
    long = TIMES.replace("t1 = 2", "t1 = 200")
    assert read(TORUS, long)[1].arguments()["save_every"] == 50


def test_the_adaptive_method_needs_no_step(read):
    times = '[simulate]\nt1 = 2.0\nmethod = "adaptive"\nrtol = 1e-8\n'
    network, file = read(TORUS, times)
    run = osc.simulate(network, **file.arguments())
    assert run.t.size == 401
    assert run.t[-1] == pytest.approx(2.0)
    fifth = read(TORUS, times.replace("adaptive", "rk45"))[1].arguments()
    assert (fifth["method"], fifth["dt"]) == ("rk45", 2.0 / 400)


def test_several_observables_of_a_file(read):
    both = 'observe = ["order_parameter", "effective_frequency"]\n'
    network, file = read(TORUS, TIMES + both)
    run = osc.simulate(network, **file.arguments())
    assert run.frequency.shape == (1, 6)
    assert run.r_observed.shape == (1, run.t_observed.size)
    with pytest.raises(SpecError, match=r"simulate.observe.*, got 'energy'"):
        read(TORUS, TIMES + 'observe = "energy"\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[network", "net.toml is not TOML"),
        ("", "net.toml: network is missing in the file"),
        (TORUS + "couplng = 1\n", "network.couplng is not a known field"),
        (TORUS + 'coupling = "x"\n', "network.coupling: .* number, got 'x'"),
        (TORUS + "coupling = nan\n", "network.coupling: .* finite number, got nan"),
        (TORUS + "omega = [1, inf]\n", "network.omega.1: .* finite number, got inf"),
        (TORUS + "omega = [1, 2]\n", r"omega must be a number or have shape \(6,\)"),
        (TORUS.replace("kuramoto", "hopf"), "network.model must be one of .*'hopf'"),
        (TORUS.replace('model = "kuramoto"', ""), "model is missing in network"),
        (TORUS.replace("ring", "star"), "topology.kind must be one of .*'star'"),
        (with_topology("n = 3"), "kind is missing in network.topology"),
        (with_topology('kind = "ring"'), "n is missing in network.topology"),
        (with_topology('kind = "ring", n = 0'), "topology.n: .* than or equal to 1"),
        (with_topology('kind = "ring", n = 2.5'), "topology.n: .* integer, got 2.5"),
        (with_topology('kind = "ring", n = true'), "topology.n: .* integer, got True"),
        (with_topology('kind = "ring", n = 1'), "n must be a whole number >= 2"),
        (TORUS + 'omega = { distribution = "beta", width = 1 }\n', "omega.*'normal'"),
        (TORUS + "omega = { width = 1 }\n", "distribution is missing in network.omega"),
        (SPHERE + 'omega = { distribution = "normal", width = 1 }\n', "needs d = 2"),
        (SPHERE.replace("d = 3", "d = 1"), "network.d: .* greater than or equal to 2"),
        (SPHERE + "shil = 1\n", "network.shil is not a known field"),
        (SPHERE + "omega = [[0, 1], [1]]\n", "the rows of omega must be equally long"),
        (TORUS + "lag = [[0, 1], [1]]\n", "the rows of lag must be equally long"),
        (TORUS + "anchors = [1]\nanchor_weights = [[1], []]\n", "anchor_weights must"),
        (with_topology('kind = "all-to-all", n = 100000000000000'), "GB are free"),
        (with_topology('kind = "ring", n = 100000000000000'), "GB are free"),
        (with_topology('kind = "edges", n = 100000000000000, edges = []'), "GB are f"),
        (with_topology('kind = "lattice", shape = [4294967296, 4294967296]'), "GB are"),
        (SPHERE.replace("d = 3", "d = 100000000000000"), "d must be a whole number"),
        (TORUS + "coupling = 1" + 400 * "0" + "\n", "network.coupling: .* number"),
        (TORUS + "omega = " + 5000 * "[", "net.toml is not TOML: it is nested too"),
        (TORUS + "diffusion = -1\n", "diffusion must be finite and >= 0"),
    ],
)
def test_faults_of_the_network_are_named(read, text, message):
    with pytest.raises(SpecError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert "net.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("edges = [[0]]", r"edge 0 of edges must be source, target\[, weight\]"),
        ("edges = [[0, 1], [1, 3]]", "joins 1 and 3: oscillators are numbered 0..2"),
        ("edges = [[0, 0.5]]", "edge 0 of edges joins 0 and 0.5"),
        ("edges = [[-1, 1]]", "joins -1 and 1"),
        ("edges = [[1, 1]]", "joins 1 to itself"),
        ("edges = [[0, 1], [1, 0]]", "there are 2 edges from 1 to 0: give their sum"),
        ("edges = [[0, 1, nan]]", "finite number, got nan"),
        ("", "needs either edges or file"),
        ('edges = [], file = "x"', "needs either edges or file"),
        ('file = "none.txt"', "there is no file of edges"),
        ('file = "bad.txt"', "line 2 of .*bad.txt must hold .* got '1 two'"),
        ('file = "."', "file of edges .* cannot be read"),
    ],
)
def test_faults_of_edges_are_named(read, tmp_path, edges, message):
    (tmp_path / "bad.txt").write_text("0 1\n1 two\n")
    comma = ", " if edges else ""
    with pytest.raises(SpecError, match=message):
        read(with_topology(f'kind = "edges", n = 3{comma}{edges}'))


def test_opposite_directed_edges_are_two_edges(read):
    entry = 'kind = "edges", n = 2, directed = true, edges = [[0, 1, 2], [1, 0, 3]]'
    np.testing.assert_array_equal(
        dense(read(with_topology(entry))[0]), [[0, 3], [2, 0]]
    )


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("[[0, 1]]", r"must be square, got rows of \[2\] for 1 rows"),
        ("[[0, 1], [1]]", "must be square"),
        ("[]", "n must be a whole number >= 1, got 0"),
        ("[[0, nan], [1, 0]]", "finite"),
    ],
)
def test_faults_of_a_matrix_are_named(read, matrix, message):
    with pytest.raises(SpecError, match=message):
        read(with_topology(f'kind = "matrix", matrix = {matrix}'))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ("", "simulate is missing in the file"),
        ("[simulate]\ndt = 1\n", "t1 is missing in simulate"),
        (TIMES + "steps = 3\n", "simulate.steps is not a known field"),
        (TIMES.replace("2", "-2"), "simulate.t1: .* greater than 0, got -2"),
        (TIMES + "seed = -1\n", "simulate.seed: .* equal to 0, got -1"),
        (TIMES + "save_every = 0\n", "simulate.save_every: .* got 0"),
        (TIMES + 'dtype = "int8"\n', "simulate.dtype: .* got 'int8'"),
        (TIMES + "start = [0, [1]]\n", "simulate.start"),
        (
            TIMES + "start = [[0, 1], [1]]\n",
            "net.toml: the rows of start must be equally long",
        ),
        (TIMES + 'method = "euler"\n', "net.toml: simulate.method: .* got 'euler'"),
    ],
)
def test_faults_of_the_simulation_are_named(read, times, message):
    with pytest.raises(SpecError, match=message):
        read(TORUS, times)


def test_files_that_are_not_there_or_no_text(tmp_path):
    with pytest.raises(SpecError, match=r"there is no network file .*missing\.toml"):
        read_network(tmp_path / "missing.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        read_network(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="cannot be read"):
        read_network(tmp_path / "binary.toml")


def test_a_byte_order_mark_is_no_content(tmp_path):
    (tmp_path / "edges.txt").write_bytes(b"\xef\xbb\xbf0 1 2.5\n")
    text = with_topology('kind = "edges", n = 2, file = "edges.txt"') + TIMES
    (tmp_path / "net.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    network, _ = read_network(tmp_path / "net.toml")
    np.testing.assert_array_equal(dense(network), [[0, 2.5], [2.5, 0]])


def test_edges_take_time_in_proportion_to_their_number(tmp_path):
    """A node looked up in a range as a float takes n steps, 10^10 here."""
    n = 100_000
    lines = "".join(f"{k} {k + 1}\n" for k in range(n - 1))
    (tmp_path / "edges.txt").write_text(lines)
    text = with_topology(f'kind = "edges", n = {n}, file = "edges.txt"') + TIMES
    (tmp_path / "net.toml").write_text(text)
    begin = time.process_time()
    network, _ = read_network(tmp_path / "net.toml")
    assert time.process_time() - begin < 10
    assert network.coupling.nnz == 2 * (n - 1)
