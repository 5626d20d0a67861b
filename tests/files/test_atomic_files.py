"""A file is there whole, or as it was before."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from elman.files.atomic_files import (
    open_atomically,
    open_result,
    sync_tree,
    temporary_path,
    write_atomically,
    write_result,
)


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


def test_a_file_is_whole_when_it_is_brought_to_the_disk(tmp_path, monkeypatch):
    """Nothing waits in memory any more: else a crash leaves the name without the content."""
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    write_atomically(tmp_path / "model", b"content")
    assert sizes[0] == len(b"content")


def test_what_is_brought_to_the_disk_is_closed_again(tmp_path):
    (tmp_path / "file").touch()
    opened = len(os.listdir("/dev/fd"))
    sync_tree(tmp_path)
    assert len(os.listdir("/dev/fd")) == opened


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


def test_a_result_is_written_into_a_pipe_not_in_its_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_result(tmp_path / "pipe", b"answers")
    reader.join(10)
    assert read == [b"answers"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode), "as /dev/null is one, or /dev/stdout"


@pytest.mark.parametrize("there", [True, False])
def test_a_result_goes_where_a_link_points(tmp_path, there):
    (tmp_path / "data").mkdir()
    if there:
        (tmp_path / "data" / "answers").write_bytes(b"old")
    (tmp_path / "link").symlink_to("data/answers")
    write_result(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "data" / "answers").read_bytes() == b"new"


def test_a_result_that_was_there_is_replaced_when_the_new_one_is_whole(tmp_path):
    (tmp_path / "answers").write_bytes(b"old")
    with open_result(tmp_path / "answers") as file:
        file.write(b"new")
        file.flush()
        assert (tmp_path / "answers").read_bytes() == b"old"
    assert (tmp_path / "answers").read_bytes() == b"new"


def test_a_result_leaves_the_files_beside_it(tmp_path):
    """Neither a file of somebody's, nor that of another process that writes the same."""
    temporary_path(tmp_path / "answers").write_bytes(b"mine")
    with open_result(tmp_path / "answers") as file:
        file.write(b"new")
        assert str(os.getpid()) in file.name
    left = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert left == {"answers": b"new", "answers.tmp": b"mine"}


def test_a_result_that_cannot_be_written_is_named_as_the_user_does(tmp_path):
    with pytest.raises(FileNotFoundError) as failure:
        write_result(tmp_path / "nowhere" / "answers", b"new")
    assert failure.value.filename == str(tmp_path / "nowhere" / "answers")
