"""Tables written back: all that the input has stays, byte for byte where it is text, and columns are added."""

import csv
import io
import json

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.text.tables import open_table
from elman.text.tables.added_cells import add_cells, add_keys, cell_string, join_cells
from elman.text.tables.delimited import split_quoted
from elman.text.tables.table import Table, TableRow
from elman.text.tables.table_writer import list_columns, open_writer

ADDED = {"answer": str, "score": float}
VALUES = {"answer": 'a,"b"\n;\t', "score": 0.5}

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6) | st.text(
    '",;\n\r a'
)
values = st.none() | st.floats(allow_nan=False) | cells


def write(path, format, added=ADDED, rows=VALUES, **options):
    table = open_table(str(path), **options)
    stream = io.BytesIO()
    writer = open_writer(stream, table, added, format)
    for row in table:
        writer.write(row, rows)
    writer.close()
    return stream.getvalue()


@given(st.lists(cells, min_size=1, max_size=4), st.lists(values, max_size=3), st.sampled_from(",;\t|"))
def test_cells_are_added_to_a_record_and_nothing_else_changes(before, after, delimiter):
    raw = join_cells(before, delimiter, quotes=True)
    for end in ("\n", "\r\n", ""):
        record = raw[:-1] + end
        longer = add_cells(record, after, delimiter, quotes=True)
        assert longer.startswith(record[: len(record) - len(end)])
        assert longer.endswith(end)
        texts = ["" if value is None else str(value) for value in after]
        found, problem = split_quoted(longer[: len(longer) - len(end)], delimiter)
        assert (list(found), problem) == ([*before, *texts], "")
        if not any("\r" in text or "\n" in text for text in [*before, *texts]) and before != [""]:
            assert list(csv.reader([longer], delimiter=delimiter)) == [list(found)]


@given(st.dictionaries(cells, values), st.dictionaries(cells, values), st.booleans())
def test_keys_are_added_to_an_object_and_nothing_else_changes(before, after, ascii):
    new = {key: value for key, value in after.items() if key not in before}
    for indent, end in ((None, "\n"), (None, ""), (1, "\r\n")):
        raw = json.dumps(before, indent=indent) + end
        longer = add_keys(raw, new, ascii=ascii)
        assert json.loads(longer) == before | new
        assert longer.startswith(raw.rstrip()[:-1])
        assert longer.endswith("}" + end)


