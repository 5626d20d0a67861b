"""Files as people have them, by the command: what is said and refused, and that nothing is silently wrong."""

import csv
import io
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from elman.cli import main

TINY = ["--hidden", "4", "--epochs", "1", "--out", "m"]
ROWS = [(f"schön {i}" if i % 2 else f"übel {i}", "gut" if i % 2 else "schlecht") for i in range(40)]


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def elman(tmp_path, monkeypatch, capsys):
    def call(*arguments: str) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["elman", *arguments])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        return Done(code, *capsys.readouterr())

    return call


def write(path: Path, header: tuple[str, str], rows: list[tuple[str, str]], **options: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=options.get("delimiter", ",")).writerows([header, *rows])
    path.write_bytes(buffer.getvalue().encode(options.get("encoding", "utf-8")))


def test_a_header_of_other_names_is_no_example_and_makes_no_label(elman, tmp_path):
    write(tmp_path / "a.csv", ("Text", "Category"), ROWS)
    done = elman("train", "classifier", "--train", "a.csv", *TINY)
    assert done.code == 0
    said = 'read 40 rows from a.csv: text = "Text", label = "Category" (2 labels)'
    assert done.err.splitlines()[0] == said


def test_a_german_excel_export_trains_and_is_scored_without_an_option(elman, tmp_path):
    write(tmp_path / "a.csv", ("Text", "Kategorie"), ROWS, delimiter=";", encoding="cp1252")
    said = 'from a.csv (delimiter ";", encoding cp1252): text = "Text", label = "Kategorie" (2 labels)'
    assert said in elman("train", "classifier", "--train", "a.csv", *TINY).err
    done = elman("evaluate", "m", "a.csv")
    assert (done.code, said in done.err, "examples 40" in done.out) == (0, True, True)


def test_an_excel_file_that_is_none_gets_no_advice_on_encodings(elman, tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 broken")
    done = elman("train", "classifier", "--train", "a.xlsx", *TINY)
    assert done.code == 1
    assert done.err.startswith("elman: a.xlsx: cannot be read as an Excel file")


def test_empty_cells_are_refused_with_their_number_and_skipped_when_asked(elman, tmp_path):
    rows = [("" if i in (5, 7) else text, label) for i, (text, label) in enumerate(ROWS)]
    write(tmp_path / "a.csv", ("text", "label"), rows)
    command = ["train", "classifier", "--train", "a.csv", *TINY]
    done = elman(*command)
    assert done.code == 1
    assert done.err == (
        "elman: a.csv:7: column 'text' is empty; a.csv:9: column 'text' is empty "
        "(2 bad rows of 40; mend them, or skip them with --skip-bad)\n"
    )
    done = elman(*command, "--skip-bad")
    assert done.code == 0
    assert "read 38 rows from a.csv" in done.err
    assert "2 rows without text skipped" in done.err
    assert elman("evaluate", "m", "a.csv", "--skip-bad").code == 0
