"""What is no table is refused in one sentence with a remedy; kinds of files that no other test opens."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from pathlib import Path

import datasets
import openpyxl
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.errors import DataError
from elman.text.tables import open_table, read_rows

COLUMNS = {"text": "1", "label": "2"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"%PDF-1.7", "this is a PDF; save its text as .txt, or its table as .csv"),
        ("a.csv", b"%PDF-1.7", "this is a PDF"),
        ("a.docx", b"PK\x03\x04", "this is a Word document"),
        ("a.tsv", b"PK\x03\x04", "an Excel file must end in .xlsx"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "this is an old Excel file; save it as .xlsx or .csv"),
        ("a.xlsx", b"no zip", "cannot be read as an Excel file"),
        ("a.parquet", b"no parquet", "cannot be read as Parquet"),
        ("a.csv", b"PAR1", "its name must end in .parquet"),
        ("a.csv", b"\x1f\x8b\x08", "gzip-compressed, so its name must end in .gz"),
        ("a.csv.zst", b"no zst", "the compressed data is damaged or cut short"),
        ("a.pkl", b"\x80\x04", "a pickle, which could run code"),
        ("a.csv", bytes(range(256)), "this is a binary file, not a table"),
        ("a.csv", b"", "the file is empty"),
        ("a.json", b" ", "the file is empty"),
        ("a.json", b'[{"text": }]', "a.json:1: not JSON"),
        ("a.json", b'{"a": [1], "b": [2]}', "expected an array of objects"),
        ("a.json", b"[]", "the file has no rows"),
    ],
)
def test_what_is_no_table_is_refused_with_a_remedy(tmp_path: Path, name: str, content: bytes, said: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_rows(tmp_path / name))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.xlsx", "a.json", "a.jsonl"])
def test_a_file_that_is_not_there_is_said(tmp_path: Path, name: str):
    with pytest.raises(DataError, match="no such file"):
        open_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "package"), [("a.parquet", "pyarrow"), ("a.xlsx", "openpyxl"), ("a.csv.zst", "zstandard")]
)
def test_a_missing_package_is_one_sentence_with_its_extra(tmp_path: Path, monkeypatch, name: str, package: str):
    (tmp_path / name).write_bytes(b"anything")
    for loaded in [key for key in sys.modules if key.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    importlib.invalidate_caches()
    with pytest.raises(DataError, match=rf'install {package}: pip install "elman\[tables\]"'):
        open_table(tmp_path / name)


def test_an_array_may_stand_under_a_key_and_lines_under_the_ending_of_an_array(tmp_path: Path):
    path = tmp_path / "a.json"
    records = [{"text": "a", "label": 1}, {"text": "b", "label": 2}]
    for content in (json.dumps({"version": 2, "data": records}), "\n".join(map(json.dumps, records))):
        path.write_text(content)
        assert [row for _, row in read_rows(path)] == [("a", "1"), ("b", "2")]


def test_the_columns_are_the_keys_of_the_first_hundred_objects(tmp_path: Path):
    """A label that only few rows have is found; a long file is not read to its end for it."""
    objects = [{"text": "a"}] * 99 + [{"label": "x"}, {"note": "y"}]
    for name, content in {
        "a.jsonl": "\n".join(map(json.dumps, objects)),
        "a.json": json.dumps(objects),
    }.items():
        (tmp_path / name).write_text(content)
        assert open_table(tmp_path / name).columns == ("text", "label")


def test_keys_that_only_later_objects_have_are_columns(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"label": "x", "text": "b"}\n')
    assert open_table(path).columns == ("text", "label")
    assert [row for _, row in read_rows(path, skip_bad=True)] == [("b", "x")]


def test_a_folder_is_read_in_order_without_hidden_files_and_with_texts_in_their_own_encoding(tmp_path: Path):
    for name, content in {
        "spam/b.txt": b"buy\nnow\n",
        "spam/a.txt": "Größe".encode(),
        "ham/inner/c.txt": "Grüße".encode("cp1252"),
        "ham/.DS_Store": b"\0",
        ".git/d.txt": b"no",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert [row for _, row in read_rows(tmp_path)] == [
        ("Grüße", "ham"),
        ("Größe", "spam"),
        ("buy\nnow", "spam"),
    ]


def test_the_first_sheet_is_read_and_said(tmp_path: Path):
    path = tmp_path / "a.xlsx"
    with pandas.ExcelWriter(path) as book:
        pandas.DataFrame({"Text": ["a", None, "b"], "Rating": [1, None, 2]}).to_excel(
            book, sheet_name="One", index=False
        )
        pandas.DataFrame({"x": [1]}).to_excel(book, sheet_name="Two")
    assert list(read_rows(path)) == [(2, ("a", "1")), (4, ("b", "2"))]
    assert open_table(path).notes == ("sheet 'One', the first of 2",)


def test_class_names_survive_in_parquet(tmp_path: Path):
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["n", "p"])}
    )
    made = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=features)
    made.to_parquet(str(tmp_path / "a.parquet"))
    assert [row for _, row in read_rows(tmp_path / "a.parquet")] == [("a", "p"), ("b", "n")]


def test_a_dataset_dict_is_refused_with_its_splits():
    made = datasets.Dataset.from_dict({"text": ["a"], "label": ["x"]})
    with pytest.raises(DataError, match=r"splits train, test; give one of them"):
        open_table(datasets.DatasetDict({"train": made, "test": made}))


def test_a_frame_without_the_column_is_refused_with_those_it_has():
    with pytest.raises(DataError, match="no column 'text'; there are 'a', 'b'; say which with --text"):
        list(read_rows(pandas.DataFrame({"a": ["x"], "b": ["y"]})))


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b[:-99]])
def test_a_damaged_excel_file_is_one_sentence(tmp_path, damage):
    book = openpyxl.Workbook()
    for i in range(300):
        book.active.append([f"a film {i}", "xy"[i % 2]])
    path = tmp_path / "table.xlsx"
    book.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match="cannot be read as an Excel file"):
        list(open_table(path, wanted=COLUMNS))


def test_a_sheet_that_is_cut_short_is_one_sentence(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "table.xlsx"
    for i in range(300):
        book.active.append([f"a film {i}", "xy"[i % 2]])
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(path, "w") as cut:
        for name in whole.namelist():
            content = whole.read(name)
            cut.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    with pytest.raises(DataError, match="cannot be read as an Excel file"):
        list(open_table(path, wanted=COLUMNS))


def test_an_excel_file_is_known_by_its_format_not_its_name(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a", "x"])
    book.save(tmp_path / "table.data")
    (row,) = open_table(tmp_path / "table.data", wanted=COLUMNS, format="xlsx")
    assert row.cells == ("a", "x")


def test_a_damaged_parquet_file_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": [f"film {i}" for i in range(200)]}), path)
    content = bytearray(path.read_bytes())
    content[50:400] = bytes(byte ^ 0x33 for byte in content[50:400])
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"table\.parquet: cannot be read as Parquet"):
        list(open_table(path, wanted={"text": "text"}))


def test_lines_that_end_in_carriage_returns_alone_are_no_header(tmp_path):
    path = tmp_path / "old.tsv"
    path.write_bytes(b"text\tlabel\ra\tx\rb\ty\r")
    with pytest.raises(DataError, match="its lines end in carriage returns alone"):
        open_table(path, wanted={"text": "text"})


def test_carriage_returns_within_a_cell_are_no_ends_of_lines(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_bytes(b'"a\rb",x\r\n"c\r\nd",y\r\n')
    rows = open_table(path, wanted=COLUMNS)
    assert [row.cells for row in rows] == [("a\rb", "x"), ("c\nd", "y")]
