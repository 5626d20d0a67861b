"""One writer at a time, and no ghost of a dead one."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from elman.folders import folder_lock
from elman.folders.folder_lock import LOCK, FolderInUseError, check_unlocked, lock_folder

HOLD = """
import sys
from pathlib import Path
from elman.folders.folder_lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds a folder until its input ends."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], **pipes)
    assert process.stdout.readline() == "held\n"
    return process


def count_open() -> int:
    """How many files this process has open."""
    return len(os.listdir("/dev/fd"))


def test_the_second_writer_is_told_who_the_first_is(tmp_path):
    opened = count_open()
    first = hold(tmp_path)
    said = f"{tmp_path} is in use: process {first.pid} on {socket.gethostname()} writes into it"
    with pytest.raises(FolderInUseError, match=said), lock_folder(tmp_path):
        pass
    with pytest.raises(FolderInUseError, match=said):
        check_unlocked(tmp_path)
    first.communicate("")
    assert not [*tmp_path.iterdir()]
    check_unlocked(tmp_path)
    check_unlocked(tmp_path / "absent")
    with lock_folder(tmp_path):
        assert (tmp_path / LOCK).stat().st_mode & 0o111 == 0, "it is no program"
    assert not [*tmp_path.iterdir()]
    assert count_open() == opened


def test_a_killed_writer_holds_nothing_even_if_its_number_lives_on(tmp_path):
    first = hold(tmp_path)
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / LOCK).write_text(f"process {os.getpid()} on {socket.gethostname()}")
    with lock_folder(tmp_path):
        pass
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_stays_empty_is_taken_away_with_those_around_it(tmp_path):
    with lock_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not (tmp_path / "a").exists()
    with lock_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "mine").touch()
        (tmp_path / "a" / "b" / LOCK).unlink()  # somebody cleans up
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["mine"]


def test_a_lock_that_lost_its_name_before_it_was_taken_is_taken_anew(tmp_path, monkeypatch):
    """Whoever held it before takes the name away and lets it go, in this order."""
    taken, lock = [], folder_lock._lock

    def lock_late(handle: int, folder: Path) -> None:
        if not taken:
            (folder / LOCK).unlink()
        lock(handle, folder)
        taken.append(handle)

    monkeypatch.setattr(folder_lock, "_lock", lock_late)
    with lock_folder(tmp_path):
        assert os.path.samestat(os.stat(tmp_path / LOCK), os.fstat(taken[-1]))
    assert len(taken) == 2


def test_a_folder_that_is_taken_away_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """Whoever held it last takes an empty one away."""
    opens = os.open

    def open_late(path: str, *how: int) -> int:
        monkeypatch.setattr(os, "open", opens)
        (tmp_path / "m").rmdir()
        return opens(path, *how)

    monkeypatch.setattr(os, "open", open_late)
    with lock_folder(tmp_path / "m"):
        assert (tmp_path / "m" / LOCK).exists()


@pytest.mark.parametrize("word", ["ENOTSUP", "ENOSYS", "ENOLCK"])
def test_where_there_are_no_locks_a_warning_says_so(tmp_path, monkeypatch, caplog, word):
    number = getattr(errno, word)
    monkeypatch.setattr(fcntl, "flock", refuse_with(number))
    with lock_folder(tmp_path):
        pass
    said = f"{tmp_path} cannot be locked ({os.strerror(number)}): see to it that nothing else writes there"
    assert [record.getMessage() for record in caplog.records] == [said]


def test_any_other_error_of_a_lock_is_one_and_leaves_nothing_open(tmp_path, monkeypatch):
    opened = count_open()
    monkeypatch.setattr(fcntl, "flock", refuse_with(errno.EIO))
    with pytest.raises(OSError, match="Input/output error"), lock_folder(tmp_path):
        pass
    assert count_open() == opened


def test_a_full_disk_is_said_with_the_name_of_the_lock_which_does_not_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "ftruncate", refuse_with(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left") as error, lock_folder(tmp_path):
        pass
    assert error.value.filename == str(tmp_path / LOCK)
    assert not (tmp_path / LOCK).exists()


def refuse_with(number: int):
    def refuse(*given: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def test_many_writers_never_hold_a_folder_together(tmp_path):
    """Each takes it, sees that it is alone, and lets it go, again and again."""
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            _take_turns(tmp_path / "m", tmp_path / "alone")
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def _take_turns(folder: Path, alone: Path) -> None:
    done = 0
    while done < 25:
        try:
            with lock_folder(folder):
                os.close(os.open(alone, os.O_CREAT | os.O_EXCL))
                alone.unlink()
                done += 1
        except FolderInUseError:
            pass
        except BaseException:
            os._exit(1)
    os._exit(0)
