"""Texts that say the same: equal but for case, blanks, punctuation and numbers, or but for a few words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from elman.text.minhash import find_near_duplicates

# A word, or one sign of a script that sets no blanks between words.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_NUMBER = re.compile(r"\b\d+(?: \d+)*")  # not of a name, such as b12. 1,250.00 is one, when its signs are gone
_WORDS_AROUND_A_NUMBER = 5  # with fewer it may be all that a text says: "12 + 30", "the year 1066"


def normal_form(text: str) -> str:
    """What two texts have in common that differ in case, blanks, punctuation or the numbers in a sentence."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    words = _WORD.findall(text.casefold())
    form = " ".join(words)
    if _NUMBER.search(form) and sum(not word.isdecimal() for word in words) >= _WORDS_AROUND_A_NUMBER:
        form = _NUMBER.sub("0", form)
    return form or text.strip()


def group_duplicates(texts: Iterable[str]) -> list[int]:
    """For each text the number of its group: those with its `normal_form`, and those nearly like it.

    Groups are numbered from 0 as they begin. The time is linear in the words of all texts.
    """
    numbers: dict[str, int] = {}
    forms = [numbers.setdefault(normal_form(text), len(numbers)) for text in texts]
    roots = list(range(len(numbers)))
    for later, earlier in find_near_duplicates(list(numbers)):
        one, other = _root(roots, later), _root(roots, earlier)
        roots[max(one, other)] = min(one, other)
    groups: dict[int, int] = {}
    return [groups.setdefault(_root(roots, form), len(groups)) for form in forms]


def _root(roots: list[int], number: int) -> int:
    """The first of the group that a number is in; what is passed on the way points nearer to it."""
    while roots[number] != number:
        roots[number] = roots[roots[number]]
        number = roots[number]
    return number
