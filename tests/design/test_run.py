"""Sweeps give the same bits however they are run, stopped, resumed and shared."""

import numpy as np
import pytest

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.compare import compare
from oscsim.bridge.cost import price
from oscsim.bridge.infer import infer
from oscsim.bridge.language import as_text
from oscsim.design.run import sweep
from oscsim.design.store_file import open_store
from oscsim.design.work import Task, work
from oscsim.errors import SpecError
from oscsim.study.drives import drive_length, over_oscillators
from oscsim.substrate.device import Device
from tests.bridge.runs import bundled
from tests.design.specs import DATA, everything, few_sentences, small


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    return small(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def serial(ready, tmp_path_factory):
    path = tmp_path_factory.mktemp("serial") / "a.sqlite"
    result = sweep(ready, path, workers=1)
    assert (result.cells, result.chips, result.resumed) == (4, 8, 0)
    return path


def test_a_cell_is_what_infer_gives(ready, serial):
    cell = ready.cells[3]
    assert cell.point == {"weight_bits": 6, "coupling_mismatch": 0.05}
    run = infer(
        bundled(),
        ready.spec.data,
        device=Device.load("ring-65nm").changed(weight_bits=6, coupling_mismatch=0.05),
        chips=2,
        repeats=1,
    )
    with open_store(serial) as store:
        found = [value for _, value in sorted(store.values(cell.digest))]
    assert found == list(compare(run).per_chip)


def test_processes_give_the_same_bits(ready, serial, tmp_path):
    path = tmp_path / "b.sqlite"
    assert sweep(ready, path, workers=2).chips == 8
    assert everything(path) == everything(serial)


def test_a_sweep_that_is_done_runs_nothing_again(ready, serial):
    before = everything(serial)
    again = sweep(ready, serial, workers=1)
    assert (again.chips, again.resumed) == (8, 8)
    assert everything(serial) == before


def test_an_interruption_keeps_what_was_done_and_goes_on(ready, serial, tmp_path):
    path = tmp_path / "c.sqlite"

    def stop(done, _all):
        if done == 3:
            raise KeyboardInterrupt

    result = sweep(ready, path, workers=1, progress=stop)
    assert result.interrupted
    assert result.chips == 3
    assert len(everything(path)[0]) == 3
    again = sweep(ready, path, workers=1)
    assert (again.chips, again.resumed) == (8, 3)
    assert everything(path) == everything(serial)


def test_two_sweeps_on_one_store_share_the_work(ready, serial, tmp_path):
    """One runs inside the progress of the other: their results interleave."""
    path, ran = tmp_path / "d.sqlite", []

    def other(done, _all):
        if done == 2 and not ran:
            ran.append(sweep(ready, path, workers=1))

    mine = sweep(ready, path, workers=1, progress=other)
    assert ran[0].resumed == 2
    assert mine.chips == 8
    assert everything(path) == everything(serial)


def test_chips_are_added_until_the_interval_is_narrow(tmp_path):
    ready = small(
        tmp_path,
        data=few_sentences(tmp_path, 256),
        axes={"coupling_mismatch": [0.0, 1.0]},
        chips=4,
        precision={"half_width": 1e-9, "most_chips": 7},
    )
    path = tmp_path / "e.sqlite"
    sweep(ready, path, workers=1)
    with open_store(path) as store:
        per_cell = [store.items(cell.digest) for cell in ready.cells]
    hard = ready.subjects["sva-osc-d2-s0"].counted
    for items, asked in zip(per_cell, (4, 7), strict=True):
        values = items[:, hard].mean(axis=1)
        assert len(values) == asked
        assert (np.ptp(values[:4]) == 0) == (asked == 4)


def test_chips_are_not_added_where_the_interval_is_narrow(tmp_path):
    ready = small(
        tmp_path,
        axes={"coupling_mismatch": [0.0, 1.0]},
        chips=4,
        precision={"half_width": 50.0, "most_chips": 64},
    )
    result = sweep(ready, tmp_path / "n.sqlite", workers=1)
    assert result.chips == 8


def test_chips_added_do_not_depend_on_who_runs_them(tmp_path):
    precision = {"half_width": 0.02, "most_chips": 8}
    ready = small(
        tmp_path,
        data=few_sentences(tmp_path, 256),
        axes={"coupling_mismatch": [0.0, 0.6, 1.0]},
        chips=4,
        precision=precision,
    )
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    sweep(ready, one, workers=1)
    sweep(ready, two, workers=2)
    assert everything(one) == everything(two)
    assert 12 < len(everything(one)[0]) <= 24


def test_cells_share_their_random_numbers(tmp_path):
    """A number that only counts what it finds: the chips must be the same draws."""
    ready = small(
        tmp_path, axes={"weak_coupling": [0.1, 0.2]}, set={"coupling_mismatch": 2.0}
    )
    sweep(ready, tmp_path / "s.sqlite", workers=1)
    with open_store(tmp_path / "s.sqlite") as store:
        a, b = (store.items(cell.digest) for cell in ready.cells)
    assert np.array_equal(a, b)
    assert not np.array_equal(a[0], a[1])


def test_relative_diffusion_is_in_median_drives(tmp_path):
    checkpoint = load_checkpoint(DATA / "checkpoints" / "bytes-osc-d8-p4")
    common = {
        "data": None,
        "checkpoints": [str(checkpoint.path)],
        "windows": 2,
        "axes": {"relative_diffusion": [0.0, 0.1]},
    }
    windows = as_text(None, checkpoint, 2)
    median = np.median(
        np.concatenate(
            [x.ravel() for x in over_oscillators(checkpoint, windows, drive_length)]
        )
    )
    model = small(tmp_path, device="ideal", rung="noisy", **common)
    assert model.cells[0].setting.device.diffusion == 0.0
    assert model.cells[1].setting.device.diffusion == pytest.approx(0.1 * median, 1e-12)
    real = small(tmp_path, device="sphere-generic", **common)
    device = real.cells[1].setting.device
    scales = [
        layer.full_scale for layer in real.subjects[checkpoint.name].calibration.layers
    ]
    scaled = np.median(
        np.concatenate(
            [
                (x / scale[:, None]).ravel()
                for x, scale in zip(
                    over_oscillators(checkpoint, windows, drive_length),
                    scales,
                    strict=True,
                )
            ]
        )
    )
    assert device.diffusion == pytest.approx(
        0.1 * scaled * device.coupling_max, rel=1e-12
    )


def test_give_workers_or_a_scheduler(ready, tmp_path):
    with pytest.raises(SpecError, match="workers or a scheduler, not both"):
        sweep(ready, tmp_path / "f.sqlite", workers=2, scheduler="tcp://127.0.0.1:1")


def test_a_chip_costs_what_infer_says_and_only_the_first_is_priced(tmp_path):
    ready = small(tmp_path, device="sphere-generic", axes={"weight_bits": [6]})
    first, second = (work(ready.subjects, Task(ready.cells[0], k, 1)) for k in (0, 1))
    (subject,) = ready.subjects.values()
    run = infer(
        subject.checkpoint,
        ready.spec.data,
        device="sphere-generic",
        chips=1,
    )
    found = price(run).substrate.range_j("system")
    assert first.joules == pytest.approx((found.p10, found.p50, found.p90), rel=1e-12)
    assert second.joules is None


def test_joules_of_a_chip_follow_its_bits_as_far_as_a_law_does(tmp_path):
    """More bits of the converter cost more; beyond 10 there is no price."""
    axes = {"adc_bits": [4, 6, 10, 11]}
    ready = small(tmp_path, device="sphere-generic", axes=axes)
    found = [work(ready.subjects, Task(cell, 0, 1)) for cell in ready.cells]
    four, six, ten, beyond = (one.joules for one in found)
    assert beyond is None
    assert np.isfinite(found[3].value), "it has a result all the same"
    assert all(np.diff([four, six, ten], axis=0).ravel() > 0)
