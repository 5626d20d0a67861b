"""Texts larger than memory: encoded once into a file of ids, which is then mapped, not read.

Beside ``NAME.ids`` (little-endian, 2 or 4 bytes an id) stands ``NAME.json``: what it was made of, and
counts. This header is written last and has the SHA-256 of the sources and of the ids, so an interrupted,
damaged or outdated pair is recognised and made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from elman.errors import DataError
from elman.files.atomic_files import open_atomically, sync
from elman.text.byte_source import Source, display_name
from elman.text.files import read_lines
from elman.text.fingerprint import corpus_digest, digest, digest_file, digest_folder
from elman.text.line_encoder import Ids, id_dtype, make_encoder
from elman.text.tokenizer import Tokenizer

_FORMAT = 2
BLOCK = 2**20  # characters encoded at a time


@dataclass(frozen=True)
class TextCounts:
    """How much text there is; every line's end counts as one character, since it is predicted too."""

    tokens: int = 0
    lines: int = 0
    characters: int = 0
    bytes: int = 0  # in UTF-8

    def plus(self, tokens: int, block: Sequence[str]) -> TextCounts:
        """These, and a block of lines."""
        return TextCounts(
            self.tokens + tokens,
            self.lines + len(block),
            self.characters + sum(map(len, block)) + len(block),
            self.bytes + len("\n".join(block).encode("utf-8", "replace")) + 1,
        )


@dataclass(frozen=True)
class EncodingProgress:
    """How far the encoding is; ``total`` is the size of all files, unknown where one is compressed."""

    counts: TextCounts
    total: int | None


@dataclass(frozen=True)
class EncodedCorpus:
    """All ids of some texts, one line after the other."""

    ids: Ids
    counts: TextCounts


@dataclass(frozen=True)
class CorpusCache:
    r"""The corpus of some files under a tokenizer, kept in a folder: ``build`` it, then ``open`` it.

    Each line ends in `</s>`, or with ``newlines`` in the tokenizer's token of ``\n``.
    """

    sources: Sequence[Source]
    tokenizer: Tokenizer
    folder: Path
    encoding: str = field(default="utf-8", kw_only=True)
    newlines: bool = field(default=False, kw_only=True)

    def build(self) -> Iterator[EncodingProgress]:
        """Encode the texts unless that was done; whoever iterates sees how far it is."""
        if self._read_counts() is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            yield from self._write()

    def open(self) -> EncodedCorpus:
        """The ids, mapped into memory; built first where they are missing or outdated."""
        for _ in self.build():
            pass
        counts = self._read_counts()
        if counts is None:
            raise DataError(f"{self._path}: was changed while it was read; try again")
        return EncodedCorpus(np.memmap(self._path, self._dtype, "r"), counts)

    def _read_counts(self) -> TextCounts | None:
        """The counts, if both files are there, whole, and made of the sources as they are now."""
        made_of = self._origin()  # before the files: a missing source is the user's to know of
        try:
            header = json.loads(self._header.read_text(encoding="utf-8"))
            counts = TextCounts(**header["counts"])
            whole = self._path.stat().st_size == counts.tokens * self._dtype.itemsize
            same = header["made_of"] == made_of and header["check"] == digest_file(self._path)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return counts if whole and same and self._in_range() else None

    def _in_range(self) -> bool:
        """Whether every id is one of the tokenizer's, whoever wrote them."""
        ids = np.memmap(self._path, self._dtype, "r")
        return int(ids.max()) < len(self.tokenizer.items)

    def _write(self) -> Iterator[EncodingProgress]:
        packed = any(os.fspath(source).lower().endswith((".gz", ".xz")) for source in self.sources)
        made_of, total = self._origin(), None if packed else sum(os.stat(s).st_size for s in self.sources)
        counts, encode = TextCounts(), make_encoder(self.tokenizer, newlines=self.newlines)
        part = self._path.with_suffix(f".{os.getpid()}")  # two processes may encode at once
        with open_atomically(self._path, part) as file:
            read = (read_lines(source, encoding=self.encoding) for source in self.sources)
            for block in split_blocks(line for lines in read for _, line in lines):
                ids = encode(block)
                ids.tofile(file)
                counts = counts.plus(len(ids), block)
                yield EncodingProgress(counts, total)
            if not counts.tokens:
                raise DataError(f"{', '.join(map(display_name, self.sources))}: there are no tokens")
            sync(file)
            header = {"counts": asdict(counts), "made_of": made_of, "check": digest_file(part)}
            self._header.unlink(missing_ok=True)  # never the old one beside the new ids
        with open_atomically(self._header, part) as file:
            file.write((json.dumps(header, indent=1) + "\n").encode())

    def _origin(self) -> dict[str, Any]:
        how = {"tokenizer": self._tokenizer_hash, "encoding": self.encoding, "newlines": self.newlines}
        return {"format": _FORMAT, **how, "sources": [*map(corpus_digest, self.sources)]}

    @cached_property
    def _tokenizer_hash(self) -> str:
        with TemporaryDirectory() as folder:
            self.tokenizer.save(Path(folder))
            return digest_folder(Path(folder))

    @cached_property
    def _path(self) -> Path:
        """Named by all but the content of the sources: a changed text takes the place of the old one."""
        names = [os.path.abspath(source) for source in self.sources]
        settings = [*names, self._tokenizer_hash, self.encoding, str(self.newlines)]
        return self.folder / f"{digest(json.dumps(settings).encode())}.ids"

    @property
    def _header(self) -> Path:
        return self._path.with_suffix(".json")

    @property
    def _dtype(self) -> np.dtype[Any]:
        return id_dtype(len(self.tokenizer.items))


def split_blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines, as many at a time as make a block."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line) + 1
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block
