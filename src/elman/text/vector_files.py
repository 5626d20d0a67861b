"""The rows of vector files, as bytes: a word that is no UTF-8 hurts only those who ask for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from itertools import chain

import numpy as np
import numpy.typing as npt

from elman.errors import DataError, quote

Row = tuple[bytes, npt.NDArray[np.float32]]
Wanted = Callable[[bytes], bool]

_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,6}) *\r?\n?")
_BLOCK = 1 << 20
_LONGEST_WORD = 1 << 16
_LARGEST = 16384


def text_rows(stream: BufferedIOBase, wanted: Wanted, name: str) -> tuple[int, Iterator[Row]]:
    """The size of the vectors of a text file, and its rows of wanted words."""
    first = stream.readline()
    if not first:
        raise DataError(f"{name}: the file is empty")
    if header := _HEADER.fullmatch(first):
        count, size = int(header[1]), int(header[2])
        numbered = enumerate(stream, start=2)
    else:
        count, size = None, first.rstrip(b" \r\n").count(b" ")
        numbered = enumerate(chain([first], stream), start=1)
    _check_size(size, f"{name}:1")
    return size, _text(numbered, size, count, wanted, name)


def _text(
    numbered: Iterator[tuple[int, bytes]], size: int, count: int | None, wanted: Wanted, name: str
) -> Iterator[Row]:
    rows = 0
    for number, line in numbered:
        line = line.rstrip(b" \r\n")
        if not line:
            continue
        rows += 1
        blanks = line.count(b" ")
        if blanks == size and not wanted(line[: line.index(b" ")]):
            continue  # most lines: nothing to take apart
        word, *numbers = line.rsplit(b" ", size)  # from the right: a word may hold blanks
        if len(numbers) < size or (blanks > size and _is_number(word.rsplit(b" ", 1)[-1])):
            raise DataError(f"{name}:{number}: expected a word and {size} numbers")
        if wanted(word):
            yield word, _vector(numbers, f"{name}:{number}")
    if count is not None and rows != count:
        raise DataError(f"{name}: the header promises {count} vectors, the file has {rows}")


def binary_rows(stream: BufferedIOBase, wanted: Wanted, name: str) -> tuple[int, Iterator[Row]]:
    """The size of the vectors of a word2vec binary file, and its rows of wanted words."""
    header = _HEADER.fullmatch(stream.readline(64))
    if header is None:
        raise DataError(f"{name}: expected a word2vec header (COUNT SIZE); of fastText take the .vec file")
    count, size = int(header[1]), int(header[2])
    _check_size(size, name)
    return size, _binary(stream, size, count, wanted, name)


def _binary(stream: BufferedIOBase, size: int, count: int, wanted: Wanted, name: str) -> Iterator[Row]:
    block, at = b"", 0
    for row in range(1, count + 1):
        blank = block.find(b" ", at)
        while blank < 0 or len(block) - blank <= 4 * size:
            if blank < 0 and len(block) - at > _LONGEST_WORD:
                raise DataError(f"{name}: no word ends where vector {row} of {count} should begin")
            more = stream.read(_BLOCK)
            if not more:
                raise DataError(f"{name}: the file ends within vector {row} of {count}")
            block, at = block[at:] + more, 0
            blank = block.find(b" ")
        word = block[at:blank].lstrip(b"\n")  # some writers end a row with it, some do not
        at = blank + 1 + 4 * size
        if wanted(word):
            vector = np.frombuffer(block, "<f4", size, blank + 1)
            if not np.isfinite(vector).all():
                raise DataError(f"{name}: vector {row} is not finite")
            yield word, vector.astype(np.float32)


def _check_size(size: int, where: str) -> None:
    if not 1 <= size <= _LARGEST:
        raise DataError(f"{where}: vectors must have 1 to {_LARGEST} numbers, these have {size}")


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def _vector(numbers: list[bytes], where: str) -> npt.NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            vector = np.array([float(n) for n in numbers], np.float32)
    except ValueError:
        bad = next(n for n in numbers if not _is_number(n)).decode("utf-8", "replace")
        raise DataError(f"{where}: {quote(bad)} is not a number") from None
    if not np.isfinite(vector).all():
        raise DataError(f"{where}: the vector is not finite")
    return vector
