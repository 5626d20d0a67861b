"""Pieces of words by their likelihood: the unigram model of Kudo (2018), learnt by EM.

Each round estimates how often every piece is used, and from that p(piece); then it drops the pieces that are
missed the least. All sums are taken in one fixed order: the same words give the same pieces, bit for bit.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_CHARACTERS = 1_000_000  # of different words, the most frequent ones first
LONGEST = 16  # characters of a piece
_SEEDS = 20  # candidates for each piece that is asked for
_KEPT = 0.75  # of the pieces, in each round


def learn_pieces(words: Mapping[str, int], size: int) -> list[tuple[str, float]]:
    """At most ``size`` pieces with log p, the likeliest first; all characters are among them."""
    if not words:
        return []
    ranked = _most_frequent(words)
    scores = _find_candidates(ranked, max(_SEEDS * size, 10_000))
    pieces = [*scores]
    kinds = {piece: i for i, piece in enumerate(pieces)}
    texts = _Lattice.build([word for word, _ in ranked], kinds, whole=True)
    within = _Lattice.build(pieces, kinds, whole=False)
    counts = np.array([count for _, count in ranked], np.float64)
    single = np.array([len(piece) == 1 for piece in pieces])
    alive, covered = np.ones(len(pieces), bool), np.array([*scores.values()], np.float64)
    log_p = np.log(covered) - np.log(covered.sum())
    enough = max(int(1.1 * size), int(single.sum()))
    while True:
        for _ in range(2):
            uses = texts.count_uses(log_p, counts)
            alive &= single | (uses >= 0.5)
            log_p = _estimate(uses, alive)
        if alive.sum() <= enough:
            break
        with np.errstate(invalid="ignore"):  # of characters, which stay, and of pieces that are gone
            loss = np.where(alive, uses * (log_p - within.best(log_p)), -np.inf)
        alive = _keep(loss, single, max(enough, int(_KEPT * alive.sum())))
        log_p = np.where(alive, log_p, -np.inf)
    chosen = np.flatnonzero(_keep(np.where(alive, log_p, -np.inf), single, size) & alive)
    return sorted(((pieces[i], float(log_p[i])) for i in chosen), key=lambda item: (-item[1], item[0]))


def _most_frequent(words: Mapping[str, int]) -> list[tuple[str, int]]:
    """The words that are learnt from, at least one, and how often they occur."""
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    until = np.searchsorted(np.cumsum([len(word) for word, _ in ranked]), MOST_CHARACTERS)
    return ranked[: int(until) + 1]


def _find_candidates(words: Sequence[tuple[str, int]], most: int) -> dict[str, int]:
    """All characters, and the longer pieces that occur twice and cover the most text: how much each covers."""
    found: Counter[str] = Counter()
    for word, count in words:
        for start in range(len(word)):
            for end in range(start + 1, min(start + LONGEST, len(word)) + 1):
                found[word[start:end]] += count
    longer = [piece for piece, count in found.items() if len(piece) > 1 and count > 1]
    longer.sort(key=lambda piece: (-found[piece] * len(piece), piece))
    singles = sorted(piece for piece in found if len(piece) == 1)
    return {piece: found[piece] * len(piece) for piece in singles + longer[:most]}


def _estimate(uses: Floats, alive: npt.NDArray[np.bool_]) -> Floats:
    """log p by the digamma function, which leaves rare pieces less than their share (as SentencePiece does)."""
    safe = np.where(alive, np.maximum(uses, 1e-3), 1.0)
    return np.where(alive, _digamma(safe) - _digamma(np.array([safe[alive].sum()])), -np.inf)


def _digamma(x: Floats) -> Floats:
    result, x = np.zeros_like(x), x.copy()
    for _ in range(7):
        small = x < 7
        result[small] -= 1 / x[small]
        x[small] += 1
    square = 1 / (x * x)
    return result + np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


def _keep(values: Floats, single: npt.NDArray[np.bool_], size: int) -> npt.NDArray[np.bool_]:
    """The pieces with the largest values, and all characters; of equal ones the first."""
    order = np.argsort(np.where(single, np.inf, values) * -1.0, kind="stable")
    kept = np.zeros(len(values), bool)
    kept[order[: max(size, int(single.sum()))]] = True
    return kept


@dataclass(frozen=True)
class _Lattice:
    """Every way to write texts with pieces: edges from place to place, sorted by the length of what is before.

    Places are numbered through all texts; edges of a level end after as many characters, so that a level of all
    texts is computed at once.
    """

    levels: list[tuple[Ints, Ints, Ints, Ints]]  # starts, ends, pieces, where a new end begins
    starts: Ints  # the first place of each text
    ends: Ints  # and the last
    places: int

    @classmethod
    def build(cls, texts: Sequence[str], kinds: Mapping[str, int], *, whole: bool) -> _Lattice:
        """The lattice of texts; ``whole``: a text may be one piece itself."""
        levels: dict[int, tuple[array[int], array[int], array[int]]] = {}
        starts, ends, at = [], [], 0
        for text in texts:
            starts.append(at)
            for end in range(1, len(text) + 1):
                for start in range(max(0, end - LONGEST), end):
                    kind = kinds.get(text[start:end])
                    if kind is not None and (whole or end - start < len(text)):
                        level = levels.get(end) or levels.setdefault(end, (array("q"), array("q"), array("q")))
                        for column, value in zip(level, (at + start, at + end, kind), strict=True):
                            column.append(value)
            at += len(text) + 1
            ends.append(at - 1)
        columns = []
        for _, level in sorted(levels.items()):
            before, after, used = (np.array(column, np.int64) for column in level)
            columns.append((before, after, used, np.flatnonzero(np.diff(after, prepend=-1))))
        return cls(columns, np.array(starts, np.int64), np.array(ends, np.int64), at)

    def best(self, log_p: Floats) -> Floats:
        """log p of the best way to write each text."""
        score = np.full(self.places, -np.inf)
        score[self.starts] = 0.0
        for start, end, kind, first in self.levels:
            score[end[first]] = np.maximum.reduceat(score[start] + log_p[kind], first)
        return score[self.ends]

    def count_uses(self, log_p: Floats, counts: Floats) -> Floats:
        """How often each piece is expected in texts that occur so often, by the forward-backward algorithm."""
        forward, backward = (np.full(self.places, -np.inf) for _ in range(2))
        forward[self.starts], backward[self.ends] = 0.0, np.log(counts)
        for start, end, kind, first in self.levels:
            forward[end[first]] = _log_add(forward[start] + log_p[kind], first)
        total = forward[self.ends]
        backward[self.ends] -= total
        uses = np.zeros(len(log_p))
        for start, end, kind, _ in reversed(self.levels):
            edge = log_p[kind] + backward[end]
            order = np.argsort(start, kind="stable")
            begin, first = start[order], np.flatnonzero(np.diff(start[order], prepend=-1))
            backward[begin[first]] = np.logaddexp(backward[begin[first]], _log_add(edge[order], first))
            uses += np.bincount(kind, np.exp(forward[start] + edge), len(log_p))
        return uses


def _log_add(values: Floats, first: Ints) -> Floats:
    """log Σ exp over the runs that begin at ``first``."""
    high = np.maximum.reduceat(values, first)
    safe = np.where(np.isfinite(high), high, 0.0)
    lengths = np.diff(np.append(first, len(values)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.add.reduceat(np.exp(values - np.repeat(safe, lengths)), first)) + safe)
