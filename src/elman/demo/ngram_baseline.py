"""What was used before neural networks: counted characters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS = 7  # of a character: with 9 of them side by side in 64 bits


class CharacterNGramModel:
    """p(c | the n - 1 characters before), each order mixed with the shorter ones by Witten and Bell.

    p_n(c | h) = (N(h c) + T(h) p_{n-1}(c | h')) / (N(h) + T(h)), where h' is h without its first character,
    N counts, and T(h) is how many different characters were seen after h. p_0 is the same for all.
    """

    def __init__(self, text: str, order: int = 6) -> None:
        if not 1 <= order <= 9:
            raise ValueError(f"order is {order}; it must be from 1 to 9")
        self.order = order
        codes = self._codes(text)
        self.tables = [self._count(codes, n) for n in range(1, order + 1)]

    def bits_per_character(self, text: str) -> float:
        """-log2 p of a text, a character."""
        codes = self._codes(text)
        p = np.full(len(text), 1 / 2**_BITS)
        for n, (grams, counts, histories, totals, kinds) in enumerate(self.tables, start=1):
            asked = _windows(codes, n, self.order)
            seen = _look_up(grams, counts, asked)
            total = _look_up(histories, totals, asked >> _BITS)
            kind = _look_up(histories, kinds, asked >> _BITS)
            known = total > 0
            p[known] = ((seen + kind * p) / np.maximum(total + kind, 1))[known]
        return float(-np.log2(p).mean())

    def _codes(self, text: str) -> NDArray[np.int64]:
        """Characters as numbers, line ends before the first; what is not ASCII is one character."""
        codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int64)
        return np.concatenate([np.full(self.order - 1, ord("\n"), np.int64), codes])

    def _count(self, codes: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], ...]:
        grams, counts = np.unique(_windows(codes, n, self.order), return_counts=True)
        histories, first = np.unique(grams >> _BITS, return_index=True)
        totals = np.add.reduceat(counts, first)
        kinds = np.diff(np.append(first, len(grams)))
        return grams, counts, histories, totals, kinds


def _windows(codes: NDArray[np.int64], n: int, order: int) -> NDArray[np.int64]:
    """Each character with the n - 1 before it, as one number."""
    last = len(codes) - order + 1
    packed = np.zeros(last, np.int64)
    for back in range(n - 1, -1, -1):
        packed = (packed << _BITS) | codes[order - 1 - back : order - 1 - back + last]
    return packed


def _look_up(keys: NDArray[np.int64], values: NDArray[np.int64], asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values of the keys asked for; 0 where there is none."""
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, values[place], 0)
