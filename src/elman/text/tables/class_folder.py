"""A folder of text files, in sub-folders by class: the name of the sub-folder is the label."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from elman.errors import DataError, printable
from elman.text.byte_source import display_name, open_bytes
from elman.text.files import BOM
from elman.text.tables.table import Table, TableRow
from elman.text.tables.undecodable import guess_encoding


def open_class_folder(folder: Path, encoding: str) -> Table:
    """A table of all texts in a folder, in the order of their names; outside of sub-folders without label."""
    files = list(list_files(folder))
    if not files:
        raise DataError(f"{folder}: the folder has no text files")
    rows = (_read_file(number, folder, path, encoding) for number, path in enumerate(files, 1))
    return Table(display_name(folder), ("text", "label", "file"), rows, encoding=encoding, format="folder")


def list_files(folder: Path) -> Iterator[Path]:
    """The files of a folder and its sub-folders, in the order of their names, but for hidden ones."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(place) / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


def _read_file(number: int, folder: Path, path: Path, encoding: str) -> TableRow:
    with open_bytes(path) as stream:
        content = stream.read()
    try:
        text = content.decode(guess_encoding(content, encoding)).removeprefix(BOM)
    except UnicodeDecodeError as error:
        return TableRow(number, (), None, f"{path.name}: byte {error.start + 1} is not {encoding.upper()}")
    if "\0" in text:
        return TableRow(number, (), None, f"{path.name} is no text file")
    inner = path.relative_to(folder).parts
    label = inner[0] if len(inner) > 1 else None
    return TableRow(number, (text.replace("\r\n", "\n").rstrip("\n"), label, printable("/".join(inner))))
