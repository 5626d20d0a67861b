"""The same rows in every kind of source: files that a command can be given, objects that Python can."""

import csv
import gzip
import io
import json
import lzma
from collections import namedtuple
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datasets
import pandas
import polars
import pyarrow
import pyarrow.parquet
import zstandard

Rows = Sequence[tuple[Any, ...]]
Columns = tuple[str, ...]


def _delimited(delimiter: str, encoding: str = "utf-8", before: str = "") -> Callable[[Columns, Rows], bytes]:
    def write(columns: Columns, rows: Rows) -> bytes:
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=delimiter).writerows([columns, *rows])
        return (before + buffer.getvalue()).encode(encoding)

    return write


def _records(columns: Columns, rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _json_lines(columns: Columns, rows: Rows) -> bytes:
    return "\n".join(map(json.dumps, _records(columns, rows))).encode()


def _json(columns: Columns, rows: Rows) -> bytes:
    return json.dumps(_records(columns, rows)).encode()


def _json_data(columns: Columns, rows: Rows) -> bytes:
    return json.dumps({"data": _records(columns, rows)}).encode()


def _label_studio(columns: Columns, rows: Rows) -> bytes:
    """The last column is what was chosen."""
    tasks = []
    for *texts, choice in rows:
        chosen = {"from_name": columns[-1], "type": "choices", "value": {"choices": [choice]}}
        data = dict(zip(columns, texts, strict=False))
        tasks.append({"data": data, "annotations": [{"result": [chosen], "was_cancelled": False}]})
    return json.dumps(tasks).encode()


def _label_studio_min(columns: Columns, rows: Rows) -> bytes:
    return json.dumps([{**record, "annotator": 1} for record in _records(columns, rows)]).encode()


def _doccano(columns: Columns, rows: Rows) -> bytes:
    """The last column is a list."""
    return _json_lines(columns, [(*row[:-1], [row[-1]]) for row in rows])


def _packed(pack: Callable[[bytes], bytes], write: Callable[[Columns, Rows], bytes]) -> Any:
    return lambda columns, rows: pack(write(columns, rows))


TEXT_FILES: dict[str, Callable[[Columns, Rows], bytes]] = {
    "a.tsv": _delimited("\t"),
    "a.csv": _delimited(","),
    "semicolon.csv": _delimited(";"),
    "tab.csv": _delimited("\t"),
    "pipe.csv": _delimited("|"),
    "excel.csv": _delimited(";", "cp1252"),
    "mark.csv": _delimited(";", "utf-8-sig"),
    "sep.csv": _delimited(";", "utf-8-sig", "sep=;\r\n"),
    "a.csv.gz": _packed(gzip.compress, _delimited(",")),
    "a.tsv.xz": _packed(lzma.compress, _delimited("\t")),
    "a.csv.zst": _packed(zstandard.compress, _delimited(",")),
}
JSON_FILES: dict[str, Callable[[Columns, Rows], bytes]] = {
    "a.jsonl": _json_lines,
    "a.json": _json,
    "data.json": _json_data,
    "a.jsonl.zst": _packed(zstandard.compress, _json_lines),
}
LABEL_FILES: dict[str, Callable[[Columns, Rows], bytes]] = {
    "studio.json": _label_studio,
    "studio-min.json": _label_studio_min,
    "doccano.jsonl": _doccano,
}


def write_binary(path: Path, columns: Columns, rows: Rows) -> None:
    """A Parquet or an Excel file."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(_arrow(columns, rows), path)
    else:
        _pandas(columns, rows).to_excel(path, index=False)


def write_folder(path: Path, rows: Rows) -> None:
    """Texts as files, in a folder for each label."""
    for number, (text, label) in enumerate(rows):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{number}.txt").write_text(text, encoding="utf-8")


def _pandas(columns: Columns, rows: Rows) -> Any:
    return pandas.DataFrame(_records(columns, rows))


def _arrow(columns: Columns, rows: Rows) -> Any:
    return pyarrow.Table.from_pylist(_records(columns, rows))


def _named(columns: Columns, rows: Rows) -> Any:
    kind = namedtuple("kind", columns)
    return [kind(*row) for row in rows]


OBJECTS: dict[str, Callable[[Columns, Rows], Any]] = {
    "tuples": lambda columns, rows: list(rows),
    "lists": lambda columns, rows: [list(row) for row in rows],
    "mappings": _records,
    "named tuples": _named,
    "columns": lambda columns, rows: dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)),
    "pandas": _pandas,
    "polars": lambda columns, rows: polars.DataFrame(_records(columns, rows)),
    "Arrow table": _arrow,
    "Arrow batch": lambda columns, rows: _arrow(columns, rows).to_batches()[0],
    "Hugging Face": lambda columns, rows: datasets.Dataset.from_list(_records(columns, rows)),
}