FILES = {
    "comma.csv": 'Id,Text\r\n1,"a ""b"", c"\r\n2,\r\n3,"x\ny"',
    "semicolon.csv": "\ufeffId;Text\n1;ä,b\n2;'\n",
    "sep.csv": "sep=;\nId;Text\n1;a\n",
    "plain.tsv": 'Id\tText\n1\ta "b\n2\t"\n',
    "headless.tsv": "a b\tx\nc\ty\n",
    "rows.jsonl": '{"Id":1,  "Text" : "\\u00e4"}\n{"Text": "b", "more": [1, {"a": null}]}\r\n{ "Id": 3 }',
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_of_its_own_format_is_copied_and_each_record_goes_on(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    format = path.suffix[1:]
    written = write(path, format).decode()
    table = open_table(str(path))
    for raw in [*([table.header] if table.columns and table.header else []), *(row.raw for row in table)]:
        stem = raw.rstrip("\r\n").removesuffix("}")
        assert written.startswith(stem)
        written = written[len(stem) :]
        if format == "jsonl":
            expected = ', "answer": "a,\\"b\\"\\n;\\t", "score": 0.5}'
        else:
            d = table.delimiter
            answer = '"a,""b""\n;\t"' if table.quotes else r'a,"b"\n;\t'
            expected = f"{d}answer{d}score" if raw is table.header else f"{d}{answer}{d}0.5"
        assert written.startswith(expected)
        end = raw[len(raw.rstrip("\r\n")) :]
        assert written[len(expected) :].startswith(end)
        written = written[len(expected) + len(end) :]
    assert written == ""


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings_come_out_as_they_came_in(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("Id,Text\n1,äö\n".encode(encoding))
    wide = write(path, "csv", {"n": str}, {"n": "ü"}, encoding=encoding)
    assert wide == "Id,Text,n\n1,äö,ü\n".encode(encoding)


def test_a_character_that_an_encoding_lacks_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("Id,Text\n1,ä\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"'漢', which latin-1 has not"):
        write(path, "csv", {"n": str}, {"n": "漢"}, encoding="latin-1")


def named(table, row):
    """The cells of a row that have something, as text, by the names of their columns."""
    named = zip(table.columns, map(cell_string, row.cells), strict=True)
    return {name: cell for name, cell in named if cell}


@pytest.mark.parametrize("into", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
@pytest.mark.parametrize("name", ["comma.csv", "plain.tsv", "rows.jsonl"])
def test_a_table_of_another_format_has_the_same_rows(name, into, tmp_path):
    if into in ("parquet", "xlsx"):
        pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}[into])
    path, copy = tmp_path / name, tmp_path / f"copy.{into}"
    path.write_bytes(FILES[name].encode())
    copy.write_bytes(write(path, into, {"n": str, "p": float}, {"n": "a", "p": 0.25}))
    before, after = open_table(str(path)), open_table(str(copy))
    assert sorted(after.columns) == sorted((*before.columns, "n", "p"))
    for old, new in zip(before, after, strict=True):
        cells = {**named(before, old), "n": "a", "p": "0.25"}
        assert named(after, new) == {name: cell for name, cell in cells.items() if cell}


def test_parquet_keeps_types_values_and_metadata(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"d": pa.array([1, None, 3], pa.date32()), "x": pa.array([[1], [], None], pa.list_(pa.int8()))}
    columns["text"] = pa.array(["a", None, "c"], pa.large_string())
    table = pa.table(columns).replace_schema_metadata({"k": "v"})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    table = parquet.read_table(tmp_path / "a.parquet")
    spans = {"spans": [{"text": "a", "start": 0, "end": 1, "label": "X"}], "p": None}
    kinds = {"spans": list, "p": float}
    (tmp_path / "b.parquet").write_bytes(write(tmp_path / "a.parquet", "parquet", kinds, spans))
    again = parquet.read_table(tmp_path / "b.parquet")
    assert again.select(["d", "x", "text"]).equals(table, check_metadata=True)
    assert again["spans"].to_pylist() == [spans["spans"]] * 3
    assert again["p"].type == pa.float64()


def test_excel_keeps_dates(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    from datetime import datetime

    book = openpyxl.Workbook()
    for row in (["text", "day"], ["a", datetime(2026, 11, 16)], [None, None], ["b", None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "b.xlsx").write_bytes(write(tmp_path / "a.xlsx", "xlsx", {"n": str}, {"n": "x"}))
    sheet = openpyxl.load_workbook(tmp_path / "b.xlsx").active
    rows = [["text", "day", "n"], ["a", datetime(2026, 11, 16), "x"], ["b", None, "x"]]
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == rows


def test_a_key_that_comes_late_is_not_hidden_by_one_of_the_same_name(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"Text": "a"}\n{"Text": "b", "answer": "mine"}\n')
    with pytest.raises(DataError, match=r"a.jsonl:2: this object has a key 'answer'"):
        write(tmp_path / "a.jsonl", "jsonl")


def test_columns_without_names_are_called_by_their_numbers(tmp_path):
    (tmp_path / "a.tsv").write_text("1\tx\n2\ty\n")
    table = open_table(str(tmp_path / "a.tsv"))
    rows = [row.cells for row in table]
    bare = Table("a", None, [TableRow(i, cells) for i, cells in enumerate(rows, 1)], width=2)
    stream = io.BytesIO()
    writer = open_writer(stream, bare, {"answer": str}, "parquet")
    for row in bare:
        writer.write(row, {"answer": "z"})
    writer.close()
    found = pyarrow.parquet.read_table(io.BytesIO(stream.getvalue()))
    assert found.column_names == ["1", "2", "answer"]
    assert list_columns(Table("a", ("x", "y"), ())) == ["x", "y"]
    assert list_columns(Table("a", None, (), width=3)) == ["1", "2", "3"]
    assert list_columns(Table("a", None, ())) == []
