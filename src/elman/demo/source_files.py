"""Python files that are there wherever Elman runs: the standard library's, NumPy's and PyTorch's."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

# Of other packages, or not written to be read by many.
_PASSED_OVER = {"site-packages", "dist-packages", "test", "tests", "testing", "idlelib", "lib2to3"}


class SourceFile(NamedTuple):
    """A file of a package: a name that is the same on every machine, and what it holds."""

    name: str
    text: str


def source_files(packages: Sequence[str], *, inner: bool = False) -> Iterator[SourceFile]:
    """The Python files of some packages ("" is the standard library), inner workings only if wanted."""
    for package in packages:
        for root in package_folders(package):
            for path in sorted(root.rglob("*.py")):
                name = path.relative_to(root)
                # NumPy keeps what it shows to all in ``_core``.
                private = any(part.startswith("_") and part != "_core" for part in name.parts[:-1])
                if (inner or not private) and not _PASSED_OVER.intersection(name.parts):
                    text = path.read_text(encoding="utf-8", errors="replace")
                    yield SourceFile(f"{package or 'python'}/{name.as_posix()}", text)


def package_folders(package: str) -> list[Path]:
    """Where a package lies, found without importing it."""
    if not package:
        return [Path(sysconfig.get_path("stdlib"))]
    spec = find_spec(package)
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]


class DataSplit(NamedTuple):
    """What to learn from, what to choose the best weights by, what to judge by at the end."""

    train: list[str]
    valid: list[str]
    test: list[str]


def split_by_hash(keys: Sequence[str], share: int = 20) -> DataSplit:
    """One of ``share`` keys for validation, one for the test; a key has the same part on every machine."""
    parts = DataSplit([], [], [])
    for key in keys:
        place = crc32(key.encode()) % share
        (parts.test if place == 0 else parts.valid if place == 1 else parts.train).append(key)
    return parts
