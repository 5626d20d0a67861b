"""What a sequence-to-sequence model learns from: pairs of texts, in files and as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from elman.errors import ConfigError, DataError
from elman.tasks.settings import Files, Tokens, positive
from elman.text import parallel, tables
from elman.text.files import shown
from elman.text.lines import lines


@dataclass(frozen=True)
class Data(Files):
    """Where the pairs are: two files, line by line, or a table; further files hold further references."""

    format: Literal["", "tsv", "csv", "jsonl"] = ""  # "": by the ending
    source: str = "source"  # column: a name, or a number from 1
    target: str = "target"
    separator: str = ""  # of one file: what parts source and target, where it is no table
    grouped: bool = False  # pairs with one source are one to judge by, if it is not trained on
    longest: int = 200  # pairs with more tokens on a side are not trained on
    judged: int = 2000  # examples that an evaluation in training writes; 0: all

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("longest", self.longest)
        if self.judged < 0:
            raise ConfigError(f"judged is {self.judged}; it must be at least 0")
        if self.separator and self.format:
            raise ConfigError("separator is for text that is no table; leave format out")


@dataclass(frozen=True)
class PairTokens:
    """How each side is cut; ``joint``: both by one vocabulary, that of ``source``'s options."""

    source: Tokens = field(default_factory=lambda: Tokens(kind="bpe"))
    target: Tokens = field(default_factory=lambda: Tokens(kind="bpe"))
    joint: bool = False

    def __post_init__(self) -> None:
        if self.joint and self.source != self.target:
            raise ConfigError(
                "joint is true, so source and target must be cut alike; say the same for both"
            )


class Example(NamedTuple):
    source: str
    targets: tuple[str, ...]  # the right answers: one, or several references
    where: str = ""  # file:line


def read(data: Data, source: str | tuple[str, ...], *, train: bool = False) -> Iterator[Example]:
    """The pairs of a table, or of two files and more."""
    paths = (source,) if isinstance(source, str) else source
    if train and len(paths) > 2:
        raise ConfigError(f"to train on, one file or two, not {len(paths)}")
    pairs = _checked(_pairs(data, paths), shown(paths[0]))
    return _grouped(pairs) if data.grouped and not train else pairs


def _pairs(data: Data, paths: tuple[str, ...]) -> Iterator[Example]:
    if len(paths) > 1:
        for number, (text, *targets) in parallel.parallel(paths, encoding=data.encoding):
            yield Example(text, tuple(targets), f"{shown(paths[0])}:{number}")
    elif data.separator:
        yield from _separated(data, paths[0])
    else:
        columns = (data.source, data.target)
        rows = tables.rows(
            paths[0],
            columns,
            format=data.format or None,
            encoding=data.encoding,
            header=columns != ("source", "target"),
        )
        for number, (text, target) in rows:
            yield Example(text, (target,), f"{shown(paths[0])}:{number}")


def _separated(data: Data, path: str) -> Iterator[Example]:
    for number, line in lines(path, encoding=data.encoding):
        if not line.strip():
            continue
        text, found, target = line.partition(data.separator)
        if not found:
            raise DataError(
                f"{shown(path)}:{number}: expected source and target with {data.separator!r} between"
            )
        yield Example(text.strip(), (target.strip(),), f"{shown(path)}:{number}")


def _checked(pairs: Iterator[Example], file: str) -> Iterator[Example]:
    """Pairs of which both sides say something; what is empty on both sides is left out."""
    empty = True
    for example in pairs:
        sides = bool(example.source.strip()), any(target.strip() for target in example.targets)
        if sides == (False, False):
            continue
        if not all(sides):
            which = "source" if sides[1] else "target"
            raise DataError(
                f"{example.where}: the {which} is empty, but not the other side; are the files of "
                "one length and in the same order?"
            )
        empty = False
        yield example
    if empty:
        raise DataError(f"{file}: there are no pairs")


def _grouped(pairs: Iterator[Example]) -> Iterator[Example]:
    """One example for each source, with all its targets."""
    groups: dict[str, Example] = {}
    for example in pairs:
        known = groups.get(example.source)
        if known is None:
            groups[example.source] = example
        else:
            groups[example.source] = known._replace(targets=known.targets + example.targets)
    yield from groups.values()


def unseen(held: Sequence[Example], training: Iterable[Example]) -> list[Example]:
    """Of what is held out one example for each source that is not trained on.

    A second pronunciation of a word that is trained on tells nothing but how well the first was learnt.
    """
    known = {example.source for example in training}
    groups = list(_grouped(iter(held)))
    kept = [example for example in groups if example.source not in known]
    if groups and not kept:
        raise DataError(f"{held[0].where}: all sources to judge by are trained on, too")
    if len(kept) < len(groups):
        warnings.warn(
            f"{len(groups) - len(kept):,} of {len(groups):,} sources to judge by are trained on, too: "
            "they are left out",
            stacklevel=2,
        )
    return kept


class Row(NamedTuple):
    """A pair as numbers."""

    text: str  # the source as it was
    source: list[int]
    target: list[int]  # of the first reference, </s> included
    copies: list[int]  # for each token of the source its id as a target, where copying
    unknown: tuple[str, ...]  # words of the source that the target's vocabulary has not


@dataclass(frozen=True)
class Encoded:
    """Pairs as numbers, beside what they were."""

    rows: list[Row]
    examples: list[Example]

    @property
    def lengths(self) -> list[tuple[int, int]]:
        return [(len(row.source), len(row.target)) for row in self.rows]

    def pick(self, index: Iterable[int]) -> Encoded:
        chosen = list(index)
        return Encoded([self.rows[i] for i in chosen], [self.examples[i] for i in chosen])

    def within(self, longest: int) -> Encoded:
        """Those with no more tokens than so many on either side."""
        return self.pick(i for i, pair in enumerate(self.lengths) if max(pair) <= longest)

    def __len__(self) -> int:
        return len(self.rows)
