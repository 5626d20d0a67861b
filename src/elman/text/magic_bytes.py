"""What a file is by its first bytes, where it is no text."""

from __future__ import annotations

LONGEST = 16  # bytes that are looked at

_KINDS = {
    b"%PDF": "a PDF; save its text as .txt, or its table as .csv",
    b"PK\x03\x04": "a zip archive or an Office file; unpack it first (an Excel file must end in .xlsx)",
    b"PK\x05\x06": "an empty zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it first",
    b"Rar!\x1a\x07": "a RAR archive; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old Office file; save it as .xlsx, .csv or .txt",
    b"PAR1": "a Parquet file; its name must end in .parquet",
    b"\x1f\x8b": "gzip-compressed, so its name must end in .gz",
    b"\xfd7zXZ": "xz-compressed, so its name must end in .xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard, so its name must end in .zst",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
_BZIP2 = b"1AY&SY"  # after BZh and a digit, which a text may begin with


def find_kind(head: bytes) -> str | None:
    """What a file that begins so is, and what to do about it; None where it may be text."""
    if head.startswith(b"BZh") and head[4:].startswith(_BZIP2):
        return "bzip2-compressed, so its name must end in .bz2"
    return next((kind for start, kind in _KINDS.items() if head.startswith(start)), None)
