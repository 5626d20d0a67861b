"""What a program hands to a verb in the place of texts: checked once, refused in one sentence with its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elman.argument_checks import can_iterate
from elman.errors import ArgumentError, quote, show_value


def check_text(text: Any, verb: str, many: str = "") -> str:
    """One text; ``many`` is the verb for a list of them."""
    if isinstance(text, str):
        return text
    remedy = f"; {many} takes a list" if many and isinstance(text, list | tuple) else ""
    raise ArgumentError(f"{verb} takes one text, a string, not {show_value(text)}{remedy}")


def check_texts(texts: Any, verb: str, name: str = "texts") -> list[str]:
    """A list of texts, or what iterates like one: a column of a data frame, an array, a generator."""
    items = iterate(texts, verb, f"a list of {name}", "[{}]")
    return [_check_string(text, f"{name}[{i}]") for i, text in enumerate(items)]


def check_rows(rows: Any, verb: str, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Rows of texts: tuples, or mappings that have them by column; a row of one may be the text alone."""
    sides = ", ".join('"…"' for _ in columns)
    kind, form = ("texts", "[{}]") if len(columns) == 1 else ("pairs", f"[({sides})]")
    if len(columns) > 1 and (names := _column_names(rows)) is not None:
        if missing := [column for column in columns if column not in names]:
            raise ArgumentError(f"{verb}: there is no column {missing[0]!r}; there are {', '.join(names)}")
        rows = zip(*(check_texts(rows[column], verb, column) for column in columns), strict=True)
    return [
        _check_row(row, f"{kind}[{i}]", columns)
        for i, row in enumerate(iterate(rows, verb, f"a list of {kind}", form))
    ]


def check_sentences(sentences: Any, verb: str) -> list[str | list[str]]:
    """Sentences: texts, or lists of words."""
    found: list[str | list[str]] = []
    for i, sentence in enumerate(iterate(sentences, verb, "a list of sentences", "[{}]")):
        name = f"sentences[{i}]"
        if isinstance(sentence, str):
            found.append(str(sentence))
        elif isinstance(sentence, bytes | Mapping) or not can_iterate(sentence):
            raise ArgumentError(f"{name} is {show_value(sentence)}; it must be a string or a list of words")
        else:
            found.append([_check_string(word, f"{name}[{k}]") for k, word in enumerate(sentence)])
    return found


def iterate(values: Any, verb: str, kind: str, form: str) -> Iterator[Any]:
    """The items of what is given as a list; ``form`` is what to write instead of a bare string."""
    if isinstance(values, str | bytes):
        raise ArgumentError(f"{verb} takes {kind}: {verb}({form.format(quote(str(values)))})")
    if isinstance(values, Mapping) or _column_names(values) is not None:
        given = type(values).__name__
        raise ArgumentError(f"{verb} takes {kind}, not a {given}: give a column of it, such as data['text']")
    if hasattr(values, "to_pylist"):  # of Arrow, whose items are no strings
        values = values.to_pylist()
    if not can_iterate(values):
        raise ArgumentError(f"{verb} takes {kind}, not {show_value(values)}")
    return iter(values)


def _column_names(values: Any) -> list[str] | None:
    """The columns of a data frame, of an Arrow table or of a dataset; None: it is none."""
    names = getattr(values, "column_names", None) or getattr(values, "columns", None)
    return None if names is None else [*map(str, names)]


def _check_row(row: Any, name: str, columns: Sequence[str]) -> tuple[str, ...]:
    if isinstance(row, str) and len(columns) == 1:
        return (str(row),)
    if isinstance(row, Mapping) and set(columns) <= set(row):
        row = tuple(row[column] for column in columns)
    if len(columns) == 1 and not isinstance(row, tuple | list):
        return (_check_string(row, name),)
    if not isinstance(row, tuple | list) or len(row) != len(columns):
        raise ArgumentError(
            f"{name} is {show_value(row)}; it must be {len(columns)} strings, {' and '.join(columns)}"
        )
    return tuple(_check_string(text, f"{name}[{k}]") for k, text in enumerate(row))


def _check_string(text: Any, name: str) -> str:
    if isinstance(text, str):
        return str(text)  # numpy has strings of its own
    remedy = ": decode it first" if isinstance(text, bytes) else ""
    raise ArgumentError(f"{name} is {show_value(text)}; it must be a string{remedy}")
