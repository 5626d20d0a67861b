"""Ten files as people have them: from the file to a table with answers in two commands each."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from elman.cli import main

for package in ("openpyxl", "pyarrow"):
    pytest.importorskip(package, reason=f'{package} is not installed: pip install "elman[tables]"')

from tests.cli.file_shapes import (  # noqa: E402
    GERMAN,
    LABELS,
    ROWS,
    WORDS,
    Sheet,
    conll,
    doccano,
    german_csv,
    german_excel,
    headless,
    hugging_face,
    json_array,
    kaggle,
    label_studio,
    mails,
    read_csv,
    read_excel,
    read_json_lines,
    read_parquet,
    several_labels,
    tickets,
)

QUICK = ["--hidden", "4", "--epochs", "1", "--out", "m"]


class Case(NamedTuple):
    """A file, the two commands, how its answers are read, and which columns are new."""

    write: Callable[[Path], Sheet]
    file: str
    train: str
    read: Callable[[Path], Sheet]
    out: str
    added: list[str]


LABEL = ["label", "confidence"]
TAKEN = ["label_predicted", "confidence"]  # where the table has a column "label"
CASES = {
    "an Excel export": Case(german_excel, "a.xlsx", "classifier", read_excel, "b.xlsx", LABEL),
    "a German CSV": Case(
        german_csv, "a.csv", "classifier", lambda path: read_csv(path, **GERMAN), "b.csv", LABEL
    ),
    "a CSV of Kaggle": Case(kaggle, "a.csv", "classifier", read_csv, "b.csv", LABEL),
    "Label Studio": Case(label_studio, "a.json", "classifier", read_json_lines, "b.jsonl", LABEL),
    "Doccano": Case(doccano, "a.jsonl", "tagger", read_json_lines, "b.jsonl", ["spans"]),
    "a folder of mails": Case(mails, "a", "classifier", read_csv, "b.csv", TAKEN),
    "Parquet of Hugging Face": Case(hugging_face, "a.parquet", "classifier", read_parquet, "b.parquet", TAKEN),
    "duplicates and empty cells": Case(
        tickets, "a.csv", "classifier --skip-bad --label topic", read_csv, "b.csv", LABEL
    ),
    "a JSON array": Case(json_array, "a.json", "classifier", read_json_lines, "b.jsonl", LABEL),
    "several labels in a cell": Case(
        several_labels, "a.csv", "classifier --multi --text plot --label genres", read_csv, "b.csv", LABEL
    ),
}


@pytest.fixture
def elman(tmp_path, monkeypatch, capsys):
    """The command in this process and in a folder of its own; it must do what it is told."""

    def call(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["elman", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        said = capsys.readouterr().err
        assert not code, said
        return said

    return call


@pytest.mark.parametrize("name", CASES)
def test_two_commands_lead_from_a_file_to_a_table_with_answers(name, elman, tmp_path):
    case = CASES[name]
    given = case.write(tmp_path)
    elman("train", *case.train.split(), "--train", case.file, *QUICK)
    elman("predict", "m", case.file, "--out", case.out)
    answers = case.read(tmp_path / case.out)
    assert answers.columns[-len(case.added) :] == case.added
    assert len(answers.rows) == len(given.rows)
    for before, after in zip(given.rows, answers.rows, strict=True):
        assert {column: after[column] for column in before} == before


def test_what_was_read_is_said_and_a_row_without_text_has_no_answer(elman, tmp_path):
    tickets(tmp_path)
    said = elman("train", "classifier", "--train", "a.csv", "--label", "topic", "--skip-bad", *QUICK)
    assert 'read 35 rows from a.csv: text = "body", label = "topic" (3 labels)' in said
    assert "1 row without text skipped, 6 duplicates kept together" in said
    elman("predict", "m", "a.csv", "--out", "b.csv")
    unanswered = [row for row in read_csv(tmp_path / "b.csv").rows if not row["label"]]
    assert [row["body"] for row in unanswered] == [""]


def test_a_gzipped_file_without_header_keeps_its_lines(elman, tmp_path):
    headless(tmp_path)
    elman("train", "classifier", "--train", "a.tsv.gz", "--text", "2", "--label", "1", *QUICK)
    elman("predict", "m", "a.tsv.gz", "--out", "b.tsv")
    lines = (tmp_path / "b.tsv").read_text().splitlines()
    assert [line.split("\t")[:2] for line in lines] == [[label, text] for text, label in ROWS]
    assert {line.split("\t")[2] for line in lines} <= set(LABELS)


def test_comments_and_documents_of_a_conll_file_stay_where_they_are(elman, tmp_path):
    given = conll(tmp_path).splitlines()
    elman("train", "tagger", "--train", "a.conll", *QUICK)
    elman("predict", "m", "a.conll", "--out", "b.conll")
    answers = (tmp_path / "b.conll").read_text().splitlines()
    assert [line.split()[:3] for line in answers] == [line.split()[:3] for line in given]
    tags = {line.split()[3] for line in answers if line.startswith("Anna ")}
    assert tags <= {"O", *(tag for _, tag in WORDS)}
