from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.tables import read_rows

cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def table(folder: Path, text: str, name: str = "a.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def values(path: Path, columns: Sequence[str] = ("text", "label")) -> list[tuple[str, ...]]:
    return [row for _, row in read_rows(path, columns)]


def test_a_header_names_the_columns_in_any_order(tmp_path: Path) -> None:
    path = table(tmp_path, "id\tlabel\ttext\n7\tpos\tgood\n8\tneg\tbad\n")
    assert list(read_rows(path)) == [(2, ("good", "pos")), (3, ("bad", "neg"))]
    assert values(path, ("label",)) == [("pos",), ("neg",)]


def test_without_a_header_text_comes_before_label(tmp_path: Path) -> None:
    assert values(table(tmp_path, "good\tpos\nbad\tneg\n")) == [("good", "pos"), ("bad", "neg")]


def test_columns_by_number_read_label_first_files(tmp_path: Path) -> None:
    path = table(tmp_path, "pos\tgood\nneg\tbad\n")
    assert values(path, ("2", "1")) == [("good", "pos"), ("bad", "neg")]


def test_empty_lines_between_rows_are_skipped(tmp_path: Path) -> None:
    assert list(read_rows(table(tmp_path, "\na\tx\n\nb\ty\n\n"))) == [(2, ("a", "x")), (4, ("b", "y"))]


def test_quotes_in_a_tsv_are_characters(tmp_path: Path) -> None:
    assert values(table(tmp_path, '"so\tpos\n')) == [('"so', "pos")]


@given(
    table_rows=st.lists(st.tuples(cell, cell), min_size=1),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_csv_reads_what_the_standard_library_writes(
    folder: Path, table_rows: list[tuple[str, str]], quoting: int, end: str
) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerows([("text", "label"), *(("<" + a, "<" + b) for a, b in table_rows)])
    path = table(folder, buffer.getvalue(), "a.csv")
    assert values(path) == [("<" + a, "<" + b) for a, b in table_rows]


def test_a_quoted_field_goes_on_over_lines_and_the_row_has_the_number_of_its_first(tmp_path: Path) -> None:
    path = table(tmp_path, 'text,label\n"two\nlines, ""quoted""",a\nb,c\n', "a.csv")
    assert list(read_rows(path)) == [(2, ('two\nlines, "quoted"', "a")), (4, ("b", "c"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\nc,d\n"open,e\nf,g\n', r"a\.csv:3: a quote that opens in this row is never closed"),
        ('a,b\n"c" d,e\n', r"a\.csv:2: field 1 has a quote in the wrong place"),
        ('a,b\n5" nail,e\n6" nail,f\n', r"a\.csv:2: field 2 has a quote in the wrong place"),
    ],
)
def test_stray_quotes_in_csv_are_errors_where_they_begin(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        values(table(tmp_path, text, "a.csv"))


@given(st.lists(st.tuples(cell, st.one_of(cell, st.integers())), min_size=1))
def test_jsonl_reads_strings_and_whole_numbers(folder: Path, records: list[tuple[str, str | int]]) -> None:
    lines = [json.dumps({"label": b, "text": "<" + a, "more": None}) for a, b in records]
    path = table(folder, "\n".join(lines), "a.jsonl")
    if all(str(b).strip() for _, b in records):
        assert values(path) == [("<" + a, str(b)) for a, b in records]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"not JSON \(.* at column 2\)"),
        ("[1]", "expected a JSON object"),
        ('{"text": "a", "tag": "b"}', r"no key 'label'; the object's keys are 'text', 'tag'"),
        ('{"text": "a", "label": true}', "'label' must be a string or a whole number"),
        ('{"text": "a", "label": 0.5}', "'label' must be a string or a whole number"),
        ('{"text": "\\ud800", "label": "a"}', "'text' holds half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": ' + "1" * 5000 + "}", "a number that is too long"),
    ],
)
def test_what_is_no_record_is_an_error_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = table(tmp_path, '{"text": "a", "label": "b"}\n' + line, "a.jsonl")
    with pytest.raises(DataError, match=rf"a\.jsonl:2: .*{message}"):
        values(path)


def test_blank_separated_files_have_two_columns(tmp_path: Path) -> None:
    path = table(tmp_path, "1 a  fine\tfilm\n0\tno\n", "stsa.dev")
    assert [row for _, row in read_rows(path, ("2", "1"), format="blank")] == [
        ("a  fine\tfilm", "1"),
        ("no", "0"),
    ]


def test_the_ending_says_the_format_unless_it_is_said(tmp_path: Path) -> None:
    path = table(tmp_path, "a,b\tc\n", "a.csv")
    assert [row for _, row in read_rows(path, format="tsv")] == [("a,b", "c")]
    assert values(path) == [("a", "b\tc")]
    with pytest.raises(ConfigError, match="unknown table format 'xml'; choose from tsv, csv"):
        list(read_rows(path, format="xml"))


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("text\tlabel\na\tb\tc\n", ("text", "label"), ":2: expected 2 columns, found 3"),
        ("a\tb\nc\n", ("text", "label"), ":2: expected 2 columns, found 1"),
        ("text\tcolour\na\tb\n", ("text", "label"), ":1: the header must have one column 'label'"),
        ("text\ttext\tlabel\n", ("text", "label"), ":1: the header must have one column 'text'"),
        ("a\tb\tc\n", ("text", "label"), ":1: no header with 'text', 'label'.* 2 columns, not 3"),
        ("a\tb\n", ("3", "1"), ":1: there is no column 3, the row has 2"),
        ("a\tb\n\tc\n", ("text", "label"), ":2: column 'text' is empty"),
        ("a\tb\nc\t \n", ("1", "2"), ":2: column '2' is empty"),
        ("text\tlabel\n", ("text", "label"), ": the file has no rows"),
        ("\n\n", ("text", "label"), ": the file has no rows"),
    ],
)
def test_what_is_no_table_is_an_error_with_its_line(
    tmp_path: Path, text: str, columns: tuple[str, ...], message: str
) -> None:
    with pytest.raises(DataError, match=rf"a\.tsv{message}"):
        values(table(tmp_path, text), columns)


@pytest.mark.parametrize("columns", [("0", "1"), ("text", "2")])
def test_columns_are_names_or_numbers_from_one(tmp_path: Path, columns: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="either names or numbers, which count from 1"):
        values(table(tmp_path, "a\tb\n"), columns)


def test_reading_is_lazy(tmp_path: Path) -> None:
    reader = read_rows(table(tmp_path, "a\tb\nbroken\n"))
    assert next(reader) == (1, ("a", "b"))
    with pytest.raises(DataError):
        next(reader)


def test_names_that_were_chosen_must_be_in_the_header(folder: Path) -> None:
    path = table(folder, "q\ta\nwho?\tyou\n")
    with pytest.raises(DataError, match=r"a\.tsv:1: the header must have one column 'question'"):
        list(read_rows(path, {"source": "question", "target": "answer"}))
    assert [row for _, row in read_rows(path, {"source": "q", "target": "a"})] == [("who?", "you")]
    assert len(list(read_rows(path, ("1", "2")))) == 2
