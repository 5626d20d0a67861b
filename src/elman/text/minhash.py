"""Nearly equal texts, found in linear time by MinHash (Broder 1997) and locality-sensitive hashing.

The share of equal minima of two sets under a random hash function is their Jaccard similarity s. Four minima
are a band; texts that agree in one of five bands are candidates, with probability 1 - (1 - s⁴)⁵: 0.93 at
s = 0.8, 0.995 at 0.9. Each candidate is compared with the first text of its band only, so that a text costs at
most five comparisons, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

SIMILARITY = 0.8  # of the sets of word pairs; one other word in twenty is about that
LEAST_WORDS = 10  # in shorter texts another word is another text
MOST_WORDS = 256  # of longer texts the beginning is compared
_BANDS, _ROWS = 5, 4
_CHUNK = 1 << 20  # words hashed at once

UInts = NDArray[np.uint64]

_draw = np.random.default_rng(0).integers
_MULTIPLIERS: UInts = _draw(1 << 62, size=_BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def find_near_duplicates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Numbers (i, j) of texts, words apart by blanks, that share `SIMILARITY` of their word pairs; j < i."""
    numbers = [i for i, text in enumerate(texts) if text.count(" ") + 1 >= LEAST_WORDS]
    if len(numbers) < 2:
        return
    bands = np.concatenate([*_band_hashes(texts[i] for i in numbers)])
    met: set[tuple[int, int]] = set()
    for band in bands.T:
        _, first, inverse = np.unique(band, return_index=True, return_inverse=True)
        firsts = first[inverse]
        for i in np.flatnonzero(firsts != np.arange(len(firsts))).tolist():
            pair = numbers[i], numbers[int(firsts[i])]
            if pair not in met and _similarity(texts[pair[0]], texts[pair[1]]) >= SIMILARITY:
                met.add(pair)
                yield pair


def _band_hashes(texts: Iterator[str]) -> Iterator[UInts]:
    """Of some texts at a time, one hash for each band (texts, bands)."""
    ids: dict[str, int] = {}
    rows: list[list[int]] = []
    size = 0
    for text in texts:
        rows.append([ids.setdefault(word, len(ids) + 1) for word in _words(text)])
        size += len(rows[-1])
        if size >= _CHUNK:
            yield _hash_bands(rows)
            rows, size = [], 0
    if rows:
        yield _hash_bands(rows)


def _hash_bands(rows: list[list[int]]) -> UInts:
    lengths = np.array([len(row) for row in rows])
    ends = np.cumsum(lengths)
    words = np.fromiter(chain.from_iterable(rows), np.uint64, int(ends[-1]))
    pairs = _mix(_mix(words) + np.roll(words, -1))
    pairs = np.delete(pairs, ends - 1)  # no pair of one text's last word and the next one's first
    starts = ends - lengths - np.arange(len(rows))
    minima = np.stack([np.minimum.reduceat(pairs * m, starts) for m in _MULTIPLIERS], axis=1)
    bands: UInts = np.zeros((len(rows), _BANDS), np.uint64)
    for row in range(_ROWS):
        bands = _mix(bands + minima[:, row * _BANDS : (row + 1) * _BANDS])
    return bands


def _mix(values: UInts) -> UInts:
    """Numbers spread over 64 bits (the finaliser of SplitMix64)."""
    values = (values + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _similarity(one: str, other: str) -> float:
    """The share of word pairs that two texts have in common, of all that either has."""
    a, b = (set(pairwise(_words(text))) for text in (one, other))
    return len(a & b) / len(a | b)


def _words(text: str) -> list[str]:
    return text.split(" ", MOST_WORDS)[:MOST_WORDS]
