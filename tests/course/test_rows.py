"""The twelve notebooks cover the 68 rows of the lectures, each where it says so."""

import re
from pathlib import Path

import pytest

from elman.course.exercise import NOTEBOOKS

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "course/source").glob("*.py"))
NUMBERS = r"\d+(?:–\d+)?(?:(?:, | and )\d+(?:–\d+)?)*"


def numbers(text: str) -> set[int]:
    """``1–3, 7`` as a set."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:–(\d+))?", text):
        found.update(range(int(first), int(last or first) + 1))
    return found


def promised_rows(source: Path) -> set[int]:
    """What the opening of a notebook says that it covers."""
    line = re.search(rf"^# Rows of the lectures: ({NUMBERS})\.$", source.read_text(), re.MULTILINE)
    assert line, f"{source.name} does not say which rows it covers"
    return numbers(line[1])


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_row_that_a_notebook_promises_is_named_where_it_is_taught(source: Path) -> None:
    text = re.sub(r"\n# ?", " ", source.read_text())
    taught = set().union(*(numbers(found) for found in re.findall(rf"\brows? ({NUMBERS})", text)))
    assert promised_rows(source) <= taught


def test_the_notebooks_cover_all_rows_of_the_lectures() -> None:
    described = set(map(int, re.findall(r"^### Row (\d+)", (ROOT / "docs/lectures.md").read_text(), re.M)))
    assert [source.name[:2] for source in SOURCES] == list(NOTEBOOKS)
    assert described == set(range(1, 69))
    assert set().union(*map(promised_rows, SOURCES)) == described


def test_the_table_of_the_course_lists_every_notebook_with_its_rows() -> None:
    table = (ROOT / "course/README.md").read_text()
    listed = re.findall(
        r"^\| \[\d\d · .*?\]\((\d\d-[\w-]+)\.ipynb\) \|.*\| ([\d–, ]+) \|$", table, re.MULTILINE
    )
    assert [(stem, numbers(rows)) for stem, rows in listed] == [(s.stem, promised_rows(s)) for s in SOURCES]
