"""A file is there whole, or as it was before."""

import errno
import os

import pytest

from elman.files.atomic_files import open_atomically, write_atomically


def fail(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


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
