"""Capitals and punctuation as tags of lower-cased words, and back.

A tag is ``x`` for a word in small letters, ``X`` for a capital, ``XX`` for capitals only, and then the mark
that follows the word, if any: "Yes, NASA did." is yes/X, nasa/XX did/x. with the last full stop in its tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WORD = re.compile(r"([A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*)([.,;:?!]?)")
PLAIN = "x"
"""The tag of a word that stays as it is."""


class Passage(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[str, ...]


def passage(text: str) -> Passage | None:
    """The words of a text and their tags; None where they could not be put together again."""
    words, tags = [], []
    for piece in text.split():
        found = _WORD.fullmatch(piece)
        if found is None:
            return None
        word, mark = found.groups()
        words.append(word.lower())
        tags.append(_case(word) + mark)
    made = Passage(tuple(words), tuple(tags))
    return made if restored(made) == " ".join(text.split()) else None  # iPhone: no tag says so


def _case(word: str) -> str:
    if word == word.lower():
        return PLAIN
    return "XX" if word == word.upper() and len(word) > 1 else "X"


def restored(passage: Passage) -> str:
    """The text with its capitals and marks."""
    pieces = []
    for word, tag in zip(passage.words, passage.tags, strict=True):
        case = tag.rstrip(".,;:?!")
        cased = {"x": word, "X": word[:1].upper() + word[1:], "XX": word.upper()}[case]
        pieces.append(cased + tag[len(case) :])
    return " ".join(pieces)


def bare(text: str) -> list[str]:
    """The words of any text in small letters, without marks."""
    words = (piece.strip(".,;:?!()\"'").lower() for piece in text.split())
    return [word for word in words if word]


def passages(sentences: Mapping[str, Sequence[str]], together: int = 3) -> dict[str, list[Passage]]:
    """Sentences of a file that stand near each other, so many in a passage, under the file's name."""
    found: dict[str, list[Passage]] = {}
    for name, some in sentences.items():
        fitting = [sentence for sentence in some if passage(sentence)]
        joined = (
            passage(" ".join(fitting[i : i + together])) for i in range(0, len(fitting), together)
        )
        if made := [one for one in joined if one]:
            found[name] = made
    return found
