"""Whether a file is the one it was."""

import os
import time
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from elman.text import fingerprint
from elman.text.fingerprint import digest_file


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(256)) * 5000)
    assert digest_file(tmp_path / "a") == sha256(bytes(range(256)) * 5000).hexdigest()


def test_a_file_that_nobody_wrote_to_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("a")
    honest, read = fingerprint._digest, []
    monkeypatch.setattr(fingerprint, "_digest", lambda path: read.append(path) or honest(path))
    monkeypatch.setattr(fingerprint, "_SETTLED", -1)
    assert digest_file(tmp_path / "a") == digest_file(tmp_path / "a")
    assert len(read) == 1
    (tmp_path / "a").write_text("bc")
    assert digest_file(tmp_path / "a") == sha256(b"bc").hexdigest()
    assert len(read) == 2


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("one")
    found = os.stat(tmp_path / "a")
    # As within one tick of the clock of a file system.
    monkeypatch.setattr(fingerprint, "os", SimpleNamespace(stat=lambda path: found, fspath=os.fspath))
    for text in ("one", "two", "six"):
        (tmp_path / "a").write_text(text)
        assert digest_file(tmp_path / "a") == sha256(text.encode()).hexdigest()


def test_a_time_that_was_set_back_deceives_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "_SETTLED", -1)
    for text in ("one", "two"):
        (tmp_path / "a").write_text(text)
        os.utime(tmp_path / "a", ns=(0, 0))
        assert digest_file(tmp_path / "a") == sha256(text.encode()).hexdigest()
        time.sleep(0.02)
