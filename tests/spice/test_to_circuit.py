"""Generated netlists as text; no ngspice."""

import re

import networkx as nx
import numpy as np
import pytest

import oscsim.spice
from oscsim.errors import NetlistError
from oscsim.network.spec import Network
from oscsim.spice.build import to_circuit
from oscsim.spice.circuit import Circuit, Instance, parameters_of, subcircuit
from oscsim.spice.head import AttentionHead
from oscsim.spice.head_circuit import Tank
from oscsim.spice.sphere_parts import sphere, weight

PAIR = Network.kuramoto(np.array([[0.0, -0.5], [2.0, 0.0]]), omega=[0.25, 0.0])


def head(**changes):
    given = {
        "weights": np.array([[1.0, 3.0], [0.0, 2.0]]),
        "anchors": np.array([[2.0, 0.0], [0.0, 1.0]]),
        "start": np.array([[1.0, 0.0], [0.0, -1.0]]),
    }
    return AttentionHead(**(given | changes))


def test_a_pair_reads_as_it_should():
    text = to_circuit(PAIR, start=[0.5, -1.0], duration=2, labels=["a", "b"]).text()
    body = text[text.index("Xosc") :]
    assert body.splitlines() == [
        "Xosc_a th_a s_a c_a x_a y_a phase omega=0.25 start=0.5",
        "Xosc_b th_b s_b c_b x_b y_b phase omega=0 start=-1",
        "Xk_0_1 s_b c_b x_a y_a coupling k=-0.5",
        "Xk_1_0 s_a c_a x_b y_b coupling k=2",
        ".options reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-18 trtol=1",
        ".tran 0.01 2 0 0.01 uic",
        ".save v(th_a)",
        ".save v(th_b)",
        ".end",
    ]


def test_the_sphere_of_a_head_reads_as_it_should():
    """Loads w |r| are 2 3 and 0 2, full scale 5, the second row filled up by 3/5."""
    lines = to_circuit(head(), duration=10).text().splitlines()
    assert "Vr_0_0 r_0_0 0 1" in lines, "anchors are of unit length"
    assert "Xw_0_0 r_0_0 r_0_1 h_0_0 h_0_1 weight w=0.4" in lines
    assert "Xw_0_1 r_1_0 r_1_1 h_0_0 h_0_1 weight w=0.6" in lines
    assert "Xw_1_1 r_1_0 r_1_1 h_1_0 h_1_1 weight w=0.4" in lines
    assert "Xfill_1 0 0 h_1_0 h_1_1 weight w=0.6" in lines
    assert not [line for line in lines if line.startswith(("Xw_1_0", "Xfill_0"))]
    assert ".ic v(z_1_1)=-1" in lines


def test_the_tanks_of_a_head_cancel_the_load_of_their_row():
    lines = to_circuit(head(), duration=1e-3, circuit="lc").text().splitlines()
    assert "Xosc_0 p_0 tank start=0 loss={g0*1}" in lines
    assert [one for one in lines if re.match(r"Xosc_1 .*loss=\{g0\*0\.4\}", one)]
    assert ".param duration=0.001" in lines
    assert ".param fref=999293.987" in lines


def test_the_tank_has_the_numbers_of_its_netlist():
    tank = Tank.shipped()
    assert tank == (1e6, 999293.987, 1e-5, 0.1, 0.005)
    c = 1 / ((2e6 * np.pi) ** 2 * 1e-5)
    assert tank.g1 == pytest.approx(0.1 * np.sqrt(c / 1e-5))
    assert tank.g0 == pytest.approx(2 * 0.005 * c * 2e6 * np.pi)
    assert tank.offset == -0.025


@pytest.mark.parametrize("d", [2, 3, 8])
def test_generated_parts_are_the_hand_written_ones(d):
    file = f"lohe_sphere_d{d}"
    assert subcircuit(file, "sphere") == sphere(d)
    assert subcircuit(file, "weight") == weight(d)


def test_a_sub_circuit_that_is_not_there():
    with pytest.raises(NetlistError, match="has no sub-circuit 'none'"):
        subcircuit("lc_pair", "none")
    with pytest.raises(NetlistError, match="cannot read"):
        subcircuit("none", "none")


def test_sparse_and_dense_networks_give_one_netlist():
    graph = nx.random_regular_graph(3, 8, seed=1)
    kinds = (graph, nx.to_numpy_array(graph), nx.to_scipy_sparse_array(graph))
    texts = {
        to_circuit(
            Network.kuramoto(kind, lag=0.25), start=np.zeros(8), duration=1
        ).text()
        for kind in kinds
    }
    assert len(texts) == 1
    text = texts.pop()
    assert len(re.findall(r"^Xk_.* lagged k=1 lag=0.25$", text, re.M)) == 24
    assert ".subckt coupling" not in text


@pytest.mark.parametrize(
    ("network", "told"),
    [
        (Network.kuramoto(np.zeros((2, 3, 3))), "a batch of 2"),
        (Network.kuramoto(np.zeros((3, 3)), diffusion=0.5), "diffusion up to 0.5"),
    ],
)
def test_a_network_that_is_no_circuit_is_refused(network, told):
    with pytest.raises(NetlistError, match=told):
        to_circuit(network, start=np.zeros(3), duration=1)


