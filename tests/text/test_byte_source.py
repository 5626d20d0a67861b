"""What can be read only once is held; what is no text is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from tests.tasks.topics import TINY, examples

import elman
from elman.errors import DataError
from elman.text.byte_source import hold_pipe, open_bytes
from elman.text.conll import read_sentences
from elman.text.data_digest import describe_source
from elman.text.files import read_lines
from elman.text.tables import read_rows

ROWS = b"text\tlabel\n" + b"".join(f"{e.text}\t{e.label}\n".encode() for e in examples(40))


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[str]:
    """A FIFO into which somebody writes a table, once."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(ROWS,), daemon=True)
    writer.start()
    yield str(path)
    writer.join(10)


def test_a_pipe_is_read_once_and_held(pipe: str) -> None:
    held = hold_pipe(pipe)
    assert hold_pipe(held) is held == pipe
    assert [line for _, line in read_lines(held)] == [line for _, line in read_lines(held)]
    assert describe_source(held, held, None)["file"] == pipe


def test_standard_input_is_held_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    held = hold_pipe("-")
    assert [*read_lines(held)] == [*read_lines(held)] == [(1, "a")]
    with pytest.raises(DataError, match=r"^stdin:1: "):
        list(read_rows(held, ("text", "label")))


def test_a_file_is_left_as_it_is(tmp_path: Path) -> None:
    assert type(hold_pipe(str(tmp_path / "a.txt"))) is str


def test_a_table_comes_from_a_pipe(pipe: str) -> None:
    assert len(list(read_rows(pipe))) == 40


@pytest.mark.parametrize("task", ["classifier", "lm"])
def test_training_reads_a_pipe_as_it_reads_a_file(task: str, pipe: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(ROWS)
    sizes = {"hidden": 6, "embedding": 6} if task == "lm" else TINY
    recipe = {"task": task, "model": sizes, "training": {"updates": 2}}
    cache = {"cache": str(tmp_path / "cache")} if task == "lm" else {}
    one, other = (
        elman.train(recipe | {"data": {"train": str(source), **cache}}, tmp_path / f"model-{name}")
        for name, source in (("pipe", pipe), ("file", path))
    )
    weights = (m.net.state_dict().values() for m in (one, other))
    assert all(a.shape == b.shape for a, b in zip(*weights, strict=True))
    assert one.record.metrics["trained_on"]["tokens"] == other.record.metrics["trained_on"]["tokens"]


def test_a_pipe_is_for_one_process(pipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(elman.errors.ConfigError, match="one process only"):
        elman.train({"task": "classifier", "data": {"train": pipe}}, tmp_path / "model")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(DataError, match="a device"):
        next(read_lines("/dev/zero"))
    with pytest.raises(DataError, match="is empty"):
        next(read_lines(os.devnull))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 and so on", "zip archive"),
        (bz2.compress(b"a"), "must end in .bz2"),
        (gzip.compress(b"a", mtime=0), "must end in .gz"),
        (lzma.compress(b"a"), "must end in .xz"),
        (b"\x28\xb5\x2f\xfd\x04\x58", "must end in .zst"),
        (b"%PDF-1.7", "PDF"),
    ],
)
@pytest.mark.parametrize("read", [read_lines, read_sentences, read_rows])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_what_is_no_text_is_named(content: bytes, said: str, read, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as refused:
        list(read(path, encoding=encoding))
    assert "--encoding" not in str(refused.value)


def test_a_text_may_begin_like_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("BZh9 is how bzip2 begins\n7z, too\nPK\n")
    assert len(list(read_lines(path))) == 3


def test_a_binary_file_is_not_told_to_try_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\x7fELF\x02\x00\x00\xff\xfe")
    with pytest.raises(DataError, match="binary file"):
        list(read_lines(path))


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
@pytest.mark.parametrize("kept", [0.1, 0.66, 0.999])
def test_a_compressed_file_that_was_cut_short_is_no_shorter_file(
    ending, compress, kept, tmp_path: Path
) -> None:
    whole = random.Random(0).randbytes(400_000)
    packed, path = compress(whole), tmp_path / f"text.txt{ending}"
    path.write_bytes(packed[: int(kept * len(packed))])
    with (
        pytest.raises(DataError, match="the compressed data is damaged or cut short"),
        open_bytes(path) as stream,
    ):
        stream.read()
    path.write_bytes(packed + compress(b"and another") + compress(b""))
    with open_bytes(path) as stream:
        assert stream.read() == whole + b"and another"
