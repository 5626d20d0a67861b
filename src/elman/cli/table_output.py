"""elman predict on a table: the table again, with the answers in columns of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from elman.cli.output_file import open_output
from elman.cli.terminal import progress_bar, say
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.base import PredictOptions, Task
    from elman.tasks.results import Answer
    from elman.text.tables import Table

T = TypeVar("T")
Cells = Callable[["Answer | None"], Mapping[str, Any]]

ADVANCE = 512  # rows between two moves of the progress bar


class TableOptions(NamedTuple):
    """How a table is read, and where the answers go."""

    format: str  # of the table
    out: Path | None = None
    text: tuple[str, ...] = ()  # the columns that somebody chose to be read


def answer_table(model: Task, file: str, asked: PredictOptions, options: TableOptions) -> None:
    """Write a table with further columns, row by row; a row without a text has no answer."""
    from elman.tasks.table_answers import answer_rows, find_texts, free_names, trained_columns, wanted_columns
    from elman.text.byte_source import hold_pipe
    from elman.text.tables import open_table
    from elman.text.tables.line_table import open_lines
    from elman.text.tables.table_check import check_table
    from elman.text.tables.table_writer import open_writer

    file = file if file == "-" else hold_pipe(file)  # it is checked before it is answered
    wanted, columns = wanted_columns(model, options.text), model.answer_columns(asked)
    read = partial(open_table, file, format=options.format, encoding=asked.encoding, wanted=wanted)
    if options.format == "lines":
        wanted = {name: name for name in model.text_columns}
        read = partial(open_lines, file, model.text_columns[0], encoding=asked.encoding)
    checked = check_table(read(), columns) if file != "-" else None
    table = read()
    places = find_texts(table, wanted, trained_columns(model))
    taken = checked.names if checked else table.columns or ()
    names, written = free_names(columns, taken), written_format(table.format, options.out, asked)
    cells = record_cells(model, names, taken) if asked.as_json else partial(answer_cells, names)
    rows = empty = 0
    with open_output(options.out, file) as stream:
        writer = open_writer(stream, table, {names[name]: kind for name, kind in columns.items()}, written)
        answers = answer_rows(model, table, places, asked)
        for row, answer in show_progress(answers, checked and checked.rows, hide=options.out is None):
            writer.write(row, cells(answer))
            rows, empty = rows + 1, empty + (answer is None)
            if file == "-" and options.out is None:  # who waits at a pipe gets it now
                stream.flush()
        writer.close()
    say(summary(table, dict(zip(wanted, places, strict=True)), rows, empty, names))


def written_format(read: str, out: Path | None, asked: PredictOptions) -> str:
    """The format of the output: as its ending says, else that of the input."""
    from elman.text.tables import table_format

    named = table_format(str(out)) if out else None
    if asked.as_json:
        if named not in (None, "jsonl"):
            raise ConfigError(f"--json writes JSON lines, not {named}: leave one of them out")
        return "jsonl"
    written = named or ("csv" if read == "folder" else read)
    if out is None and written in ("parquet", "xlsx") and sys.stdout.isatty():
        raise ConfigError(f"the answers are {written}, which is not for a terminal: give --out FILE")
    return written


def answer_cells(names: Mapping[str, str], answer: Answer | None) -> Mapping[str, Any]:
    """The cells of an answer by the names of their columns."""
    cells = answer.cells if answer else [None] * len(names)
    return dict(zip(names.values(), cells, strict=True))


def record_cells(model: Task, names: Mapping[str, str], taken: Container[str]) -> Cells:
    """What gives all that JSON says of an answer, beside the texts, by names that no column has."""
    from elman.tasks.table_answers import free_name

    def cells(answer: Answer | None) -> Mapping[str, Any]:
        if answer is None:
            return dict.fromkeys(names.values())
        texts = {"text", *model.text_columns}
        return {free_name(key, taken): value for key, value in answer.record.items() if key not in texts}

    return cells


def show_progress(items: Iterable[T], total: int | None, *, hide: bool) -> Iterator[T]:
    """The items, and how many of them are done on a terminal; ``hide`` where results are printed on it."""
    bar = progress_bar()
    bar.disable = bar.disable or (hide and sys.stdout.isatty())
    with bar:
        rows = bar.add_task("rows", total=total)
        for number, item in enumerate(items, 1):
            yield item
            if number % ADVANCE == 0:
                bar.update(rows, completed=number)


def summary(table: Table, places: Mapping[str, int], rows: int, empty: int, names: Mapping[str, str]) -> str:
    """One line on what was done."""
    from elman.tasks.table_answers import show_column

    notes = f" ({', '.join(table.notes)})" if table.notes else ""
    parts = [f"{role} = {show_column(table, place)}" for role, place in places.items()]
    if table.columns is None:
        parts.append("no header, so the first row is answered, too")
    if empty:
        parts.append(f"{_rows(empty)} without text {'has' if empty == 1 else 'have'} no answer")
    for name, new in names.items():
        if new != name:
            parts.append(f'the table has a column "{name}", so the answer is in "{new}"')
    return f"answered {_rows(rows)} of {table.name}{notes}: {', '.join(parts)}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
