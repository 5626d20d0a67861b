"""The usual features of a word for a linear model: itself, its spelling, its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]

_AROUND = 2  # words on each side
_TYPES = 2**24  # words, the most that can differ
_KIND = _TYPES**2  # the keys of one kind of feature are below its next multiple
# The place of a word, and which form: itself, its shape, suffixes of 1 to 4 letters, prefixes of 1 to 3.
_SINGLE = [
    *((0, form) for form in range(9)),
    *((offset, form) for offset in (-1, 1) for form in (0, 1, 4)),
    *((-2, 0), (2, 0)),
]
_PAIRS = [(-1, 0), (0, 1)]  # of words side by side


def extract_features(sentences: Iterable[Sequence[str]], inputs: Iterable[Sequence[Sequence[str]]]) -> Keys:
    """A row of keys for each word of all sentences; ``inputs`` has the further columns of each sentence."""
    flat, places = _lay_out(sentences)
    forms = _number_forms(flat)
    at = {o: forms[places + o] for o in range(-_AROUND, _AROUND + 1)}
    found = [at[offset][:, form] for offset, form in _SINGLE]
    found += [at[left][:, 0] * _TYPES + at[right][:, 0] for left, right in _PAIRS]
    columns = [[*map(list, column)] for column in zip(*inputs, strict=True)]
    for column in columns:
        values, _ = _lay_out(column)
        numbers = _number_forms(values)[:, 0]
        found += [numbers[places + o] for o in (-1, 0, 1)]
    return np.stack([kind * _KIND + values for kind, values in enumerate(found)], 1)


def _lay_out(sentences: Iterable[Sequence[str]]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """All words, with empty ones around each sentence, and where those of the sentences are."""
    border = [""] * _AROUND
    flat, places = border.copy(), []
    for sentence in sentences:
        places.append(np.arange(len(flat), len(flat) + len(sentence)))
        flat += [*sentence, *border]
    return flat, np.concatenate(places)


def _number_forms(words: Sequence[str]) -> npt.NDArray[np.int64]:
    """For each word the numbers of its forms; 0 is that of an empty one."""
    known: dict[str, npt.NDArray[np.int64]] = {}
    numbers: list[dict[str, int]] = [{"": 0} for _ in range(9)]
    for word in dict.fromkeys(words):
        forms = zip(numbers, _list_forms(word), strict=True)
        known[word] = np.array([number.setdefault(form, len(number)) for number, form in forms])
    return np.stack([known[word] for word in words])


def _list_forms(word: str) -> list[str]:
    lower = word.lower()
    ends = [lower[-n:] for n in range(1, 5)] + [lower[:n] for n in range(1, 4)]
    return [lower, _shape(word), *ends]


def _shape(word: str) -> str:
    """Capitals as X, letters as x, digits as 0, runs of more than two cut short: ``Xxx``, ``00-00``."""
    shape = ""
    for sign in word:
        kind = "0" if sign.isdigit() else "X" if sign.isupper() else "x" if sign.isalpha() else sign
        shape += "" if shape.endswith(kind * 2) else kind
    return shape
