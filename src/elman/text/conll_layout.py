"""How the columns of a CoNLL file are laid out, and how to tell from its first sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from elman.errors import ConfigError, DataError, quote

_UNBLANK = re.compile(r"([^ \t]+)")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_ASIDE = re.compile(r"[0-9]+[-.][0-9]+")  # a multiword range or an empty node


@dataclass(frozen=True)
class ColumnLayout:
    """How many cells each row has, whether tabs or runs of blanks part them, their names, where the word is."""

    width: int
    tabs: bool
    names: tuple[str, ...] = ()
    word: int = 0  # 1 where the first column counts the words

    @property
    def counted(self) -> bool:
        """Whether the first column counts the words."""
        return self.word > 0

    def cells(self, text: str) -> list[str]:
        """The cells of a row, without blanks around them and without empty ones beyond the width."""
        if not self.tabs:
            return _UNBLANK.findall(text)
        cells = [cell.strip(" ") for cell in text.split("\t")]
        return cells[: self.width] if self.width and not any(cells[self.width :]) else cells

    def places(self, columns: tuple[str, ...] | None) -> tuple[int, ...]:
        """Where columns stand, from 0; None is UPOS or the last column, but never the words."""
        if columns is None:
            return (self.names.index("upos") if self.names else max(self.width - 1, self.word + 1),)
        places = tuple(_place(column, self.names) for column in columns)
        if len(set(places)) < len(places):
            raise ConfigError(f"columns {', '.join(columns)}: one of them is given twice")
        return places

    def fill(self, text: str, tags: dict[int, str]) -> str:
        """A row with these tags in these places; a place right after the last cell is a new one."""
        # Every second piece, from the second on, is a cell.
        pieces = ["", *re.split("(\t)", text)] if self.tabs else _UNBLANK.split(text)
        width = self.width
        for place, tag in sorted(tags.items()):
            if place > width:
                raise DataError(f"there is no column {place + 1}, the rows have {width}")
            if self.cells(tag) != [tag] or not tag or "\n" in tag:
                kind = "tabs" if self.tabs else "blanks"
                raise DataError(f"the tag {quote(tag)} cannot stand in columns apart by {kind}")
            if place == width:
                pieces[2 * width : 2 * width] = ["\t" if self.tabs else " ", tag]
                width += 1
            else:
                before = pieces[2 * place + 1]
                pieces[2 * place + 1] = before.replace(before.strip(" "), tag, 1) if before.strip(" ") else tag
        return "".join(pieces)


_CONLLU_NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
CONLLU = ColumnLayout(len(_CONLLU_NAMES), tabs=True, names=_CONLLU_NAMES, word=1)


def detect_layout(sentences: Sequence[Sequence[str]]) -> ColumnLayout:
    """The layout of columns by the rows of the first sentence or two, which hold two rows if there are two.

    Tabs part the cells where the first row has one, unless rows agree in blanks and tabs together only. A
    first column that counts 1, 2, 3 in each sentence of three columns or more is no word: the second one is.
    """
    rows = [row for rows in sentences for row in rows]
    if not rows:
        return ColumnLayout(0, tabs=False)
    tabs = "\t" in rows[0] and not _are_mixed(rows)
    layout = ColumnLayout(0, tabs)
    width = _width(rows, layout)
    firsts = [[layout.cells(row)[0] for row in rows] for rows in sentences]
    words = [[cell for cell in cells if not _ASIDE.fullmatch(cell)] for cells in firsts]
    counts = all(cells == [str(i + 1) for i in range(len(cells))] for cells in words)
    return ColumnLayout(width, tabs, word=int(counts and width > 2 and len(rows) > 1))


def _width(rows: Sequence[str], layout: ColumnLayout) -> int:
    """The cells of the first row; without empty ones at its end where rows agree in nothing else."""
    widths = [len(layout.cells(row)) for row in rows]
    trimmed = [len(layout.cells(row.rstrip("\t "))) for row in rows]
    return trimmed[0] if len(set(widths)) > 1 and len(set(trimmed)) == 1 else widths[0]


def _are_mixed(rows: Sequence[str]) -> bool:
    """Whether both blanks and tabs part the cells of rows, the first of which has a tab."""
    by_blanks = {len(_UNBLANK.findall(row)) for row in rows}
    by_tabs = {len(row.rstrip("\t ").split("\t")) for row in rows}
    in_each = len(rows) > 1 and all(" " in row.partition("\t")[2].strip("\t ") for row in rows)
    return len(by_blanks) == 1 and (len(by_tabs) > 1 or in_each)


def _place(column: str, names: tuple[str, ...]) -> int:
    if column.lower() in names:
        return names.index(column.lower())
    if _NUMBER.fullmatch(column) and (not names or int(column) <= len(names)):
        return int(column) - 1
    if names:
        raise ConfigError(f"unknown column {column!r}; CoNLL-U has {', '.join(names)}")
    raise ConfigError(f"column {column!r}: columns without names are given by number, the first is 1")
