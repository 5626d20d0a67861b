"""What a line of a CoNLL file says: the two formats, each from a line to a word and its tags."""

from __future__ import annotations

import re
from dataclasses import dataclass

from elman.errors import ConfigError, DataError, quote

CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_DOCUMENT = re.compile(r"-DOCSTART-(?=[ \t]|$)")
_UNBLANK = re.compile(r"([^ \t]+)")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_ASIDE = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")  # a multiword range 3-4, an empty node 8.1


@dataclass(frozen=True)
class ColumnLayout:
    """How many cells each row has, whether tabs or runs of blanks part them, and their names."""

    width: int
    tabs: bool
    names: tuple[str, ...] = ()

    def cells(self, text: str) -> list[str]:
        """The cells of a row."""
        return text.split("\t") if self.tabs else _UNBLANK.findall(text)

    def places(self, columns: tuple[str, ...] | None) -> tuple[int, ...]:
        """Where columns stand, from 0; None is UPOS or the last column, but never the words."""
        if columns is None:
            return (self.names.index("upos") if self.names else max(self.width - 1, 1),)
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
            if self.cells(tag) != [tag] or not tag.strip(" ") or "\n" in tag:
                kind = "tabs" if self.tabs else "blanks"
                raise DataError(f"the tag {quote(tag)} cannot stand in columns apart by {kind}")
            if place == width:
                pieces[2 * width : 2 * width] = ["\t" if self.tabs else " ", tag]
                width += 1
            else:
                pieces[2 * place + 1] = tag
        return "".join(pieces)


class ConlluFormat:
    """Ten columns apart by tabs; `#` starts a comment; ranges and empty nodes are no words."""

    def __init__(self, name: str, columns: tuple[str, ...] | None) -> None:
        self._name, self.layout = name, ColumnLayout(len(CONLLU), tabs=True, names=CONLLU)
        self._places = self.layout.places(columns)

    def row(self, number: int, text: str, before: int) -> list[str] | None:
        """The word and tags of a line that `before` words of its sentence precede, if it has one."""
        if text.startswith("#"):
            return None
        where = f"{self._name}:{number}"
        cells = self.layout.cells(text)
        if len(cells) != len(CONLLU):
            raise DataError(f"{where}: expected 10 columns apart by tabs, found {len(cells)}")
        if _ASIDE.fullmatch(cells[0]):
            return None
        if cells[0] != str(before + 1):
            raise DataError(
                f"{where}: expected word {before + 1}, found {quote(cells[0])}; words count from 1 "
                "and a blank line ends a sentence"
            )
        return _pick(cells, (1, *self._places), where)


class ColumnFormat:
    """As many columns as the first row has, apart by tabs where it holds one, else by blanks."""

    def __init__(self, name: str, columns: tuple[str, ...] | None) -> None:
        self._name, self._columns = name, columns
        self.layout = ColumnLayout(0, tabs=False)  # until there is a row
        self._places = self.layout.places(columns)

    def row(self, number: int, text: str, before: int) -> list[str] | None:
        """The word and tags of a line, or None where it only says that a document starts."""
        if _DOCUMENT.match(text):
            return None
        where = f"{self._name}:{number}"
        if not self.layout.width:
            self._begin(text, where)
        cells = self.layout.cells(text)
        if len(cells) != self.layout.width:
            raise DataError(f"{where}: expected {self.layout.width} columns, found {len(cells)}")
        return _pick(cells, (0, *self._places), where)

    def _begin(self, text: str, where: str) -> None:
        tabs = "\t" in text
        width = len(ColumnLayout(0, tabs).cells(text))
        self.layout = ColumnLayout(width, tabs)
        self._places = self.layout.places(self._columns)
        if self._columns is None and width == 1:
            raise DataError(f"{where}: expected a word and a tag, found one column")
        last = max(self._places, default=0)
        if last >= width:
            raise DataError(f"{where}: there is no column {last + 1}, the row has {width}")


def _place(column: str, names: tuple[str, ...]) -> int:
    if column.lower() in names:
        return names.index(column.lower())
    if _NUMBER.fullmatch(column) and (not names or int(column) <= len(names)):
        return int(column) - 1
    if names:
        raise ConfigError(f"unknown column {column!r}; CoNLL-U has {', '.join(names)}")
    raise ConfigError(f"column {column!r}: columns without names are given by number, the first is 1")


def _pick(cells: list[str], places: tuple[int, ...], where: str) -> list[str]:
    for place in places:
        if not cells[place].strip(" "):
            raise DataError(f"{where}: column {place + 1} is empty")
    return [cells[place] for place in places]
