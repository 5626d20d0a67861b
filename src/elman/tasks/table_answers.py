"""A model's answers to the rows of a table, one for each, whatever the table is."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from elman.errors import ConfigError, DataError
from elman.tasks.base import PredictOptions, Task
from elman.tasks.results import Answer
from elman.text.length_limit import locate_long_texts
from elman.text.tables import Table, TableRow, find_columns
from elman.text.tables.cell_text import CellError, cell_text
from elman.text.tables.table import Missing


def wanted_columns(task: Task, chosen: Sequence[str] = ()) -> dict[str, str]:
    """For each text that a model reads, the column to read it from: as it was trained, if nobody chose."""
    roles = task.table_columns
    if chosen and len(chosen) != len(roles):
        reads = f"{task.spec.title} reads {' and '.join(roles)}"
        raise ConfigError(f"--text was given {len(chosen)} times, but {reads}: name {len(roles)}")
    data = task.record.data if task.record else task.defaults.data
    trained = [getattr(data, role, role) for role in roles]
    return dict(zip(roles, chosen or trained, strict=True))


def trained_columns(task: Task) -> dict[str, str]:
    """What the columns were called in the table that a model was trained on."""
    run = task.record.run if task.record else {}
    sources = run.get("data", {}).get("train", [])
    return dict(sources[0].get("columns", {})) if sources else {}


def find_texts(
    table: Table, wanted: Mapping[str, str], trained: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, ...]:
    """The places of the texts; without a header by number, or all columns.

    Where nobody chose a name, it is that of training, if the table has it, else what people call such columns.
    """
    known = {role: trained[role] for role in trained if trained[role] in (table.columns or ())}
    wanted = {role: known.get(role, name) if name == role else name for role, name in wanted.items()}
    numbered = all(name.isdecimal() for name in wanted.values())
    if table.columns is None and not numbered and table.width not in (None, len(wanted)):
        names, numbers = (
            " and ".join(map(repr, wanted.values())),
            " ".join(f"--text {i + 1}" for i in range(len(wanted))),
        )
        raise DataError(
            f"{table.where}: this row does not name {names}; say which column it is by --text NAME, "
            f"or by its number where the table has no header: {numbers}"
        )
    return find_columns(table, wanted)


def answer_rows(
    task: Task, table: Table, places: Sequence[int], options: PredictOptions
) -> Iterator[tuple[TableRow, Answer | None]]:
    """Every row with its answer; None where one of its texts is empty. A row that cannot be read is refused."""
    for some in options.chunks(table):
        texts = [read_texts(table, row, places) for row in some]
        both = zip(some, texts, strict=True)
        named = [f"{table.name}:{row.number}" for row, text in both if text is not None]
        answers = iter(task.predict_rows([text for text in texts if text is not None], options))
        with locate_long_texts(named):
            for row, text in zip(some, texts, strict=True):
                yield row, None if text is None else next(answers)


def read_texts(table: Table, row: TableRow, places: Sequence[int]) -> tuple[str, ...] | None:
    """The texts of a row, or None where one is empty or its key is missing."""
    if row.problem:
        raise DataError(f"{table.name}:{row.number}: {row.problem}")
    cells = [row.cells[place] for place in places]
    if any(isinstance(cell, Missing) for cell in cells):
        return None
    try:
        names = table.columns or [str(number) for number in range(1, len(row.cells) + 1)]
        texts = tuple(cell_text(cell, names[place]) for cell, place in zip(cells, places, strict=True))
    except CellError as error:
        raise DataError(f"{table.name}:{row.number}: {error}") from None
    return texts if all(text.strip() for text in texts) else None


def show_column(table: Table, place: int) -> str:
    """What a column is called in messages: its name in quotes, or its number from 1."""
    return f'"{table.columns[place]}"' if table.columns else f"column {place + 1}"


def free_names(names: Iterable[str], taken: Container[str]) -> dict[str, str]:
    """What added columns are called: their names, with ``_predicted`` where the table has such a column."""
    return {name: free_name(name, taken) for name in names}


def free_name(name: str, taken: Container[str]) -> str:
    """A name that no column has."""
    free, number = name, 1
    while free in taken:
        free = f"{name}_predicted{number if number > 1 else ''}"
        number += 1
    return free
