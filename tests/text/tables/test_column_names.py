"""Which column is which, and whether a first row is a header."""

from __future__ import annotations

from pathlib import Path

import pytest

from elman.errors import ConfigError, DataError
from elman.text.tables import SYNONYMS, Table, find_columns, read_rows
from elman.text.tables.column_names import is_header

TEXT_LABEL = {"text": "text", "label": "label"}


def table(*columns: str) -> Table:
    return Table("a.csv", columns, ())


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("label", "text"), (1, 0)),
        (("Label", "TEXT", "id"), (1, 0)),
        (("Text", "Category"), (0, 1)),
        (("id", "Review", "Rating"), (1, 2)),
        (("text", "sentence", "label", "target"), (0, 2)),  # the exact name, whatever else there is
        (("Text", "text", "label"), (1, 2)),
        (("tweet_text", "Gold Label"), (0, 1)),
    ],
)
def test_columns_are_found_by_name_then_without_case_then_by_what_people_call_them(columns, found):
    assert find_columns(table(*columns), TEXT_LABEL) == found


def test_every_synonym_is_found_for_its_role():
    for role, names in SYNONYMS.items():
        for name in names:
            assert find_columns(table("id", name.upper()), {role: role}) == (1,)


@pytest.mark.parametrize(
    ("columns", "wanted", "message"),
    [
        (("title", "body", "label"), TEXT_LABEL, "the text may be in 'title', 'body'; say which with --text"),
        (("text", "colour"), TEXT_LABEL, "no column 'label'; there are 'text', 'colour'"),
        (("text", "Text", "label"), {"text": "TEXT", "label": "label"}, "no column 'TEXT'"),
        (("title", "label"), {"text": "body", "label": "label"}, "no column 'body'"),
        (("text", "label"), {"text": "3", "label": "label"}, "there is no column 3, the row has 2"),
        (("id", "target"), {"label": "label", "second": "second"}, "'target' may be label or second"),
    ],
)
def test_what_is_not_there_or_not_clear_is_refused_with_what_there_is(columns, wanted, message):
    with pytest.raises(DataError, match=message):
        find_columns(table(*columns), wanted)


def test_a_chosen_column_is_found_without_regard_to_case_and_may_be_a_number():
    assert find_columns(table("Title", "Body", "Folder"), {"text": "body", "label": "3"}) == (1, 2)


@pytest.mark.parametrize(
    ("cells", "wanted", "header"),
    [
        (("Text", "Category"), TEXT_LABEL, True),
        (("text", "colour"), TEXT_LABEL, True),  # what is missing is then said
        (("title", "news"), TEXT_LABEL, False),
        (("good", "pos"), TEXT_LABEL, False),
        (("good", "pos"), {"text": "body", "label": "label"}, True),
        (("12", "review", "rating"), TEXT_LABEL, False),  # no number is a name
        (("Text", "Category"), {"text": "1", "label": "2"}, True),
        (("Text", "Category"), {"text": "2", "label": "1"}, False),
        (("good", "2"), {"1": "1", "2": "2"}, False),
        (("Nr.", "Text", "Abteilung"), {"text": "text", "label": "3"}, True),
        (("good", "pos"), {"text": "text", "label": "2"}, False),
    ],
)
def test_a_header_is_told_from_a_row(cells, wanted, header):
    assert is_header(cells, wanted) == header


def test_the_header_of_the_issue_is_no_example(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("Text,Category\ngood,pos\nbad,neg\n")
    assert [row for _, row in read_rows(path)] == [("good", "pos"), ("bad", "neg")]
    by_number = {"text": "1", "label": "2"}
    assert [row for _, row in read_rows(path, by_number)] == [("good", "pos"), ("bad", "neg")]


def test_names_and_numbers_do_not_mix_without_a_header(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("good,pos\n")
    with pytest.raises(ConfigError, match="give either names or numbers"):
        list(read_rows(path, {"text": "text", "label": "2"}))
