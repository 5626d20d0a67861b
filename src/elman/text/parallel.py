"""Files that belong together line by line: a text and its translation, words and their slots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from elman.errors import ConfigError, DataError
from elman.text.files import Source, is_stdin, shown
from elman.text.lines import lines


def parallel(
    sources: Sequence[Source], *, encoding: str = "utf-8"
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line i of every file, numbered; files of different length are an error found at the end."""
    if sum(map(is_stdin, sources)) > 1:
        raise ConfigError("standard input (-) can stand for one of the files only")
    files = [lines(source, encoding=encoding) for source in sources]
    for number, row in enumerate(zip_longest(*files), start=1):
        texts = tuple(numbered[1] for numbered in row if numbered is not None)
        if len(texts) < len(files):
            # The longer files have given line `number` already; the shorter ones ended before it.
            counts = [
                number - 1 if numbered is None else number + sum(1 for _ in rest)
                for numbered, rest in zip(row, files, strict=True)
            ]
            raise DataError(_uneven(sources, counts))
        yield number, texts


def _uneven(sources: Sequence[Source], counts: Sequence[int]) -> str:
    pairs = zip(sources, counts, strict=True)
    said = ", ".join(f"{shown(source)} has {count} lines" for source, count in pairs)
    return f"{said}; line i of one must belong to line i of the other"
