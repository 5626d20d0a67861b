"""Numbers in words, for the notebooks on translation."""

import pytest

from elman.course.number_words import LARGEST, english_number, german_number
from elman.errors import ElmanError


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (21, "twenty one", "ein und zwanzig"),
        (101, "one hundred one", "ein hundert eins"),
        (617, "six hundred seventeen", "sechs hundert siebzehn"),
        (
            347_060,
            "three hundred forty seven thousand sixty",
            "drei hundert sieben und vierzig tausend sechzig",
        ),
    ],
)
def test_numbers_are_said_as_people_say_them(number: int, english: str, german: str) -> None:
    assert (english_number(number), german_number(number)) == (english, german)


def test_no_two_numbers_are_said_alike() -> None:
    some = [*range(2000), *range(2000, LARGEST, 997)]
    assert len({english_number(n) for n in some}) == len({german_number(n) for n in some}) == len(some)


def test_a_number_that_is_too_large_is_refused() -> None:
    with pytest.raises(ElmanError, match="from 0 to 999,999"):
        german_number(LARGEST + 1)
