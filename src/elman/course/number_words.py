"""Numbers in English and in German words: a small translation task with a rule that words change places.

German says the ones before the tens, with "und" between: forty seven is sieben und vierzig.
"""

from __future__ import annotations

from typing import NamedTuple

from elman.errors import check_option

LARGEST = 999_999


class NumberWords(NamedTuple):
    """The words of a language for numbers."""

    small: tuple[str, ...]  # 0 … 19
    tens: tuple[str, ...]  # 20, 30, … 90
    hundred: str
    thousand: str


ENGLISH = NumberWords(
    (
        *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
        *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    ),
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    "hundred",
    "thousand",
)
GERMAN = NumberWords(
    (
        *("null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf"),
        *("zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"),
    ),
    ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"),
    "hundert",
    "tausend",
)


def english_number(number: int) -> str:
    """``347`` is three hundred forty seven."""
    return " ".join(_count(number, ENGLISH))


def german_number(number: int) -> str:
    """``347`` is drei hundert sieben und vierzig: in parts, which German writes without blanks."""
    words = _count(number, GERMAN)
    return " ".join([*words[:-1], "eins"] if words[-1] == "ein" else words)


def _count(number: int, language: NumberWords) -> list[str]:
    check_option("the number", number, 0 <= number <= LARGEST, f"from 0 to {LARGEST:,}")
    thousands, rest = divmod(number, 1000)
    if thousands:
        return [*_count(thousands, language), language.thousand, *(_count(rest, language) if rest else ())]
    hundreds, rest = divmod(number, 100)
    if hundreds:
        tail = _below_hundred(rest, language) if rest else []
        return [language.small[hundreds], language.hundred, *tail]
    return _below_hundred(rest, language)


def _below_hundred(number: int, language: NumberWords) -> list[str]:
    if number < 20:
        return [language.small[number]]
    tens, ones = language.tens[number // 10 - 2], number % 10
    if not ones:
        return [tens]
    return [language.small[ones], "und", tens] if language is GERMAN else [tens, language.small[ones]]
