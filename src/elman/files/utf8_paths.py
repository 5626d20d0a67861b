"""Names of files for libraries that take only UTF-8."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from elman.errors import printable


@contextmanager
def utf8_path(path: Path) -> Iterator[Path]:
    """The path, or a link to the same file where its name is not UTF-8."""
    if printable(str(path)) == str(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        link = Path(folder) / "file"
        os.symlink(path.absolute(), link)
        yield link
