"""The table of corpora, catalogue.toml, read."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from elman.errors import ConfigError


@dataclass(frozen=True)
class CorpusFile:
    """A file below the folder of its corpus; ``size`` and ``sha256`` are of its unpacked content."""

    path: str
    size: int
    sha256: str
    source: str = ""  # its path after the corpus' base, or its name in the archive; empty: path


@dataclass(frozen=True)
class Corpus:
    """Where a corpus comes from, what it may be used for, whom to cite, and its files."""

    name: str
    title: str
    licence: str
    citation: str
    files: tuple[CorpusFile, ...]
    base: str = ""  # the address before every source
    archive: CorpusFile | None = None  # a ZIP file that holds the files
    package: str = ""  # a Python package that is this archive, in place of an address

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def find_corpus(name: str) -> Corpus:
    """The corpus of that name."""
    known = read_catalogue()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else "`elman data check` lists them"
        raise ConfigError(f"unknown corpus {name!r}; {hint}")
    return known[name]


@cache
def read_catalogue() -> dict[str, Corpus]:
    """Every corpus, by the name of its folder."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {name: build_corpus(name, table) for name, table in tomllib.loads(text).items()}


def build_corpus(name: str, table: dict[str, Any]) -> Corpus:
    """A corpus from its table."""
    archive = table.get("archive")
    files = tuple(CorpusFile(**file) for file in table["files"])
    return Corpus(name, **(table | {"files": files, "archive": archive and CorpusFile(**archive)}))
