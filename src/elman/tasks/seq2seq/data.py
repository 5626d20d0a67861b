"""What a sequence-to-sequence model learns from: pairs of texts, in files and as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from elman.errors import ConfigError, DataError
from elman.ranges import NonNegativeInt, PositiveInt
from elman.tasks.config import ExamplesConfig, TokenizerConfig
from elman.text.byte_source import display_name
from elman.text.files import read_lines
from elman.text.tables import (
    CellError,
    InMemory,
    Table,
    TableFormat,
    TableRow,
    TableRows,
    open_parallel,
    publish_report,
)


@dataclass(frozen=True)
class Seq2SeqDataConfig(ExamplesConfig):
    """Where the pairs are: two files, line by line, or a table; further files hold further references."""

    format: Literal["", TableFormat] = ""  # "": by the ending
    source: str = "source"  # column: a name, or a number from 1
    target: str = "target"
    features: str = ""  # column of features, whole symbols behind the source: ``walk`` and ``V;PST``; "": none
    separator: str = ""  # of one file: what parts source and target, where it is no table
    multi_reference: bool = False  # pairs with one source are one to judge by, if it is not trained on
    max_tokens: PositiveInt = 200  # pairs with more tokens on a side are not trained on
    eval_examples: NonNegativeInt = 2000  # examples that an evaluation in training writes; 0: all

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.separator and self.format:
            raise ConfigError("separator is for text that is no table; leave format out")
        parallel = isinstance(self.train, tuple) and len(self.train) > 1
        if self.features and (self.separator or parallel):
            raise ConfigError(
                "features are a column of a table, but train is none: write them behind the source"
            )


@dataclass(frozen=True)
class TokenizerPairConfig:
    """How each side is cut; ``joint``: both by one vocabulary, that of ``source``'s options."""

    source: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="bpe"))
    target: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="bpe"))
    joint: bool = False

    def __post_init__(self) -> None:
        if self.joint and self.source != self.target:
            raise ConfigError("joint is true, so source and target must be cut alike; say the same for both")


class Seq2SeqExample(NamedTuple):
    source: str
    targets: tuple[str, ...]  # the right answers: one, or several references
    where: str = ""  # file:line


