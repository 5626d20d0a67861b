"""Delimiters, quotes and encodings as people's files have them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.text.tables import open_table, read_rows

ROWS = [("gut, aber teuer; für mich|dich", "pos"), ('schlecht: "nie"\nwieder', "neg"), ("naja …", "neg")]
WANTED = {"text": "text", "label": "label"}


def written(rows: list[tuple[str, str]], **dialect: str) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, **dialect).writerows(rows)  # type: ignore[arg-type]
    return buffer.getvalue()


def values(path: Path) -> list[tuple[str, ...]]:
    return [row for _, row in read_rows(path)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [("Text", "Kategorie"), ("text", "label"), ("review", "rating")])
def test_a_csv_is_read_by_whichever_delimiter_it_has(tmp_path: Path, delimiter: str, header: tuple[str, str]):
    path = tmp_path / "a.csv"
    path.write_text(written([header, *ROWS], delimiter=delimiter), newline="")
    assert values(path) == ROWS
    notes = open_table(path, wanted=WANTED).notes
    assert bool(notes) == (delimiter != ",")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_without_a_header_the_delimiter_is_the_one_that_all_rows_have(tmp_path: Path, delimiter: str):
    path = tmp_path / "a.csv"
    path.write_text(f"eins, zwei{delimiter}x\ndrei{delimiter}y\n" if delimiter != "," else "eins,x\nzwei,y\n")
    assert [row[1] for row in values(path)] == ["x", "y"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", ["", "sep=;\r\n"])
def test_a_german_excel_export_needs_no_option(tmp_path: Path, encoding: str, separator: str):
    path = tmp_path / "export.csv"
    path.write_bytes((separator + written([("Text", "Kategorie"), *ROWS], delimiter=";")).encode(encoding))
    assert values(path) == ROWS
    assert open_table(path, wanted=WANTED).encoding == encoding.removesuffix("-sig")


def test_a_single_foreign_byte_in_utf_8_is_no_other_encoding(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\nschön,a\n".encode() + b"sch\xf6n,b\n")
    assert [row.problem for row in open_table(path, wanted=WANTED)] == [
        "",
        "byte 0xf6 is not UTF-8; try another --encoding",
    ]


def test_a_chosen_name_finds_the_delimiter(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("Nr.;Anliegen, kurz;Abteilung\n1;kein Netz;IT\n")
    rows = read_rows(path, {"text": "anliegen, kurz", "label": "abteilung"})
    assert [row for _, row in rows] == [("kein Netz", "IT")]


def test_a_file_of_no_known_ending_is_a_tsv_unless_it_shows_the_header_of_a_csv(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("Text;Label\na\tb;x\n")
    assert values(path) == [("a\tb", "x")]
    path.write_text("so, so\tx\n")
    assert values(path) == [("so, so", "x")]


@pytest.mark.parametrize(
    ("lines", "quoted"),
    [
        ('"text"\t"label"\n"a"\t"b"\n', True),
        ('text\tlabel\n"he said ""no"""\tb\n', True),
        ('text\tlabel\n"two\nlines"\tb\n', True),
        ('text\tlabel\n"a"\tb\n', False),  # as a text may stand
        ('text\tlabel\n"so good\tpos\nbad"\tneg\n', False),
        ('text\tlabel\n5" nail\tb\n"" no\tc\n', False),
    ],
)
def test_a_tsv_has_quotes_only_where_it_plainly_does(tmp_path: Path, lines: str, quoted: bool):
    path = tmp_path / "a.tsv"
    path.write_text(lines)
    assert open_table(path, wanted=WANTED).quotes == quoted


cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1).map("<{}>".format)


@given(st.lists(st.tuples(cell, cell), min_size=1), st.sampled_from([",", ";", "\t", "|"]))
def test_header_and_raw_records_are_the_file(tmp_path_factory, rows: list[tuple[str, str]], delimiter: str):
    path = tmp_path_factory.getbasetemp() / "raw.csv"
    text = "\ufeff" + written([("text", "label"), *rows], delimiter=delimiter, lineterminator="\n")
    path.write_bytes(text.encode())
    table = open_table(path, wanted=WANTED)
    found = list(table)
    assert [row.cells for row in found] == rows
    assert (table.header or "") + "".join(row.raw or "" for row in found) == text
