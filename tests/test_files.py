"""Files are whole or not there at all."""

import stat
from pathlib import Path

import pytest

from oscsim.errors import SpecError
from oscsim.files import require_files, write_set, write_whole


def test_a_file_is_written_with_the_folders_it_needs(tmp_path):
    path = tmp_path / "a" / "b" / "run.toml"
    write_whole(path, b"one")
    assert path.read_bytes() == b"one"
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    write_whole(tmp_path / "mine", b"")
    (tmp_path / "other").touch()
    modes = [
        stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("mine", "other")
    ]
    assert modes[0] == modes[1]


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "file").write_text("kept")
    for path in (tmp_path / "file" / "run.toml", tmp_path / "file" / "a" / "run.toml"):
        with pytest.raises(SpecError, match=r"cannot write .*choose another folder"):
            write_whole(path, b"lost")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_folder_in_the_way_is_told_and_leaves_nothing(tmp_path):
    (tmp_path / "run.toml").mkdir()
    with pytest.raises(SpecError, match="choose another folder"):
        write_whole(tmp_path / "run.toml", b"lost")
    assert [path.name for path in tmp_path.iterdir()] == ["run.toml"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError()])
def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch, error):
    path = tmp_path / "run.toml"
    write_whole(path, b"old")

    def full(_self, _target):
        raise error

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SpecError, match="cannot write"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.toml"
    write_whole(path, b"old")

    def interrupted(_self, _target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_while_writing_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        write_whole(tmp_path / "run.toml", "text")
    assert not list(tmp_path.iterdir())


def test_a_set_of_files_replaces_what_an_earlier_one_left(tmp_path):
    names = [tmp_path / name for name in ("a", "b", "c")]
    write_set(tmp_path, {"a": b"1", "b": b"1"}, stale=names)
    (tmp_path / "kept").write_bytes(b"mine")
    assert write_set(tmp_path, {"b": b"2"}, stale=names) == [tmp_path / "b"]
    assert {f.name: f.read_bytes() for f in tmp_path.iterdir()} == {
        "b": b"2",
        "kept": b"mine",
    }


def test_a_folder_in_place_of_one_file_stops_the_whole_set(tmp_path):
    (tmp_path / "b").mkdir()
    with pytest.raises(SpecError, match=r"cannot write .*b: it is a folder"):
        write_set(tmp_path, {"a": b"1", "b": b"1"})
    assert [f.name for f in tmp_path.iterdir()] == ["b"]
    with pytest.raises(SpecError, match=r"it is a folder"):
        require_files([tmp_path / "c", tmp_path / "b"])
    require_files([tmp_path / "c"])
