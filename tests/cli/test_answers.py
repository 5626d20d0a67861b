"""Answers to lines: what is read as a table, what a header looks like, how an answer is written."""

import json
from types import SimpleNamespace

import pytest
import torch

from elman.cli.answers import _format, find_table, note_header
from elman.cli.output_file import AnswerOptions
from elman.cli.table_output import answer_cells, record_cells, summary, written_format
from elman.errors import ConfigError
from elman.tasks.results import Alignment, Answer
from elman.text.tables import Table
from tests.tasks.topics import fresh

TEXTS = SimpleNamespace(predict_options={"n_best"}, text_columns=("text",))
PAIRS = SimpleNamespace(predict_options={"n_best"}, text_columns=("first", "second"))
TAGS = SimpleNamespace(predict_options={"n_best", "format"}, text_columns=("text",))


@pytest.mark.parametrize(
    ("model", "file", "format", "out", "table"),
    [
        (TEXTS, "a.csv", None, None, "csv"),
        (TEXTS, "a.csv", "tsv", None, "tsv"),
        (TEXTS, "a.csv", "lines", None, None),
        (TEXTS, "-", "jsonl", None, "jsonl"),
        (TEXTS, "-", None, None, None),
        (TEXTS, "a.txt", None, None, None),
        (TEXTS, "a.txt", None, "b.txt", None),
        (TEXTS, "a.txt", None, "b.csv", "lines"),
        (TEXTS, "-", None, "b.csv", "lines"),
        (TEXTS, "a.csv", "lines", "b.csv", "lines"),
        (PAIRS, "a.txt", None, "b.csv", "tsv"),
        (PAIRS, "a.txt", None, None, None),
        (TAGS, "a.txt", None, "b.csv", None),
        (TAGS, "a.txt", "raw", "b.csv", "lines"),
        (TAGS, "a.txt", "raw", None, None),
        (TAGS, "a.csv", None, None, "csv"),
    ],
)
def test_a_table_is_what_the_format_or_an_ending_says(model, file, format, out, table, tmp_path):
    options = AnswerOptions(tmp_path / out if out else None, ())
    assert find_table(model, file, format, options) == table


@pytest.mark.parametrize("line", ["text,label", "id\ttext", "label;text"])
def test_lines_that_begin_like_a_table_are_told_once_and_read_all_the_same(line, capsys):
    assert [*note_header(fresh(), "mails.txt", [line, line])] == [line, line]
    said = "mails.txt is read as lines of text, but begins like a table: --format csv (or tsv) reads one\n"
    assert capsys.readouterr() == ("", said)
    assert [*note_header(fresh(), "-", [line])] == [line]
    assert capsys.readouterr().err.startswith("standard input is read as lines of text")


@pytest.mark.parametrize(
    "lines", [["text"], ["a,b,"], ["hello", "text,label"], ["text,label\nmore"], [{"t": 1}], []]
)
def test_nothing_else_is_told(lines, capsys):
    assert [*note_header(fresh(), "mails.txt", lines)] == lines
    assert capsys.readouterr().err == ""


def test_an_answer_is_one_line_whatever_is_in_it():
    answer = Answer("a\r\nb", {"text": "é", "p": 0.5})
    assert _format(answer, None, as_json=False) == b"a\\r\\nb\n"
    assert _format(answer, None, as_json=True).decode() == '{"text": "é", "p": 0.5}\n'
    assert _format(answer._replace(line=b"1\tTime\n\n"), None, as_json=False) == b"1\tTime\n\n"


def test_an_answer_shows_where_the_model_looked():
    looked = Alignment(["un", "deux"], ["one", "two"], torch.tensor([[0.25, 0.75], [1.0, 0.0]]))
    answer = Answer("one two", {"text": "un deux"})
    line, *shown = _format(answer, looked, as_json=False).decode().split("\n")
    assert line == "one two"
    assert "deux" in shown[0]
    assert "un" in shown[1]
    assert shown[2:] == ["", ""]  # a blank line, and the end
    record = json.loads(_format(answer, looked, as_json=True))
    assert record["text"] == "un deux"
    assert record["attention"]["weights"] == [[0.25, 0.75], [1.0, 0.0]]


def asked(as_json=False):
    return SimpleNamespace(as_json=as_json)


def test_a_table_is_written_as_its_name_says_or_as_it_was_read(tmp_path, monkeypatch):
    assert written_format("csv", None, asked()) == "csv"
    assert written_format("folder", None, asked()) == "csv"
    assert written_format("csv", tmp_path / "a.xlsx", asked()) == "xlsx"
    assert written_format("csv", tmp_path / "a.unknown", asked()) == "csv"
    assert written_format("parquet", None, asked()) == "parquet"
    for out in (None, tmp_path / "a.jsonl", tmp_path / "a.unknown"):
        assert written_format("csv", out, asked(as_json=True)) == "jsonl"
    with pytest.raises(ConfigError, match=r"^--json writes JSON lines, not csv: leave one of them out$"):
        written_format("csv", tmp_path / "a.csv", asked(as_json=True))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert written_format("csv", None, asked()) == "csv"
    assert written_format("csv", tmp_path / "a.xlsx", asked()) == "xlsx"
    for binary in ("parquet", "xlsx"):
        with pytest.raises(ConfigError, match=rf"^the answers are {binary}, which is not for a terminal"):
            written_format(binary, None, asked())


def test_cells_have_the_names_of_their_columns_and_are_empty_without_an_answer():
    names = {"label": "label_predicted", "confidence": "confidence"}
    answer = Answer("NUM", {"text": "how", "label": "NUM", "all": [1]}, cells=("NUM", 0.5))
    assert answer_cells(names, answer) == {"label_predicted": "NUM", "confidence": 0.5}
    assert answer_cells(names, None) == {"label_predicted": None, "confidence": None}
    cells = record_cells(PAIRS, names, {"label"})
    both = answer._replace(record=answer.record | {"first": "a", "second": "b"})
    assert cells(both) == {"label_predicted": "NUM", "all": [1]}
    assert cells(None) == {"label_predicted": None, "confidence": None}


def table(columns=("id", "text"), notes=()):
    return Table("mails.csv", columns, (), notes=notes)


def test_a_summary_says_what_was_read_and_what_has_no_answer():
    names = {"label": "label", "confidence": "confidence"}
    assert summary(table(), {"text": 1}, 1, 0, names) == 'answered 1 row of mails.csv: text = "text"'
    said = summary(table(notes=("latin-1", "tabs")), {"text": 1}, 1234, 1, names)
    assert (
        said
        == 'answered 1,234 rows of mails.csv (latin-1, tabs): text = "text", 1 row without text has no answer'
    )
    said = summary(table(columns=None), {"text": 1}, 3, 2, names | {"label": "label_predicted"})
    assert said == (
        "answered 3 rows of mails.csv: text = column 2, no header, so the first row is answered, too, 2 rows "
        'without text have no answer, the table has a column "label", so the answer is in "label_predicted"'
    )
