"""Files that take the place of others all at once, whenever their writer is killed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from itertools import count, groupby
from pathlib import Path

import pytest

from elman.folders import folder_swap
from elman.folders.folder_lock import FolderInUseError, lock_folder
from elman.folders.folder_swap import finish_swap, read_settled, stage_files
from tests.folders.killing import kill_at_step

OLD = {"config.json": "old", "vocab.json": "old", "model.safetensors": "old", "notes.txt": "mine"}
NEW = {"config.json": "new", "tokenizer.json": "new", "model.safetensors": "new"}


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)


def read(folder: Path) -> dict[str, str]:
    """The files of a folder, but not the lock that a killed process left."""
    paths = (path for path in folder.iterdir() if path.name not in (".lock", ".new"))
    return {path.name: path.read_text() for path in paths}


def swap(folder: Path) -> None:
    with lock_folder(folder), stage_files(folder) as staging:
        write(staging, NEW)


def each_kill(folder: Path, work: Callable[[Path], None]) -> list[bool]:
    """Whether the new files were found after a kill at each step; a mixture never is."""
    found = []
    for step in count():
        here = folder / str(step)
        write(here, OLD)
        over = not kill_at_step(step + 1, lambda here=here: work(here))
        after = read_settled(here, lambda here=here: read(here))
        assert after in (OLD, NEW | {"notes.txt": "mine"})
        found.append(after != OLD)
        swap(here)
        assert read(here) == NEW | {"notes.txt": "mine"}, "what was left is in nobody's way"
        if over:
            return found
    raise AssertionError


def test_a_kill_at_any_step_leaves_the_old_files_or_the_new_ones(tmp_path):
    found = each_kill(tmp_path, swap)
    assert found == sorted(found)
    assert set(found) == {False, True}


def test_who_finishes_a_swap_may_be_killed_as_well(tmp_path):
    for step in count(1):
        here = tmp_path / str(step)
        write(here, OLD)
        write(here / ".complete", NEW)
        over = not kill_at_step(step, lambda here=here: finish_swap(here))
        assert read_settled(here, lambda here=here: read(here)) == NEW | {"notes.txt": "mine"}
        if over:
            return


def test_each_step_of_a_swap_is_on_the_disk_before_the_next_begins(tmp_path, monkeypatch):
    """A power cut may forget any name that was changed since the folder was last brought to the disk."""
    write(tmp_path, OLD)
    write(tmp_path / ".new.files", NEW)
    steps: list[str] = []

    def log(name: str, word: str) -> None:
        step = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *paths, **options: (steps.append(word), step(*paths, **options))[1]
        )

    for name, word in {"rename": "say how far", "replace": "move", "rmdir": "end"}.items():
        log(name, word)
    moved: list[str] = []
    move = os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (moved.append(new.name), move(old, new))[1])
    number = tmp_path.stat().st_ino
    monkeypatch.setattr(
        os, "fsync", lambda handle: steps.append("sync") if os.fstat(handle).st_ino == number else None
    )
    os.rename(tmp_path / ".new.files", tmp_path / ".complete")
    finish_swap(tmp_path)
    assert [word for word, _ in groupby(steps[1:])] == ["say how far", "sync", "move", "sync", "end"]
    assert sorted(moved) == sorted(NEW)
    assert moved[-1] == "config.json", "what makes it a model comes last"


def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path):
    write(tmp_path, OLD)
    with pytest.raises(IsADirectoryError), lock_folder(tmp_path), stage_files(tmp_path) as staging:
        write(staging, NEW | {".": "no file"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == OLD


def test_a_reader_whose_files_are_replaced_reads_again(tmp_path):
    write(tmp_path, OLD)
    found: list[dict[str, str]] = []

    def read_slowly() -> dict[str, str]:
        first = (tmp_path / "config.json").read_text()
        if not found:
            swap(tmp_path)
        found.append({"config.json": first, "model.safetensors": (tmp_path / "model.safetensors").read_text()})
        return found[-1]

    assert read_settled(tmp_path, read_slowly) == {"config.json": "new", "model.safetensors": "new"}
    assert found[0] == {"config.json": "old", "model.safetensors": "new"}


def test_a_reader_waits_for_who_finishes_a_swap_but_not_for_ever(tmp_path, monkeypatch):
    write(tmp_path, OLD)
    write(tmp_path / ".complete", NEW)
    with lock_folder(tmp_path):
        monkeypatch.setattr(folder_swap, "PATIENCE", 0.1)
        began = time.monotonic()
        with pytest.raises(FolderInUseError, match="is in use"):
            read_settled(tmp_path, lambda: read(tmp_path))
        assert 0.1 <= time.monotonic() - began < 5
        monkeypatch.setattr(folder_swap, "PATIENCE", 60)
        writer = threading.Timer(0.1, finish_swap, [tmp_path])
        writer.start()
        assert read_settled(tmp_path, lambda: read(tmp_path)) == NEW | {"notes.txt": "mine"}
        writer.join()


def test_what_cannot_be_read_is_an_error_where_nothing_was_replaced(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_settled(tmp_path, (tmp_path / "config.json").read_text)
