"""Whatever the bytes, a reader gives a result or a DataError, and soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.errors import DataError
from elman.text.conll import read_sentences
from elman.text.files import read_lines, read_parallel
from elman.text.tables import read_rows
from elman.text.vectors import read_vectors

Reader = Callable[[Path], Iterable[object]]

READERS: dict[str, Reader] = {
    "lines": read_lines,
    "latin-1": lambda path: read_lines(path, encoding="latin-1"),
    "utf-16": lambda path: read_lines(path, encoding="utf-16"),
    "gz": lambda path: read_lines(path.rename(path.with_suffix(".gz"))),
    "xz": lambda path: read_lines(path.rename(path.with_suffix(".xz"))),
    "tsv": lambda path: read_rows(path, format="tsv"),
    "csv": lambda path: read_rows(path, format="csv"),
    "csv by number": lambda path: read_rows(path, ("2", "1"), format="csv"),
    "jsonl": lambda path: read_rows(path, format="jsonl"),
    "blank": lambda path: read_rows(path, ("2", "1"), format="blank"),
    "columns": lambda path: read_sentences(path, format="columns"),
    "third column": lambda path: read_sentences(path, columns=("3",), format="columns"),
    "conllu": lambda path: read_sentences(path, format="conllu"),
    "parallel": lambda path: read_parallel([path, path]),
    "text vectors": lambda path: [read_vectors(path, ["a", "the"], format="text")],
    "binary vectors": lambda path: [read_vectors(path, ["a", "the"], format="binary")],
}

PIECES = [
    *(b"\n", b"\r\n", b"\r", b"\t", b" ", b",", b'"', b'""', b"\0", b"\x0b", b"\x0c", b"\x1c"),
    *(b"a", b"the", b"#", b"1", b"2", b"1-2", b"1.1", b"0.5 ", b"nan", b"-DOCSTART-", b"2 3\n"),
    *(b"{", b"}", b"[", b":", b'{"text": "a", "label": "b"}', b"null", b"\\ud800", b"1e999"),
    *(b"text", b"label", b"text\tlabel\n", b"text,label\n", b"\t_" * 9, b"1\ta" + b"\t_" * 8),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xc3\xa9", b"\xe2\x80\xa8", b"\xc2\xa0", b"\xf0"),
    *(b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\0\0\x80\x3f", b"99999999999 9999\n"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def survive(read: Reader, folder: Path, content: bytes) -> None:
    path = folder / "a"
    path.write_bytes(content)
    try:
        for _ in read(path):
            pass
    except DataError as error:
        message = str(error)
        assert str(folder) in message
        assert "\n" not in message
        assert len(message) < 2500


@pytest.mark.parametrize("reader", READERS)
@given(content=st.binary(max_size=200) | st.lists(st.sampled_from(PIECES)).map(b"".join))
@settings(max_examples=150, deadline=2000)
def test_any_bytes_are_read_or_refused(reader: str, folder: Path, content: bytes) -> None:
    survive(READERS[reader], folder, content)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "piece",
    [b"a", b"\0", b'"', b'"a"', b'"\n', b"\t", b" ", b",", b"[", b'{"a":', b"1 ", b"a\n", b"\xcc\x81"],
    ids=repr,
)
def test_a_megabyte_of_anything_does_not_hang(reader: str, piece: bytes, folder: Path) -> None:
    start = time.process_time()
    survive(READERS[reader], folder, piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 20  # what is not linear would need hours
