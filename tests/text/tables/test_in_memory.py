"""Examples that a program holds, as a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars
import pyarrow
import pyarrow.parquet as parquet
import pytest

from elman.errors import DataError
from elman.text.tables import read_rows
from elman.text.tables.arrow import class_names
from elman.text.tables.in_memory import InMemory, hold_rows


class Named(NamedTuple):
    text: str
    label: str


@dataclass
class Thing:
    text: str
    label: str


class DatasetDict(dict[str, Any]):
    """As that of Hugging Face is called."""


class LikePandas:
    columns = ("text", "label")

    def to_dict(self, how: str) -> list[dict[str, str]]:
        return [{"text": "a", "label": how}]


def table(source: Any) -> list[tuple[int, tuple[Any, ...], str]]:
    held = InMemory.hold(source)
    assert isinstance(held, InMemory)
    return [(row.number, row.cells, row.problem) for row in held.open()]


@pytest.mark.parametrize(("share", "held"), [(0.3, 3), (0.39, 3), (0.01, 1), (0.9, 9)])
def test_what_is_held_out_are_the_last_rows_at_least_one(share: float, held: int):
    rows = [(str(i), "x") for i in range(10)]
    first, last = hold_rows(rows, ("text", "label")).hold_out(share)
    assert (first.rows, last.rows) == (rows[:-held], rows[-held:])
    assert first.columns == last.columns == ("text", "label")


@pytest.mark.parametrize("source", [[Named("a", "x")], [Thing("a", "x")], [{"text": "a", "label": "x"}]])
def test_the_names_of_objects_are_columns(source: list[Any]):
    assert table(source) == [(1, ("a", "x"), "")]
    held = InMemory.hold(source)
    assert isinstance(held, InMemory)
    assert held.open().columns == ("text", "label")


def test_rows_are_numbered_and_what_is_none_is_said_where_it_stands():
    expected = [(1, ("a", "x"), ""), (2, ("b", "y"), "")]
    assert table([("a", "x"), ["b", "y"], 7]) == [*expected, (3, (), "expected a tuple or a mapping, got 7")]
    assert table({"text": ["a", "b"], "label": ["x", "y"]}) == expected
    assert table(["a b", Thing])[0] == (1, ("a b",), "")
    assert "expected a tuple" in table(["a b", Thing])[1][2], "a class is no row"
    mixed = table([{"text": "a"}, ("b",), {"text": "c"}])
    assert mixed == [(1, ("a",), ""), (2, (), "expected a mapping"), (3, ("c",), "")]


def test_columns_of_arrow_and_of_what_looks_like_a_frame_are_read():
    column = pyarrow.chunked_array([["a"], ["b"]])
    assert table(column) == [(1, ("a",), ""), (2, ("b",), "")]
    batches = pyarrow.table({"text": ["a", "b"]}).to_reader(1)
    assert table(batches) == [(1, ("a",), ""), (2, ("b",), "")]
    assert table(LikePandas()) == [(1, ("a", "records"), "")]
    assert table(polars.Series(["a", "b"])) == [(1, ("a",), ""), (2, ("b",), "")]


def test_paths_stay_paths():
    held = hold_rows([("a",)])
    assert InMemory.hold(held) is held
    assert InMemory.hold(Path("a.tsv")) == "a.tsv"
    assert InMemory.hold((Path("a"), "b")) == ("a", "b")
    assert isinstance(InMemory.hold((Path("a"), ("b", "x"))), InMemory), "rows, one of them a path"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([], "there are no examples"),
        ((), "there are no examples"),
        (b"abc", "not bytes"),
        (7, "not int"),
        (DatasetDict(train=[1], test=[2]), "DatasetDict with the splits train, test; give one of them"),
        ({"text": ["a", "b"], "label": ["x"]}, "lists of one length"),
        ({"text": ["a"], "label": 7}, "lists of one length"),
        ({"text": ["a"], "label": iter(["x"])}, "lists of one length"),
        ({}, "lists of one length"),
    ],
)
def test_what_holds_no_examples_is_refused(source: Any, said: str):
    with pytest.raises(DataError, match=said):
        InMemory.hold(source)


@pytest.mark.parametrize(
    ("feature", "value", "name"),
    [
        ({"names": ["x", "y"]}, 1, "y"),
        ({"names": ["x", "y"]}, 0, "x"),
        ({"names": ["x", "y"]}, 2, None),
        ({"names": ["x", "y"]}, -1, None),
        ({"names": ["x", "y"]}, None, None),
        ({"names": ["x", "y"]}, "x", None),
        ([{"names": ["x", "y"]}], [1, 0], ["y", "x"]),
        ({"feature": {"names": ["x", "y"]}}, [1, None], ["y", None]),
        ({"feature": {"names": ["x", "y"]}}, None, None),
    ],
)
def test_numbers_of_classes_become_their_names(feature: Any, value: Any, name: Any):
    convert = class_names(feature)
    assert convert is not None
    assert convert(value) == name
    assert class_names(None) is class_names({"dtype": "int64"}) is class_names({"feature": {}}) is None


def test_rows_of_a_parquet_file_are_numbered_through_all_batches(tmp_path: Path):
    path = tmp_path / "a.parquet"
    rows = [{"text": str(i), "label": "x"} for i in range(5)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=2)
    assert [*read_rows(path)] == [(i + 1, (str(i), "x")) for i in range(5)]
