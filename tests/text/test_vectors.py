from __future__ import annotations

import gzip
import lzma
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text import vector_files
from elman.text.vectors import Coverage, read_vectors
from elman.text.vocab import SPECIALS

ITEMS = (*SPECIALS, "the", "Dog", "ä", "unseen")
ROWS = {"the": [1.0, -0.5], "dog": [2.0, 0.25], "ä": [0.0, 3.0], "other": [9.0, 9.0]}


def text(rows: dict[str, list[float]], *, header: bool, end: str = "\n") -> bytes:
    first = f"{len(rows)} 2{end}" if header else ""
    return (first + "".join(f"{w} {' '.join(map(str, v))}{end}" for w, v in rows.items())).encode()


def binary(rows: dict[str, list[float]], *, end: bytes) -> bytes:
    packed = (w.encode() + b" " + struct.pack("<2f", *v) + end for w, v in rows.items())
    return f"{len(rows)} 2\n".encode() + b"".join(packed)


FILES = {
    "word2vec.txt": text(ROWS, header=True),
    "fasttext.vec": text(ROWS, header=True, end=" \n"),
    "glove.txt": text(ROWS, header=False),
    "crlf.txt": text(ROWS, header=True, end="\r\n"),
    "word2vec.bin": binary(ROWS, end=b"\n"),
    "without.bin": binary(ROWS, end=b""),
    "glove.txt.gz": gzip.compress(text(ROWS, header=False)),
    "word2vec.bin.gz": gzip.compress(binary(ROWS, end=b"\n")),
    "fasttext.vec.xz": lzma.compress(text(ROWS, header=True)),
}


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_rows_of_the_vocabulary(tmp_path: Path, name: str) -> None:
    vectors = read_vectors(written(tmp_path, name, FILES[name]), ITEMS)
    expected = np.zeros((len(ITEMS), 2), np.float32)
    expected[4], expected[5], expected[6] = ROWS["the"], ROWS["dog"], ROWS["ä"]
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, expected)
    assert vectors.found.tolist() == [False] * 4 + [True, True, True, False]


def test_coverage_counts_types_and_tokens(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, "a.txt", FILES["glove.txt"]), ITEMS)
    counts = np.array([0, 2, 0, 0, 5, 1, 0, 2])  # two unknown words among ten
    assert vectors.coverage(counts) == Coverage(types=75.0, tokens=60.0)


@pytest.mark.parametrize("order", [("Dog", "dog"), ("dog", "Dog")])
def test_the_very_spelling_goes_before_lower_case(tmp_path: Path, order: tuple[str, str]) -> None:
    rows = {word: [float(word == "Dog"), 0.0] for word in order}
    vectors = read_vectors(written(tmp_path, "a.txt", text(rows, header=False)), ["Dog", "dog"])
    assert vectors.matrix[:, 0].tolist() == [1.0, 0.0]


def test_of_two_vectors_for_a_word_the_first_is_taken(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, "a.txt", b"a 1 1\nb 2 2\na 3 3\n"), ["a", "A"])
    assert vectors.matrix.tolist() == [[1, 1], [1, 1]]


def test_words_may_hold_blanks(tmp_path: Path) -> None:
    content = b"the 1 2\n. . . 3 4\nat x@y.z 5 6\n"
    vectors = read_vectors(written(tmp_path, "a.txt", content), [".", ". . .", "at"])
    assert vectors.found.tolist() == [False, True, False]
    assert vectors.matrix[1].tolist() == [3, 4]


def test_only_newlines_end_rows_and_foreign_bytes_in_other_words_do_no_harm(tmp_path: Path) -> None:
    content = b"\xff\xfe 9 9\n" + "\x85 8 8\n\u2028 7 7\nthe 1 2\n".encode()
    vectors = read_vectors(written(tmp_path, "a.txt", content), ["the", "\x85"])
    assert vectors.matrix.tolist() == [[1, 2], [8, 8]]


@given(
    words=st.lists(st.text("abc", min_size=1), unique=True, min_size=1, max_size=50), size=st.integers(1, 400)
)
def test_binary_rows_survive_the_borders_of_blocks(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], size: int
) -> None:
    # Vectors made of blanks and newlines, the bytes that mean something elsewhere.
    numbers = np.frombuffer(b"  \n " * size, "<f4")
    content = f"{len(words)} {size}\n".encode()
    content += b"".join(word.encode() + b" " + numbers.tobytes() + b"\n" for word in words)
    path = written(tmp_path_factory.getbasetemp(), "a.bin", content)
    vectors = read_vectors(path, words)
    assert vectors.found.all()
    np.testing.assert_array_equal(vectors.matrix, np.tile(numbers, (len(words), 1)))


def test_a_vector_may_be_longer_than_any_word_and_cut_by_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_files, "_BLOCK", 50)
    monkeypatch.setattr(vector_files, "_LONGEST_WORD", 8)
    numbers = np.arange(3 * 40, dtype="<f4").reshape(3, 40)
    rows = (f"w{i} ".encode() + row.tobytes() for i, row in enumerate(numbers))
    path = written(tmp_path, "a.bin", b"3 40\n" + b"".join(rows))
    np.testing.assert_array_equal(read_vectors(path, ["w0", "w1", "w2"]).matrix, numbers)


