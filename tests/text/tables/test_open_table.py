"""What is no table is refused in one sentence with a remedy; kinds of files that no other test opens."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import datasets
import pandas
import pytest

from elman.errors import DataError
from elman.text.tables import open_table, read_rows


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
