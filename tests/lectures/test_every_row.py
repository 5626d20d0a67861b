"""docs/lectures.md and tests/lectures speak of the same rows."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "lectures.md"
TESTS = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_rows_*.py")))
NAMES = set(re.findall(r"^def (test_row_\d+_\w+)\(", TESTS, re.MULTILINE))


def sections() -> dict[int, str]:
    """The text under each ``### Row N: …``."""
    parts = re.split(r"^### Row (\d+)\b", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


def number(name: str) -> int:
    return int(name.split("_")[2])


def test_all_68_rows_of_the_lectures_are_on_the_page_and_have_a_test():
    assert set(sections()) == {number(name) for name in NAMES} == set(range(1, 69))


def test_no_row_appears_twice():
    rows = re.findall(r"^### Row (\d+)\b", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows))


def test_every_row_names_its_tests():
    for row, text in sections().items():
        named = set(re.findall(r"`(test_row_\w+)`", text))
        assert named == {name for name in NAMES if number(name) == row}, f"row {row}"


def test_every_row_has_an_example():
    for row, text in sections().items():
        assert "```python" in text, f"row {row}"
