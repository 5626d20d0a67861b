"""What data was: the SHA-256 and the size of a file, of a folder's files, or of rows that a program holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from elman.text.byte_source import PipeContent, display_name, is_stdin, open_bytes
from elman.text.fingerprint import digest_file
from elman.text.tables.class_folder import list_files
from elman.text.tables.in_memory import InMemory

CHUNK = 2**20  # bytes that are read at a time


def describe_source(source: str, name: str, rows: int | None) -> dict[str, Any]:
    """A source under this name: its digest, its size, and how many rows it has, or else lines.

    What can be read only once, such as standard input, has neither, unless all that came is held.
    """
    known = {} if rows is None else {"rows": rows}
    if isinstance(source, InMemory):
        return {"file": display_name(source), **_digest(map(_row_bytes, source.rows)), "rows": len(source.rows)}
    if isinstance(source, PipeContent):
        return {"file": name, **_digest(iter([source.content])), **(known or {"lines": _count_lines(source)})}
    if is_stdin(source) or not (os.path.isfile(source) or os.path.isdir(source)):
        return {"file": name, **known}
    if os.path.isdir(source):
        return {"file": name, **_digest(_folder_bytes(Path(source))), **known}
    found = {"sha256": digest_file(source), "bytes": os.path.getsize(source)}
    return {"file": name, **found, **(known or {"lines": _count_lines(source)})}


def _digest(parts: Iterator[bytes]) -> dict[str, Any]:
    digest, size = sha256(), 0
    for part in parts:
        digest.update(part)
        size += len(part)
    return {"sha256": digest.hexdigest(), "bytes": size}


def _folder_bytes(folder: Path) -> Iterator[bytes]:
    """Names and contents of the files, in the order in which they are read."""
    for path in list_files(folder):
        yield os.fsencode(path.relative_to(folder).as_posix()) + b"\n"
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


def _row_bytes(row: Any) -> bytes:
    """A row as a line of JSON; the same values have the same bytes."""
    return json.dumps(row, ensure_ascii=False, default=_plain).encode("utf-8", "surrogatepass") + b"\n"


def _plain(value: Any) -> Any:
    return vars(value) if hasattr(value, "__dict__") else str(value)


def _count_lines(source: str) -> int:
    """Lines of the unpacked text, the last one also where nothing ends it."""
    lines, last = 0, b"\n"
    with open_bytes(source) as file:
        while chunk := file.read(CHUNK):
            lines, last = lines + chunk.count(b"\n"), chunk[-1:]
    return lines + (last != b"\n")