def test_a_binary_file_larger_than_a_block_is_read_whole(tmp_path: Path) -> None:
    numbers = np.arange(2000 * 300, dtype="<f4").reshape(2000, 300)
    rows = (f"w{i} ".encode() + row.tobytes() + b"\n" for i, row in enumerate(numbers))
    path = written(tmp_path, "a.bin", b"2000 300\n" + b"".join(rows))
    vectors = read_vectors(path, [f"w{i}" for i in range(2000)])
    np.testing.assert_array_equal(vectors.matrix, numbers)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "a.txt: the file is empty"),
        ("a.txt", b"word\n", "a.txt:1: vectors must have 1 to 16384 numbers, these have 0"),
        ("a.txt", b"a 1 2\nb 3\n", "a.txt:2: expected a word and 2 numbers"),
        ("a.txt", b"a 1 2\nb 3 4 5\n", "a.txt:2: expected a word and 2 numbers"),
        ("a.txt", b"2 2\na 1 2\nthe x 4\n", "a.txt:3: 'x' is not a number"),
        ("a.txt", b"the nan 4\n", "a.txt:1: the vector is not finite"),
        ("a.txt", b"the 1e99 4\n", "a.txt:1: the vector is not finite"),
        ("a.txt", b"3 2\na 1 2\n", "a.txt: the header promises 3 vectors, the file has 1"),
        ("a.bin", b"", "a.bin: expected a word2vec header"),
        ("a.bin", b"\xba\x16\x4f\x2f\x0c\0\0\0", "a.bin: expected a word2vec header"),
        ("a.bin", b"1 2\nthe 1234", "a.bin: the file ends within vector 1 of 1"),
        ("a.bin", b"2 1\nthe 1234", "a.bin: the file ends within vector 2 of 2"),
        ("a.bin", b"1 1\nthe \0\0\x80\x7f", "a.bin: vector 1 is not finite"),
        ("a.bin", b"1 1\n" + b"x" * 3_000_000, "a.bin: no word ends where vector 1 of 1"),
        ("a.bin", b"1 99999\n", "a.bin: vectors must have 1 to 16384 numbers"),
    ],
)
def test_a_broken_file_is_an_error_with_its_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(written(tmp_path, name, content), ITEMS)


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(ConfigError, match="unknown vector format 'npz'; choose from text, binary"):
        read_vectors("a.txt", ITEMS, format="npz")


FURTHER = b"b 1 1\nthe 2 2\nA 3 3\n<unk> 4 4\nb 5 5\n\xff 6 6\na 7 7\nc d 8 8\n 9 9\n"


@pytest.mark.parametrize("limit", range(6))
def test_the_first_other_words_of_the_file_follow_in_its_order(tmp_path: Path, limit: int) -> None:
    """Without the vocabulary's own, special ones, broken and empty ones; of two the first."""
    file = written(tmp_path, "a.txt", FURTHER)
    vectors = read_vectors(file, (*SPECIALS, "the", "none"), further=limit)
    expected = {"b": [1, 1], "A": [3, 3], "a": [7, 7], "c d": [8, 8]}
    assert vectors.further == tuple(expected)[:limit]
    rows = [*[[0, 0]] * 4, [2, 2], [0, 0], *expected.values()]
    assert vectors.matrix.tolist() == rows[: 6 + limit]
    assert vectors.found.tolist() == [*[False] * 4, True, False, *[True] * len(vectors.further)]


def test_only_such_other_words_as_are_wanted_are_taken(tmp_path: Path) -> None:
    file = written(tmp_path, "a.txt", FURTHER)
    vectors = read_vectors(file, SPECIALS, further=2, also=str.islower)
    assert vectors.further == ("b", "the")


def test_a_word_that_lends_its_vector_to_an_upper_case_one_is_still_its_own(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, "a.txt", b"<s> 9 9\ndog 1 2\n"), ["Dog"], further=5)
    assert vectors.further == ("dog",)
    assert vectors.matrix.tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("name", FILES)
def test_other_words_are_taken_from_every_format(tmp_path: Path, name: str) -> None:
    vectors = read_vectors(written(tmp_path, name, FILES[name]), ["the"], further=9)
    assert vectors.further == ("dog", "ä", "other")
    np.testing.assert_array_equal(vectors.matrix, np.array([*ROWS.values()], np.float32))


def test_a_broken_vector_of_a_word_that_is_not_taken_does_no_harm(tmp_path: Path) -> None:
    file = written(tmp_path, "a.txt", b"a 1\nb 2\nc x\n")
    assert read_vectors(file, SPECIALS, further=2).further == ("a", "b")
    with pytest.raises(DataError, match=r"a\.txt:3: 'x' is not a number"):
        read_vectors(file, SPECIALS, further=3)


def test_other_words_count_as_tokens_but_not_as_types(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, "a.txt", b"a 1\nb 2\n"), (*SPECIALS, "a", "x"), further=1)
    assert vectors.coverage(np.array([0, 1, 0, 0, 4, 3, 2])) == Coverage(types=50.0, tokens=60.0)


def test_a_vector_may_be_longer_than_any_word(tmp_path: Path) -> None:
    """Its word ends within a block, itself beyond it: more is read, however much there is already."""
    numbers = np.ones((20, 16384), "<f4")
    rows = (f"w{i} ".encode() + row.tobytes() for i, row in enumerate(numbers))
    path = written(tmp_path, "a.bin", b"20 16384\n" + b"".join(rows))
    np.testing.assert_array_equal(read_vectors(path, [f"w{i}" for i in range(20)]).matrix, numbers)
