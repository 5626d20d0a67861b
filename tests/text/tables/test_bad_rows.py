"""Rows that cannot be used are found in one pass, counted and shown, refused or skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from elman.errors import DataError
from elman.text.tables import TableRows, read_rows

WANTED = {"text": "text", "label": "label"}
BAD = b'text,label\na,x\n,y\nb\nc,d,e\nf\xff,g\n"open,h\ni, \nj,k\n'
FIRST = [
    "3: column 'text' is empty",
    "4: expected 2 columns, found 1",
    "5: expected 2 columns, found 3",
    "6: byte 0xff is not UTF-8; try another --encoding",
    "7: a quote that opens in this row is never closed",
]


def test_all_bad_rows_are_counted_and_the_first_five_shown(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(BAD)
    with pytest.raises(DataError) as caught:
        list(read_rows(path))
    shown = "; ".join(f"{path}:{line}" for line in FIRST)
    assert str(caught.value) == (
        f"{shown}; and 1 more (6 bad rows of 8; mend them, or skip them with --skip-bad)"
    )


def test_a_byte_that_is_none_of_the_encoding_is_found_in_json(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"text": "\xff", "label": "x"}]')
    with pytest.raises(DataError) as caught:
        list(read_rows(path))
    assert str(caught.value) == f"{path}: byte 12 is not UTF-8"


def test_skipping_loses_no_row_but_the_bad_ones_and_says_how_many(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(BAD)
    rows = TableRows(path, WANTED, skip_bad=True)
    assert list(rows) == [(2, ("a", "x")), (9, ("j", "k"))]
    assert str(rows.report) == (
        f'read 2 rows from {path}: text = "text", label = "label", 1 row without text skipped, '
        "4 rows that cannot be read skipped, 1 row without label skipped"
    )


def test_one_empty_cell_among_thousands_is_found_and_can_be_skipped(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"text {i}\t{i % 2}\n" if i != 700 else "\t0\n" for i in range(3000)))
    with pytest.raises(DataError, match=r"a\.tsv:701: column 'text' is empty \(1 bad row of 3,000; .*-bad"):
        list(read_rows(path))
    assert len(list(read_rows(path, skip_bad=True))) == 2999


def test_a_table_of_bad_rows_alone_is_refused_even_where_they_are_skipped(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "", "label": "a"}\n{"text": "b", "label": ""}\n')
    with pytest.raises(DataError, match="2 bad rows of 2"):
        list(read_rows(path, skip_bad=True))


def test_json_that_is_none_is_a_bad_row(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": "x"}\n{"text": \n[1]\n{"text": "b"}\n')
    with pytest.raises(DataError) as caught:
        list(read_rows(path))
    assert str(caught.value).count("a.jsonl:") == 3
    assert list(read_rows(path, skip_bad=True)) == [(1, ("a", "x"))]


def test_a_stray_quote_costs_its_line_and_no_other(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\na,x\n5" nail,y\nb,z\n6" nail,y\n"two\nlines",w\nc,v\n')
    found = [row for _, row in read_rows(path, skip_bad=True)]
    assert found == [("a", "x"), ("b", "z"), ("two\nlines", "w"), ("c", "v")]


def test_rows_in_memory_are_refused_and_skipped_alike():
    rows = [("a", "x"), ("b",), ("", "y"), (None, "z"), ("c", 3)]
    with pytest.raises(DataError, match=r"examples in memory:2: expected \(text, label\).*3 bad rows of 5"):
        list(read_rows(rows))
    assert list(read_rows(rows, skip_bad=True)) == [(1, ("a", "x")), (5, ("c", "3"))]