def test_what_has_no_circuit_is_refused_and_never_left_out():
    network = Network.kuramoto(np.ones((2, 2)), harmonics=[[1.0, 0.0], [0.5, 0.0]])
    with pytest.raises(NetlistError, match="the network has harmonics"):
        to_circuit(network, start=np.zeros(2), duration=1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"start": [0.0]}, r"shape \(2,\), got \(1,\)"),
        ({"start": [0.0, np.nan]}, "start must be finite"),
        ({"duration": 0}, "duration must be finite and above 0"),
        ({"duration": np.inf}, "duration must be finite and above 0"),
        ({"labels": ["a"]}, "2 labels are needed, got 1"),
        ({"labels": ["a", "A"]}, "ignores case"),
        ({"labels": ["a", "b\n.control\nshell x"]}, "cannot stand in a netlist"),
        ({"parameters": {"l": 1}}, "belong to the LC circuit of a head"),
    ],
)
def test_a_wrong_request_for_a_network(options, told):
    with pytest.raises(NetlistError, match=told):
        to_circuit(PAIR, **({"start": [0.0, 0.0], "duration": 1} | options))


def test_starts_on_the_sphere_are_unit_vectors():
    network = Network.lohe(np.zeros((2, 2)), d=3)
    with pytest.raises(NetlistError, match="a length of 2"):
        to_circuit(network, start=2 * np.eye(3)[:2], duration=1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"weights": np.array([[1.0, 3.0], [-0.25, 2.0]])},
            r"weight \[1, 0\] of query 1 is -0.25: no resistor",
        ),
        ({"weights": np.zeros((2, 2))}, "all weights are 0"),
        ({"weights": np.array([[1.0, np.inf], [0.0, 2.0]])}, "weights must be finite"),
        ({"anchors": np.array([[2.0, 0.0], [0.0, 0.0]])}, "an anchor is 0"),
        ({"anchors": np.zeros((3, 2))}, r"got \(2, 2\), \(3, 2\)"),
        ({"start": np.ones((2, 2))}, "unit vectors, got lengths 1.41"),
        ({"labels": ("a",)}, "2 labels are needed, got 1"),
        ({"labels": ("cat", "Cat")}, "ignores case"),
        ({"labels": ("a", "b)\n.control")}, "cannot stand in a netlist"),
    ],
)
def test_a_head_that_no_resistor_can_be_is_refused(changes, told):
    with pytest.raises(NetlistError, match=told):
        to_circuit(head(**changes), duration=1)


def test_a_query_without_any_weight_stays_in_the_circuit():
    alone = head(weights=np.array([[1.0, 3.0], [0.0, 0.0]]))
    text = to_circuit(alone, duration=1).text()
    assert "Xfill_1 0 0 h_1_0 h_1_1 weight w=1" in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"circuit": "ring"}, "'sphere' or 'lc', got 'ring'"),
        ({"circuit": "lc", "parameters": {"q": 1}}, "no parameter 'q': one of"),
        ({"circuit": "lc", "parameters": {"l": "1 F\n.control"}}, "is no quantity"),
        ({"circuit": "lc", "parameters": {"eps": 0.2}}, "give fref"),
    ],
)
def test_a_wrong_request_for_a_head(options, told):
    with pytest.raises(NetlistError, match=told):
        to_circuit(head(), duration=1, **options)


def test_lc_oscillators_have_one_phase():
    three = head(anchors=np.eye(3)[:2], start=np.eye(3)[:2])
    with pytest.raises(NetlistError, match="d = 2, got d = 3"):
        to_circuit(three, duration=1, circuit="lc")


def test_parameters_of_the_tank_change():
    circuit = to_circuit(
        head(), duration=1e-3, circuit="lc", parameters={"l": "4.7 uH", "kappa": 0.002}
    )
    assert dict(circuit.parameters)["l"] == "4.7u"
    assert dict(circuit.parameters)["kappa"] == "0.002"
    assert dict(parameters_of("lc_pair", {}))["f0"] == "1Meg"


def test_the_package_offers_it():
    assert oscsim.spice.to_circuit is to_circuit
    assert oscsim.spice.AttentionHead is AttentionHead
    with pytest.raises(AttributeError, match="has no attribute 'none'"):
        _ = oscsim.spice.none


def test_nothing_else_becomes_a_circuit():
    with pytest.raises(NetlistError, match=r"a Network or an AttentionHead, got \[1\]"):
        to_circuit([1], duration=1)


def circuit_of(**changes):
    given = {
        "name": "c",
        "title": "t",
        "parameters": (),
        "subcircuits": (),
        "elements": (),
        "initial": (),
        "options": "",
        "step": "1",
        "duration": "2",
        "saved": (),
    }
    return Circuit(**(given | changes))


def test_a_title_of_two_lines_is_refused():
    with pytest.raises(NetlistError, match="one printable line"):
        circuit_of(title="fine\n.control")


def test_elements_that_are_one_to_spice_are_refused():
    twice = (Instance("a", "s", ("n",)), Instance("A", "s", ("n",)))
    with pytest.raises(NetlistError, match="two elements 'xa'"):
        circuit_of(elements=twice).netlist()
