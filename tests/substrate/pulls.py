"""Small Kuramoto attention layers and chips whose answer is known."""

import numpy as np

from oscsim.counts import Counts
from oscsim.substrate.phase_chip import PhaseModel, program_phases
from oscsim.substrate.phase_pull import Pull
from oscsim.substrate.phase_update import read_on, update_on
from oscsim.substrate.tally import SettleTally
from tests.substrate.drives import device

WIDE = 1e9
"""A radius at which the bound ``unit`` is the identity."""


def pull_of(
    theta,
    attention,
    strength=1.0,
    *,
    radius=WIDE,
    bound="unit",
    items=None,
    layer=0,
    trained="map",
):
    """A pull on phases (batch, time, k) by weights (batch, heads, time, time)."""
    theta, attention = np.asarray(theta, float), np.asarray(attention, float)
    batch, time, k = theta.shape
    heads = attention.shape[1]
    by_head = np.exp(1j * theta).reshape(batch, time, heads, k // heads)
    field = np.einsum("bhtu,buhj->bthj", attention, by_head).reshape(theta.shape)
    return Pull(
        layer=layer,
        items=np.arange(batch) if items is None else np.asarray(items),
        theta=theta,
        attention=attention,
        field=field,
        strength=np.broadcast_to(np.asarray(strength, float), theta.shape),
        radius=np.broadcast_to(np.asarray(radius, float), (k,)),
        bound=bound,
        trained=trained,
    )


def random_pull(seed=0, *, batch=3, heads=2, time=5, k=4, **options):
    """Random phases, causal weights and signed strengths."""
    draw = np.random.default_rng(seed)
    weights = np.tril(draw.exponential(size=(batch, heads, time, time)))
    weights /= weights.sum(-1, keepdims=True)
    strength = draw.normal(0, 1.5, (batch, time, k))
    theta = draw.uniform(-3, 3, (batch, time, k))
    return pull_of(theta, weights, strength, **options)


def same_pull(n, *, strength=1.0, partner=1.0, own=0.5):
    """``n`` windows of two tokens, the second pulled by the first."""
    theta = np.zeros((n, 2, 1))
    theta[:, 0] = partner
    weights = np.zeros((n, 1, 2, 2))
    weights[:, 0, 0, 0] = 1.0
    weights[:, 0, 1] = 1 - own, own
    return pull_of(theta, weights, strength)


MODEL = ("self_term", "unwrapped", "ranging")


def phase_chip(pull, *, seed=5, chip=0, **fields):
    """A chip of a ring device without any imperfection but those given."""
    _, time, k = pull.theta.shape
    switches = {name: fields.pop(name) for name in MODEL if name in fields}
    model = PhaseModel(pull.layer + 1, time, k, **switches)
    return program_phases(device(**fields), model, seed=seed, chip=chip)


def updated(pull, how="map", *, repeat=0, tally=None, counts=None, **options):
    """Phases after the update on a chip."""
    tally = SettleTally() if tally is None else tally
    update = update_on(phase_chip(pull, **options), repeat, tally, how=how)
    return update(pull, Counts() if counts is None else counts)


def seen(pull, *, repeat=0, tally=None, **options):
    """Phases as the score stage reads them."""
    tally = SettleTally() if tally is None else tally
    read = read_on(phase_chip(pull, **options), repeat, tally)
    return read(pull.layer, pull.items, pull.theta, Counts())
