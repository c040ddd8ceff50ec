"""Which steps are too long for a network: refused, or warned of."""

import re
import time
import warnings

import numpy as np
import pytest
from scipy import sparse

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.physics.geometry import wrap
from oscsim.solve.simulate import simulate
from oscsim.solve.stability import _fastest

LIMITS = [("rk4", 2.78), ("heun", 2.0), ("euler-maruyama", 2.0)]
METHODS = pytest.mark.parametrize(("method", "limit"), LIMITS)
PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
ONE_WAY = np.array([[0.0, 1.0], [0.0, 0.0]])


def network_of(part, rate):
    """Oscillator 0 relaxes to 0 at this rate; on the sphere to the first axis."""
    none = np.zeros((2, 2))
    if part == "drive":
        return Network.driven([[rate, 0.0], [0.0, 0.0]], geometry="torus")
    if part == "anchors":
        pull = np.array([[1.5 * rate, -0.5 * rate], [0.0, 0.0]])
        return Network.kuramoto(none, anchors=[0.0, 0.0], anchor_weights=pull)
    if part == "injection":
        return Network.kuramoto(none, shil=[rate / 2, 0.0])
    if part == "vectors":
        return Network.lohe(rate * ONE_WAY, d=3)
    if part == "mixed":
        pull = {"anchors": [0.0], "anchor_weights": [[rate / 4], [0.0]]}
        return Network.kuramoto(rate / 4 * ONE_WAY, shil=[rate / 4, 0.0], **pull)
    form = sparse.csr_array if part == "sparse" else np.asarray
    weights = form(rate * ONE_WAY)
    if part == "batch":
        weights = np.stack([0.1 * weights, weights])
    return Network.kuramoto(weights)


PARTS = [
    "coupling",
    "sparse",
    "batch",
    "drive",
    "anchors",
    "injection",
    "mixed",
    "vectors",
]


def unstable(net, method, dt):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(SpecError, match=f"unstable for '{method}'") as caught:
            simulate(net, t1=dt, dt=dt, method=method)
    return str(caught.value)


@pytest.mark.kernel
@METHODS
@pytest.mark.parametrize("part", PARTS)
def test_a_step_is_refused_just_beyond_the_limit_and_taken_just_below(
    part, method, limit
):
    """The step named in the message would do, and hardly a longer one."""
    for rate in (30.0, 7.7e-5):
        net = network_of(part, rate)
        message = unstable(net, method, 1.0001 * limit / rate)
        assert re.search(rf"dt = {1.0001 * limit:.4g} of an .* above {limit}", message)
        named = float(re.search(r"use dt <= (\S+)$", message)[1])
        assert 0.99 * limit / rate < named <= limit / rate
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            arguments = {"t1": named, "dt": named, "method": method}
            run = simulate(net, on_failure="return", **arguments)
            assert run.is_complete
            # so long a step may leave the sphere, and says so
            assert part == "vectors" or (run.status == -1).all()
            simulate(net, t1=3.0 / rate, dt=3.0 / rate, method="map")


@METHODS
@pytest.mark.parametrize("part", [p for p in PARTS if p not in ("batch", "vectors")])
def test_what_is_taken_without_a_warning_settles(part, method, limit):
    """A step of .98 limit, from .1: 300 factors of about -.96 leave nothing.

    Coupling is counted twice for the warning, so one that acts one way is warned
    of, and settles all the same.
    """
    net, dt = network_of(part, 30.0), 0.98 * limit / 30
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        end = simulate(net, t1=300 * dt, dt=dt, method=method, start=[0.1, 0.0])
    assert abs(end.y[0, -1, 0]) < 1e-3


@METHODS
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_mutual_pair_needs_half_the_step(method, limit, form):
    """Its difference relaxes at 2 K: stable up to the bound, beyond it is said.

    Just below 2 K dt = limit it comes to rest without a warning; at 1.2 limit,
    not refused, it never does.
    """
    net = Network.kuramoto(form(PAIR), coupling=10.0)

    def left(share):
        dt = share * limit / 20
        run = simulate(net, t1=300 * dt, dt=dt, method=method, start=[0.1, 0.0])
        return abs(wrap(np.diff(run.y[0, -1])))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert left(0.98) < 1e-3
    what = (
        rf"may be unstable .* '{method}': 2 sum \|K\| dt = {1.2 * limit:.4g} .*dt <= "
    )
    with pytest.warns(RuntimeWarning, match=what):
        assert left(1.2) > 0.1


@pytest.mark.kernel
def test_the_warning_names_a_step_that_is_not_warned_of():
    net = Network.kuramoto(PAIR, coupling=10.0, shil=1.0)
    with pytest.warns(RuntimeWarning, match=r"\(2 sum \|K\| \+ 2 \|I\|\) dt") as caught:
        simulate(net, t1=1, dt=0.2)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    named = float(str(caught[0].message).rsplit(" ", 1)[1])
    assert 0.99 * 2.78 / 22 < named <= 2.78 / 22
    simulate(net, t1=named, dt=named)


@pytest.mark.kernel
def test_anchors_that_cancel_need_no_short_step():
    net = Network.kuramoto(
        np.zeros((1, 1)), anchors=[0.0, 0.0], anchor_weights=[[50.0, -49.0]]
    )
    end = simulate(net, t1=20, dt=1, start=[1.0]).y[0, -1]
    assert abs(end[0]) < 1e-6


@pytest.mark.kernel
def test_rotation_of_vectors_is_measured_by_the_spectral_norm():
    """d = 16, all entries +-1: 10.15 rad/s, so .2 s turn by 2.03 rad."""
    sign = np.triu(np.ones((16, 16)), 1)
    net = Network.lohe("all-to-all", d=16, n=2, omega=sign - sign.T, coupling=0.1)
    with pytest.warns(RuntimeWarning, match=r"turns by 2\.03 rad per step"):
        simulate(net, t1=0.2, dt=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(net, t1=0.098, dt=0.098)


@pytest.mark.kernel
@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_fastest_of_many_is_found_where_it_matters(d):
    """By eigenvalues where cheaper bounds leave it open, wherever it is."""
    rng = np.random.default_rng(d)
    m = rng.standard_normal((3000, d, d))
    omega = m - np.swapaxes(m, 1, 2)
    norm = np.linalg.norm(omega, 2, axis=(1, 2))
    order = np.argsort(norm)
    net = Network.driven(np.zeros((3000, d)), omega)
    second, first = norm[order[-2:]]
    assert _fastest(net, 2 / (first + second)) == pytest.approx(first)
    assert _fastest(net, 0.999 / first) * 0.999 / first < 1.0
    assert _fastest(net, 2.0 / norm.min()) > norm.min() / 2
    same = Network.driven(np.zeros((10**5, d)), omega[order[-1]])
    began = time.process_time()
    assert _fastest(same, 1.001 / first) == pytest.approx(first)
    assert time.process_time() - began < 2.0
    assert _fastest(Network.driven(np.zeros((2, d))), 1.0) == 0.0
