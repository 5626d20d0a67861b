"""What a file is by its first bytes: refused in one sentence where it is no table, its encoding where it is."""

from __future__ import annotations

import sys

from elman.errors import DataError
from elman.text.byte_source import COMPRESSED, PipeContent, display_name, file_extension, is_stdin, open_bytes
from elman.text.magic_bytes import LONGEST, find_kind
from elman.text.tables.undecodable import ESCAPED, UTF_16, guess_encoding, is_utf_8

_HEAD = 1 << 20  # bytes by which an encoding is known

_ADVICE = {
    ".xls": "an old Excel file; save it as .xlsx or .csv",
    ".ods": "an OpenDocument sheet; save it as .xlsx or .csv",
    ".numbers": "a Numbers sheet; export it as .xlsx or .csv",
    ".pdf": "a PDF; save its text as .txt, or its table as .csv",
    ".docx": "a Word document; save its text as .txt, or its table as .csv",
    ".doc": "a Word document; save its text as .txt, or its table as .csv",
    ".odt": "an OpenDocument text; save it as .txt, or its table as .csv",
    ".zip": "a zip archive; unpack it first",
    ".pkl": "a pickle, which could run code when it is read; save the table as .parquet or .csv",
    ".pickle": "a pickle, which could run code when it is read; save the table as .parquet or .csv",
}


def refuse_other_kinds(source: str, format: str) -> None:
    """Refuse what is known to be no text, and no Parquet or Excel file where such was expected."""
    name = display_name(source)
    if advice := _ADVICE.get(file_extension(source)):
        raise DataError(f"{name}: this is {advice}")
    if format in ("parquet", "xlsx"):
        if source.lower().endswith(COMPRESSED) or is_stdin(source) or isinstance(source, PipeContent):
            raise DataError(f"{name}: {format} is read from a file that is not compressed, and from no pipe")
        return
    if found := find_kind(_read_head(source, LONGEST)):
        raise DataError(f"{name}: this is {found}")


def _is_binary(head: bytes) -> bool:
    """Whether this is neither text of eight bits nor marked as one of sixteen."""
    text = head.decode("utf-8", "surrogateescape")
    return "\0" in text and bool(ESCAPED.search(text[:-1])) and not head.startswith(UTF_16)


def find_encoding(source: str, asked: str) -> str:
    """The encoding by which a file is read; a file of none is refused."""
    head = _read_head(source, _HEAD)
    if is_utf_8(asked) and _is_binary(head):
        raise DataError(f"{display_name(source)}: this is a binary file, not a table")
    return guess_encoding(head, asked, cut=len(head) == _HEAD)


def _read_head(source: str, size: int) -> bytes:
    if is_stdin(source):  # at most one read: who types waits for no megabyte
        return sys.stdin.buffer.peek(1) if hasattr(sys.stdin.buffer, "peek") else b""
    with open_bytes(source) as stream:
        return stream.read(size)
