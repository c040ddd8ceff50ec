import numpy as np
import pytest

from oscsim.errors import SimulatorError, SpecError
from oscsim.spice.rawfile import read_raw

HEADER = """Title: * t
Date: Sun Nov 29 20:10:06  2026
Plotname: Transient Analysis
Flags: {flags}
No. Variables: {n_names}
No. Points: {n_points}
Variables:
\t0\t{first}\ttime
\t1\tV(Out)\tvoltage
"""
TABLE = np.array([[0.0, 1.5], [1e-9, -2.0], [3e-9, 0.25]])


def written(folder, body, flags="real", n_names=2, n_points=3, first="time"):
    header = HEADER.format(flags=flags, n_names=n_names, n_points=n_points, first=first)
    path = folder / "out.raw"
    path.write_bytes(header.encode() + body)
    return path


BINARY = b"Binary:\n" + TABLE.tobytes()
TEXT = b"Values:\n" + b"".join(
    f" {k}\t{a!r}\n\t{b!r}\n\n".encode() for k, (a, b) in enumerate(TABLE.tolist())
)


@pytest.mark.parametrize("body", [BINARY, TEXT], ids=["binary", "text"])
def test_both_forms_give_the_same_waveforms(tmp_path, body):
    waves = read_raw(written(tmp_path, body))
    np.testing.assert_array_equal(waves.time, TABLE[:, 0])
    np.testing.assert_array_equal(waves.signal("v(OUT)"), TABLE[:, 1])


def test_a_second_plot_is_left_alone(tmp_path):
    waves = read_raw(written(tmp_path, BINARY + b"Title: another\n"))
    assert len(waves.time) == 3


@pytest.mark.parametrize(
    ("body", "changes", "told"),
    [
        (b"", {}, "no values"),
        (BINARY, {"n_points": 0}, "0 points"),
        (BINARY[:-1], {}, "ends before the 3 points"),
        (TEXT[:-9], {}, "ends before the 3 points"),
        (BINARY, {"flags": "complex"}, "complex"),
        (BINARY, {"first": "frequency"}, "'frequency' as its first"),
        (BINARY, {"n_names": 3}, "announces 3 variables and lists 2"),
    ],
)
def test_what_is_no_transient_analysis_is_refused(tmp_path, body, changes, told):
    with pytest.raises(SimulatorError, match=told):
        read_raw(written(tmp_path, body, **changes))


def test_a_header_without_a_count_is_refused(tmp_path):
    path = tmp_path / "out.raw"
    path.write_bytes(b"Title: x\n" + BINARY)
    with pytest.raises(SimulatorError, match=r"No\. Variables"):
        read_raw(path)


def test_a_signal_that_was_not_saved_is_named(tmp_path):
    waves = read_raw(written(tmp_path, BINARY))
    with pytest.raises(SpecError, match=r"'v\(in\)' was saved: one of v\(out\)"):
        waves.signal("v(in)")
