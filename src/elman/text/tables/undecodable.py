"""Bytes that are no text in the encoding of their file: which encoding it may be, and rows that have some."""

from __future__ import annotations

import re

ESCAPED = re.compile("[\udc80-\udcff]")
"""What undecodable bytes become under the error handler ``surrogateescape``."""


_EUROPEAN = "äöüßÄÖÜéèêëáàâåãçíìîïñóòôõøúùûýæœšžÉÈÊËÁÀÂÅÃÇÍÌÎÏÑÓÒÔÕØÚÙÛÝÆŒŠŽ€£°§©®™«»‹›„“”‚‘’…–—•·¡¿´²³½\u00a0"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The marks with which a file of UTF-16 begins."""


def is_utf_8(encoding: str) -> bool:
    """Whether this names UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def undecodable_problem(raw: str, encoding: str) -> str:
    """What is wrong with a line that has undecodable bytes; nothing where it has none."""
    if raw.isascii() or not (found := ESCAPED.search(raw)):
        return ""
    byte = ord(found[0]) - 0xDC00
    return f"byte {byte:#04x} is not {encoding.upper()}; try another --encoding"


def guess_encoding(head: bytes, asked: str, *, cut: bool = False) -> str:
    """The encoding of a file that begins so: what was asked for, unless that is UTF-8 and it plainly is not.

    Excel writes UTF-16 with its mark, or Windows-1252: bytes above 127 of which none are UTF-8, and all are
    letters or signs of European texts. ``cut`` says that the file goes on, perhaps within a character.
    """
    if not is_utf_8(asked):
        return asked
    if head.startswith(UTF_16):
        return "utf-16"
    text = head.decode("utf-8", "surrogateescape")
    end = len(text) - 3 if cut else len(text)
    foreign = [c for c in set(text[:end]) if c > "\x7f"]
    if not foreign or not all(ESCAPED.match(c) for c in foreign):
        return asked
    signs = bytes(ord(c) - 0xDC00 for c in foreign).decode("cp1252", "replace")
    return "cp1252" if all(sign in _EUROPEAN for sign in signs) else asked
