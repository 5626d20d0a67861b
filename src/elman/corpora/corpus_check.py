"""Whether the files of a corpus are there and whole."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Literal

from elman.corpora.catalogue import Corpus, CorpusFile

FileState = Literal["whole", "missing", "damaged"]
GZIP = b"\x1f\x8b"


def check_corpus(corpus: Corpus, root: Path) -> dict[str, FileState]:
    """The state of each file of a corpus whose folder is in ``root``."""
    return {file.path: check_file(root / corpus.name / file.path, file) for file in corpus.files}


def check_file(path: Path, file: CorpusFile) -> FileState:
    """Whether there is a file at ``path`` with the content that is known."""
    if not path.is_file():
        return "missing"
    content = unpack(path.read_bytes(), file.size)
    return "whole" if content is not None and is_content(content, file) else "damaged"


def is_content(content: bytes, file: CorpusFile) -> bool:
    """Whether these bytes are the content of the file."""
    return len(content) == file.size and hashlib.sha256(content).hexdigest() == file.sha256


def unpack(stored: bytes, limit: int) -> bytes | None:
    """The content of what may be gzip; None if that is damaged, or has more than ``limit`` bytes."""
    if not stored.startswith(GZIP):
        return stored
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(stored, limit + 1)
    except zlib.error:
        return None
    return content if unpacker.eof and len(content) <= limit else None


def pack(content: bytes, path: str) -> bytes:
    """The content as a file of that name holds it; the same bytes each time."""
    return gzip.compress(content, mtime=0) if path.endswith(".gz") else content
