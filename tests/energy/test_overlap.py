"""A stream of sweeps beside a simulation of its schedule, event by event."""

import heapq
import itertools

import pytest

from oscsim.energy.baselines import Shape
from oscsim.energy.mapping import Attention, map_attention
from oscsim.energy.overlap import overlap
from oscsim.energy.timeline import timeline
from oscsim.substrate.device import Device

RING = Device.load("ring-65nm").changed(
    write_time=1.0, settle_time=10.0, read_time=2.0, oscillators=4
)
MODEL = Attention(n_layers=3, n_heads=2, d_osc=2, context=6, causal=True, d_head=4)
SHAPE = Shape(3, 2, 8, 16, 2, [6], True, "softplus", 5)


def timed(*, macs_per_s=100.0, batch=1, is_decoding=False, **changes):
    device = RING.changed(**changes)
    mapping = map_attention(device, MODEL, batch=batch, is_decoding=is_decoding)
    return timeline(mapping, macs_per_s=macs_per_s, shape=SHAPE)


def steps(found):
    """What one sweep does, in order: layer by layer, pass by pass."""
    each = {name: s / MODEL.n_layers for name, s in found.seconds.items()}
    rounds = found.mapping.query_rounds
    layer = [
        ("digital", each["projection"] + each["weights"]),
        ("bus", each["load"]),
        *[("array", (each["settle"] + each["read"]) / rounds)] * rounds,
        ("digital", each["value"] + each["ffn"]),
    ]
    return layer * MODEL.n_layers


def makespan(work, n_sweeps, in_flight):
    """Time until all sweeps are done: each resource serves who has waited longest."""
    order = itertools.count()
    waiting = {"bus": [], "array": [], "digital": []}
    is_free = dict.fromkeys(waiting, True)
    events, started, now = [], 0, 0.0

    def join(sweep, step):
        heapq.heappush(waiting[work[step][0]], (now, next(order), sweep, step))

    for sweep in range(min(in_flight, n_sweeps)):
        join(sweep, 0)
        started += 1
    while True:
        for name, queue in waiting.items():
            if queue and is_free[name]:
                _, _, sweep, step = heapq.heappop(queue)
                is_free[name] = False
                end = now + work[step][1]
                heapq.heappush(events, (end, next(order), name, sweep, step))
        if not events:
            return now
        now, _, name, sweep, step = heapq.heappop(events)
        is_free[name] = True
        if step + 1 < len(work):
            join(sweep, step + 1)
        elif started < n_sweeps:
            join(started, 0)
            started += 1


CASES = {
    "array": {"macs_per_s": 300.0},
    "bus": {"write_time": 9.0},
    "digital": {"macs_per_s": 30.0},
}


@pytest.mark.parametrize("resource", CASES)
def test_a_long_stream_reaches_the_bound_and_never_beats_it(resource):
    """300 sweeps, plenty in flight: within 1 % of the bound, the ends included."""
    found = timed(**CASES[resource])
    stream = overlap(found)
    assert stream.bottleneck == resource
    took = makespan(steps(found), 300, in_flight=12)
    assert 300 * stream.interval_s <= took * (1 + 1e-9)
    assert took < 1.01 * 300 * stream.interval_s
    assert stream.interval_s < 0.9 * found.latency_s, "or there is nothing to gain"


def test_one_sweep_takes_the_latency_and_streams_of_one_gain_nothing():
    found = timed()
    assert makespan(steps(found), 1, 1) == pytest.approx(found.latency_s)
    assert makespan(steps(found), 7, 1) == pytest.approx(7 * found.latency_s)


def test_fewer_in_flight_than_it_says_cannot_keep_the_busiest_busy():
    found = timed(write_time=9.0, settle_time=30.0)
    stream = overlap(found)
    assert stream.in_flight > 1
    few = makespan(steps(found), 60, stream.in_flight - 1)
    assert few > 1.05 * 60 * stream.interval_s


def test_one_sequence_that_is_decoded_has_nothing_to_overlap_with():
    one, many = timed(is_decoding=True), timed(is_decoding=True, batch=4)
    alone, batched = overlap(one), overlap(many)
    assert alone.is_alone
    assert alone.tokens_per_s == one.tokens_per_s
    assert alone.in_flight == 1
    assert not batched.is_alone
    assert batched.tokens_per_s > many.tokens_per_s
    assert overlap(timed()).tokens_per_s == 6 / overlap(timed()).interval_s


def test_resources_are_busy_for_what_is_done_on_them():
    found = timed()
    assert sum(overlap(found).busy.values()) == pytest.approx(found.latency_s)
    untimed = timeline(map_attention(RING, MODEL))
    assert set(overlap(untimed).busy) == {"bus", "array"}
    assert overlap(untimed).interval_s == max(
        untimed.seconds["load"], untimed.seconds["settle"] + untimed.seconds["read"]
    )


def test_an_array_that_runs_while_it_loads_is_busy_meanwhile():
    gated, running = (
        timed(write_time=9.0, runs_while_loading=runs) for runs in (False, True)
    )
    assert gated.seconds == running.seconds, "one sweep alone takes as long"
    before, after = overlap(gated), overlap(running)
    load = gated.seconds["load"]
    assert before.bottleneck == "bus"
    assert after.bottleneck == "array"
    assert after.busy["array"] == pytest.approx(before.busy["array"] + load)
    assert after.busy["bus"] == before.busy["bus"]
    assert after.interval_s > before.interval_s
    assert after.interval_s <= running.latency_s
