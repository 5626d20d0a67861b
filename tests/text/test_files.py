from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.byte_source import file_extension
from elman.text.files import read_lines, read_raw_lines

PACKERS = [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
no_surrogates = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def written(folder: Path, content: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@given(text=no_surrogates.filter(lambda text: text not in ("", "\ufeff")))
def test_raw_lines_together_are_the_file(folder: Path, text: str) -> None:
    path = written(folder, text.encode())
    assert "".join(line for _, line in read_raw_lines(path)) == text


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_only_a_newline_ends_a_line(folder: Path, texts: list[str], end: str, mark: str) -> None:
    texts = ["first", *texts]  # so that a byte order mark is not part of the text
    path = written(folder, (mark + "".join(text + end for text in texts)).encode())
    assert list(read_lines(path)) == list(enumerate(texts, start=1))


def test_a_last_line_needs_no_newline(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, b"a\n\nb"))) == [(1, "a"), (2, ""), (3, "b")]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_files_read_like_plain_ones(tmp_path: Path, suffix: str, pack: object) -> None:
    assert callable(pack)
    path = written(tmp_path, pack("ä\nß\n".encode()), f"a.TXT{suffix}")
    assert list(read_lines(path)) == [(1, "ä"), (2, "ß")]


def test_a_dash_is_standard_input_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(read_lines("-")) == [(1, "a"), (2, "b")]
    assert not stdin.buffer.closed


def test_lines_of_standard_input_arrive_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            Slow.given += 1
            buffer[:2] = b"a\n"
            return 2

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Slow())))
    assert next(read_lines("-")) == (1, "a")
    assert Slow.given == 1


@given(good=st.lists(st.sampled_from(["", "a", "é" * 5000]), max_size=5), pad=st.integers(0, 9000))
def test_an_undecodable_byte_is_named_with_its_line(folder: Path, good: list[str], pad: int) -> None:
    content = "".join(line + "\n" for line in good).encode() + b"x" * pad + b"\xe9t\xe9\nmore\n"
    path = written(folder, content)
    with pytest.raises(DataError) as caught:
        list(read_lines(path))
    where = f"{path}:{len(good) + 1}"
    assert str(caught.value) == f"{where}: byte 0xe9 is not UTF-8; try --encoding latin-1"
    assert list(read_lines(path, encoding="latin-1"))[-1] == (len(good) + 2, "more")


def test_utf_16_is_read_when_asked_for_and_advised_when_not(tmp_path: Path) -> None:
    path = written(tmp_path, "a\nb\n".encode("utf-16"))
    assert list(read_lines(path, encoding="utf-16")) == [(1, "a"), (2, "b")]
    with pytest.raises(DataError, match=r"a.txt:1: byte 0x.. is not UTF-8; try --encoding utf-16"):
        list(read_lines(path))


def test_a_packed_file_under_a_plain_name_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gzip-compressed, so its name must end in \.gz"):
        list(read_lines(written(tmp_path, gzip.compress(b"a\n"))))
    with pytest.raises(DataError, match=r"xz-compressed, so its name must end in \.xz"):
        list(read_lines(written(tmp_path, lzma.compress(b"a\n"))))


@pytest.mark.parametrize("content", [b"", "\ufeff".encode()])
def test_an_empty_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match=r"a\.txt: the file is empty"):
        list(read_lines(written(tmp_path, content)))
    with pytest.raises(DataError, match=r"a\.txt\.gz: the file is empty"):
        list(read_lines(written(tmp_path, gzip.compress(content), "a.txt.gz")))


def test_a_file_that_cannot_be_opened_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.txt: no such file"):
        list(read_lines(tmp_path / "nowhere.txt"))
    with pytest.raises(DataError, match="this is a directory, not a file"):
        list(read_lines(tmp_path))
    with pytest.raises(DataError, match="cannot be read"):
        list(read_lines(written(tmp_path, b"a") / "below"))
    with pytest.raises(DataError, match="no file can have this name"):
        list(read_lines("a\0b"))


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_damaged_archives_are_errors_wherever_they_break(tmp_path: Path, suffix: str, pack: object) -> None:
    assert callable(pack)
    whole = pack(b"some text\n" * 50)
    for end in range(1, len(whole)):
        with pytest.raises(DataError, match="damaged or cut short"):
            list(read_lines(written(tmp_path, whole[:end], f"a{suffix}")))
    with pytest.raises(DataError, match="damaged or cut short"):
        list(read_lines(written(tmp_path, b"not packed\n", f"a{suffix}")))


@pytest.mark.parametrize("encoding", ["klingon", "hex"])
def test_an_unknown_encoding_is_an_error(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown encoding '{encoding}'"):
        list(read_lines(written(tmp_path, b"a"), encoding=encoding))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.tsv", ".tsv"), ("a.TSV.gz", ".tsv"), ("a.b.csv.xz", ".csv"), ("a.gz", ""), ("-", "")],
)
def test_the_ending_is_the_one_below_the_packing(name: str, expected: str) -> None:
    assert file_extension(name) == expected
