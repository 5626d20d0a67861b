"""What a line of a CoNLL file says: a word and its tags, or nothing but a comment."""

from __future__ import annotations

import re

from elman.errors import DataError, quote
from elman.text.conll_comments import looks_like_comment
from elman.text.conll_layout import ColumnLayout

_ASIDE = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")  # a multiword range 3-4, an empty node 8.1


class ColumnReader:
    """Reads rows of one layout; where the first column counts the words, `#` always begins a comment."""

    def __init__(self, name: str, columns: tuple[str, ...] | None, layout: ColumnLayout) -> None:
        self.layout = layout
        self._name, self._columns, self._places = name, columns, layout.places(columns)
        self._checked = False

    def row(self, number: int, text: str, before: int) -> list[str] | None:
        """The word and tags of a line that `before` words of its sentence precede, if it has one."""
        cells = self.layout.cells(text)
        if text.startswith("#") and self._is_comment(text, cells, before):
            return None
        where, width = f"{self._name}:{number}", self.layout.width
        if len(cells) != width:
            apart = " apart by tabs" if self.layout.tabs and len(cells) < width else ""
            raise DataError(f"{where}: expected {width} columns{apart}, found {len(cells)}")
        if self.layout.counted:
            if _ASIDE.fullmatch(cells[0]):
                return None
            _check_number(cells[0], before + 1, where)
        if not self._checked:
            self._check_columns(where)
        return _pick(cells, (self.layout.word, *self._places), where)

    def _is_comment(self, text: str, cells: list[str], before: int) -> bool:
        if self.layout.counted:
            return True
        if len(cells) != self.layout.width:
            return text == "#" or text[1] in " \t" or looks_like_comment(text)
        return not before and looks_like_comment(text)

    def _check_columns(self, where: str) -> None:
        width = self.layout.width
        if self._columns is None and width == 1:
            raise DataError(f"{where}: expected a word and a tag, found one column")
        last = max(self._places, default=0)
        if last >= width:
            raise DataError(f"{where}: there is no column {last + 1}, the row has {width}")
        self._checked = True


def _check_number(found: str, expected: int, where: str) -> None:
    if found != str(expected):
        raise DataError(
            f"{where}: expected word {expected}, found {quote(found)}; words count from 1 "
            "and a blank line ends a sentence"
        )


def _pick(cells: list[str], places: tuple[int, ...], where: str) -> list[str]:
    for place in places:
        if not cells[place]:
            raise DataError(f"{where}: column {place + 1} is empty")
    return [cells[place] for place in places]
