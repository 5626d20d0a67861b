"""A file is there whole, or as it was before."""

import errno
import os
from pathlib import Path

import pytest

from elman.files.atomic_files import open_atomically, sync_tree, temporary_path, write_atomically


def fail(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def log_calls(monkeypatch) -> list[object]:
    """The number of each file that is brought to the disk from now on, and a word for each renaming."""
    calls: list[object] = []
    rename = os.replace

    def replace(old: Path, new: Path) -> None:
        calls.append("renamed")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", lambda handle: calls.append(os.fstat(handle).st_ino))
    monkeypatch.setattr(os, "replace", replace)
    return calls


def test_a_file_is_on_the_disk_before_it_is_renamed_and_its_new_name_after(tmp_path, monkeypatch):
    calls = log_calls(monkeypatch)
    with open_atomically(tmp_path / "model") as file:
        file.write(b"content")
        number = os.fstat(file.fileno()).st_ino
        assert Path(file.name) == temporary_path(tmp_path / "model") != tmp_path / "model"
    assert calls == [number, "renamed", tmp_path.stat().st_ino]


def test_all_of_a_folder_is_brought_to_the_disk_but_not_what_links_point_to(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "elsewhere").touch()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "elsewhere")
    calls = log_calls(monkeypatch)
    sync_tree(tmp_path / "a")
    there = (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "file")
    assert sorted(calls) == sorted(path.stat().st_ino for path in there)


def test_a_full_disk_leaves_the_old_file_and_is_told_with_its_name(tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as failure:
        write_atomically(path, b"new")
    assert failure.value.filename == str(path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"model": b"old"}


def test_an_error_that_names_a_file_keeps_that_name(tmp_path):
    with pytest.raises(FileNotFoundError) as failure, open_atomically(tmp_path / "one"):
        (tmp_path / "another").read_bytes()
    assert failure.value.filename == str(tmp_path / "another")
    assert not list(tmp_path.iterdir())
