"""What was read, in one line and as a value."""

from __future__ import annotations

import logging
from pathlib import Path

from elman.text.tables import TableReport, amend_report, collect_reports, read_rows


def test_the_line_of_a_report_is_that_of_the_issue():
    columns = {"text": '"Text"', "label": '"Category"'}
    report = TableReport("a.csv", 5452, columns, labels=6, skipped={"without text": 3}, duplicates=41)
    assert str(report) == (
        'read 5,452 rows from a.csv: text = "Text", label = "Category" (6 labels), '
        "3 rows without text skipped, 41 duplicates kept together"
    )


def test_reports_are_collected_and_amended_where_somebody_asks_and_logged_elsewhere(tmp_path: Path, caplog):
    path = tmp_path / "a.csv"
    path.write_text("Text;Kategorie\na;x\n")
    said = f'read 1 row from {path} (delimiter ";"): text = "Text", label = "Kategorie"'
    with caplog.at_level(logging.INFO, "elman"):
        with collect_reports() as reports:
            list(read_rows(path))
            amend_report(0, duplicates=2)
        assert not caplog.messages
        list(read_rows(path))
    assert [str(report) for report in reports] == [f"{said}, 2 duplicates kept together"]
    assert caplog.messages == [said]
