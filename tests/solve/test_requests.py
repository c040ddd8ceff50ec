"""Arguments of a run that cannot be meant, each refused in a sentence."""

import numpy as np
import pytest

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.solve.simulate import simulate

pytestmark = pytest.mark.kernel

NET = Network.kuramoto("all-to-all", n=3)
RUN = {"t1": 1.0, "dt": 0.1, "method": "heun"}


@pytest.mark.parametrize("name", ["n_trajectories", "save_every", "n_threads"])
@pytest.mark.parametrize(
    "value", [2.0, np.nan, np.inf, [2], "2", True, np.array(2), 0, -(10**90)]
)
def test_counts_are_whole_numbers(name, value):
    with pytest.raises(SpecError, match=f"{name} must be a whole number .*1.*, got "):
        simulate(NET, **RUN, **{name: value})


def test_more_runs_than_the_noise_can_tell_apart():
    with pytest.raises(
        SpecError, match=r"n_trajectories must be .* in 1\.\.4294967296"
    ):
        simulate(NET, **RUN, n_trajectories=10**5000)
    with pytest.raises(SpecError, match=r"n_trajectories must be a whole .* got None"):
        simulate(NET, **RUN, n_trajectories=None)
    batch = Network.kuramoto(np.zeros((3, 2, 2)))
    with pytest.raises(SpecError, match=r"in 1\.\.1431655765, got 1431655766"):
        simulate(batch, **RUN, n_trajectories=1431655766)


def test_numpy_integers_count_and_more_threads_than_there_are_do_no_harm():
    plain = simulate(NET, **RUN, n_trajectories=2, save_every=3)
    other = simulate(
        NET, **RUN, n_trajectories=np.int8(2), save_every=np.uint16(3), n_threads=10**30
    )
    assert np.array_equal(plain.y, other.y)
    assert simulate(NET, **RUN, save_every=10**30).t.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", ["t1", "dt", "rtol", "atol"])
@pytest.mark.parametrize("value", ["1", 1j, [0.1], True, np.array(0.1)])
def test_times_and_tolerances_are_real_numbers(name, value):
    with pytest.raises(SpecError, match=f"{name} must be a real number, got "):
        simulate(NET, **{**RUN, name: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"t1": None}, "t1 must be a real number, got None"),
        ({"t1": 10**400}, "t1 must be finite and at least one step of 0.1, got inf"),
        ({"t1": -(10**400)}, "at least one step of 0.1, got -inf"),
        ({"dt": 10**400}, "dt must be positive and finite, got inf"),
        ({"dt": 1e-320}, r"at most 2\^32 steps, got inf"),
        ({"t1": 1e308}, r"at most 2\^32 steps, got inf"),
        ({"t1": 1e306}, r"at most 2\^32 steps, got 1e\+307"),
        ({"rtol": 2}, r"rtol must be at least 2\.3e-14 and below 1, got 2"),
        ({"rtol": 1e-15}, "rtol must be at least"),
        ({"rtol": np.inf}, "rtol must be at least"),
        ({"atol": np.inf}, "atol must be positive and finite, got inf"),
        ({"atol": 0}, "atol must be positive and finite, got 0"),
        ({"dtype": "foo"}, "dtype must be float64 or float32, got 'foo'"),
        ({"dtype": 5}, "dtype must be float64 or float32, got 5"),
        ({"dtype": "(2"}, "dtype must be float64 or float32"),
        ({"dtype": int}, "dtype must be float64 or float32, got int64"),
        ({"progress": 3}, r"progress must be a function of .* got 3"),
        ({"method": ["rk4"]}, r"method must be one of .* got \['rk4'\]"),
        ({"method": np.array(["rk4", "map"])}, "method must be one of"),
        ({"on_failure": None}, "on_failure must be 'raise' or 'return', got None"),
        ({"observe": 3}, "observe must be of order_parameter, .* got 3"),
        ({"observe": [["order_parameter"]]}, r"or None, got \['order_parameter'\]"),
        ({"diffusion": [0, 0, -2.0]}, r"got -2\.0 at index 2"),
        ({"diffusion": -2.0}, r"diffusion must be finite and >= 0, got -2\.0$"),
        ({"diffusion": [0, np.nan, 0]}, r"finite.* got nan at index \(?1"),
        ({"diffusion": [[0], [0, 1]]}, "diffusion.* ragged list"),
        ({"start": [0, 0, 1j]}, "start must hold real numbers, got type complex128"),
        ({"start": ["0", "0", "0"]}, "start must hold real numbers, got type <U1"),
        ({"start": [[0], [0, 1]]}, "start.* ragged list"),
        ({"start": np.zeros(3, "M8[s]")}, "start must hold real numbers, got type"),
        (
            {"start": np.ma.masked_array(np.zeros(3), [0, 1, 0])},
            "start has masked entries",
        ),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(SpecError, match=message) as caught:
        simulate(NET, **{**RUN, **arguments})
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [None, "net", np.zeros((2, 2))])
def test_what_is_no_network(value):
    with pytest.raises(SpecError, match="network must be a Network, got "):
        simulate(value, **RUN)


def test_a_mask_that_hides_nothing_and_single_precision_are_fine():
    plain = simulate(NET, **RUN, start=np.zeros(3))
    masked = np.ma.masked_array(np.zeros(3), [0, 0, 0])
    assert np.array_equal(simulate(NET, **RUN, start=masked).y, plain.y)
    net = Network.driven(np.eye(3))
    first = simulate(net, t1=1, dt=0.1, dtype=np.float32)
    more = simulate(net, t1=1, dt=0.1, start=first.y[0, -1])
    np.testing.assert_allclose(more.y[0, 0], first.y[0, -1], atol=1e-6)
    with pytest.raises(SpecError, match="start must hold unit vectors"):
        simulate(net, t1=1, dt=0.1, start=first.y[0, -1].astype(float) * (1 + 1e-7))