def read_examples(
    data: Seq2SeqDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> Iterator[Seq2SeqExample]:
    """The pairs of a table, or of two files and more."""
    paths = (source,) if isinstance(source, str) else source
    if train and len(paths) > 2:
        raise ConfigError(f"to train on, one file or two, not {len(paths)}")
    if isinstance(paths[0], InMemory) and all(isinstance(row, Seq2SeqExample) for row in paths[0].rows):
        pairs: Iterator[Seq2SeqExample] = iter(paths[0].rows)
    else:
        pairs = _build_examples(_open_rows(data, paths), display_name(paths[0]))
    return _group_by_source(pairs) if data.multi_reference and not train else pairs


def _open_rows(data: Seq2SeqDataConfig, paths: tuple[str, ...]) -> TableRows:
    """Numbered rows of a source and its targets."""
    columns = ("source", "target", *(f"target {number}" for number in range(2, len(paths))))
    if len(paths) > 1:
        table = open_parallel(paths, columns, encoding=data.encoding)
    elif data.separator and not isinstance(paths[0], InMemory):
        table = Table(display_name(paths[0]), columns, _read_separated(data, paths[0]), format="lines")
    else:
        wanted, format = {"source": data.source, "target": data.target}, data.format or None
        if data.features:
            wanted["features"] = data.features
        rows = TableRows(paths[0], wanted, format=format, encoding=data.encoding, skip_bad=data.skip_bad)
        if data.features and rows.places[-1] in rows.places[:-1]:
            raise ConfigError("one column is to be text and features: name another one with --features")
        return rows
    return TableRows(table, {name: name for name in columns}, skip_bad=data.skip_bad, as_is=columns)


def _read_separated(data: Seq2SeqDataConfig, path: str) -> Iterator[TableRow]:
    for number, line in read_lines(path, encoding=data.encoding):
        text, found, target = line.partition(data.separator)
        missing = not found and line.strip()
        problem = f"expected source and target with {data.separator!r} between" if missing else ""
        yield TableRow(number, (text.strip(), target.strip()), problem=problem)


def _build_examples(rows: TableRows, file: str) -> Iterator[Seq2SeqExample]:
    """Pairs of which both sides say something; what is empty on both sides is left out."""
    empty, check = True, _check_features if "features" in rows.roles else _check_pair
    for number, pair in rows.check(check):
        if pair is not None:
            empty = False
            yield Seq2SeqExample(*pair, f"{file}:{number}")
    if empty:
        raise DataError(f"{file}: there are no pairs")
    publish_report(rows.report)


def _check_pair(text: str, *targets: str) -> tuple[str, tuple[str, ...]] | None:
    source, target = bool(text.strip()), any(map(str.strip, targets))
    if source == target:
        return (text, targets) if source else None
    which = "source" if target else "target"
    raise CellError(
        f"the {which} is empty, but not the other side; are the files of one length and in the same order?",
        f"without {which}",
    )


def _check_features(text: str, target: str, features: str) -> tuple[str, tuple[str, ...]] | None:
    return _check_pair(join_features(text, features), target)


def join_features(text: str, features: str) -> str:
    """A source with its features behind it, as ``chars+features`` reads them: no blank stands among them."""
    symbols = ";".join(features.split())
    return f"{text} {symbols}" if set(";|") & set(symbols) else f"{text} {symbols};"


def _group_by_source(pairs: Iterator[Seq2SeqExample]) -> Iterator[Seq2SeqExample]:
    """One example for each source, with all its targets."""
    groups: dict[str, Seq2SeqExample] = {}
    for example in pairs:
        first = groups.setdefault(example.source, example._replace(targets=()))
        groups[example.source] = first._replace(targets=first.targets + example.targets)
    yield from groups.values()


def unseen(held: Sequence[Seq2SeqExample], training: Iterable[Seq2SeqExample]) -> list[Seq2SeqExample]:
    """Of what is held out one example for each source that is not trained on.

    A second pronunciation of a word that is trained on tells nothing but how well the first was learnt.
    """
    known = {example.source for example in training}
    groups = list(_group_by_source(iter(held)))
    kept = [example for example in groups if example.source not in known]
    if groups and not kept:
        raise DataError(f"{held[0].where}: all sources to judge by are trained on, too")
    if len(kept) < len(groups):
        left_out = f"{len(groups) - len(kept):,} of {len(groups):,} sources to judge by"
        warnings.warn(f"{left_out} are trained on, too: they are left out", stacklevel=2)
    return kept


class EncodedPair(NamedTuple):
    """A pair as numbers."""

    text: str  # the source as it was
    source: list[int]
    target: list[int]  # of the first reference, </s> included
    copies: list[int]  # for each token of the source its id as a target, where copying
    unknown: tuple[str, ...]  # words of the source that the target's vocabulary has not


@dataclass(frozen=True)
class Seq2SeqDataset:
    """Pairs as numbers, beside what they were."""

    rows: list[EncodedPair]
    examples: list[Seq2SeqExample]

    @property
    def lengths(self) -> list[tuple[int, int]]:
        return [(len(row.source), len(row.target)) for row in self.rows]

    def pick(self, index: Iterable[int]) -> Seq2SeqDataset:
        chosen = list(index)
        return Seq2SeqDataset([self.rows[i] for i in chosen], [self.examples[i] for i in chosen])

    def within(self, max_tokens: int) -> Seq2SeqDataset:
        return self.pick(i for i, pair in enumerate(self.lengths) if max(pair) <= max_tokens)

    def __len__(self) -> int:
        return len(self.rows)
