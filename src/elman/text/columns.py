"""What a line of a CoNLL file says: the two layouts, each from a line to a word and its tag."""

from __future__ import annotations

import re

from elman.errors import ConfigError, DataError
from elman.text.messages import brief

CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_DOCUMENT = re.compile(r"-DOCSTART-(?=[ \t]|$)")
_UNBLANK = re.compile(r"[^ \t]+")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_ASIDE = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")  # a multiword range 3-4, an empty node 8.1


class Conllu:
    """Ten columns apart by tabs; `#` starts a comment; ranges and empty nodes are no words."""

    def __init__(self, name: str, column: str) -> None:
        self._name = name
        self._at = _conllu_column(column)

    def pair(self, number: int, text: str, before: int) -> tuple[str, str] | None:
        """The word and tag of a line that `before` words of its sentence precede, if it has one."""
        if text.startswith("#"):
            return None
        where = f"{self._name}:{number}"
        cells = text.split("\t")
        if len(cells) != len(CONLLU):
            raise DataError(f"{where}: expected 10 columns apart by tabs, found {len(cells)}")
        if _ASIDE.fullmatch(cells[0]):
            return None
        if cells[0] != str(before + 1):
            raise DataError(
                f"{where}: expected word {before + 1}, found {brief(cells[0])}; words count from 1 "
                "and a blank line ends a sentence"
            )
        return _filled(cells, 1, where), _filled(cells, self._at, where)


class Columns:
    """As many columns as the first row has, apart by tabs where it holds one, else by blanks."""

    def __init__(self, name: str, column: str | None) -> None:
        if column is not None and not _NUMBER.fullmatch(column):
            raise ConfigError(
                f"column {column!r}: columns without names are given by number, the first is 1"
            )
        self._name = name
        self._column = column
        self._tabs: bool | None = None  # said by the first row, as is the width
        self._width = 0

    def pair(self, number: int, text: str, before: int) -> tuple[str, str] | None:
        """The word and tag of a line, or None where it only says that a document starts."""
        if _DOCUMENT.match(text):
            return None
        where = f"{self._name}:{number}"
        if self._tabs is None:
            self._tabs = "\t" in text
        cells = text.split("\t") if self._tabs else _UNBLANK.findall(text)
        self._width = self._width or len(cells)
        if len(cells) != self._width:
            raise DataError(f"{where}: expected {self._width} columns, found {len(cells)}")
        return _filled(cells, 0, where), _filled(cells, self._tag(where), where)

    def _tag(self, where: str) -> int:
        if self._column is None and self._width == 1:
            raise DataError(f"{where}: expected a word and a tag, found one column")
        at = self._width if self._column is None else int(self._column)
        if at > self._width:
            raise DataError(f"{where}: there is no column {at}, the row has {self._width}")
        return at - 1


def _conllu_column(column: str) -> int:
    if column.lower() in CONLLU:
        return CONLLU.index(column.lower())
    if _NUMBER.fullmatch(column) and int(column) <= len(CONLLU):
        return int(column) - 1
    raise ConfigError(f"unknown column {column!r}; CoNLL-U has {', '.join(CONLLU)}")


def _filled(cells: list[str], at: int, where: str) -> str:
    if not cells[at].strip(" "):
        raise DataError(f"{where}: column {at + 1} is empty")
    return cells[at]
