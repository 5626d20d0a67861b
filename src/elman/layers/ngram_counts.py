"""N-grams of a text, numbered, counted and discounted as Kneser-Ney smoothing wants them.

Those of order k are sorted by the number of their first k - 1 tokens, then by their last: h w has the key
``number(h) * vocabulary + w``, and its number is the place of that key among all of its order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elman.errors import ModelError

Numbers = NDArray[np.int64]
Reals = NDArray[np.floating[Any]]

# Of n-grams that were counted 0, 1, 2 and more times, where a text is too small to tell.
_USUAL_DISCOUNTS = np.array([0.0, 0.5, 1.0, 1.5])


class NGramLevel(NamedTuple):
    """All n-grams h w of one order."""

    keys: Numbers
    shares: Reals  # (c(h w) - D) / c(h)
    backoffs: Reals  # γ(h), of each n-gram of the order below: what the shares left over


class _Occurrences(NamedTuple):
    """The n-grams of one order, and which of them begins at each place of a text."""

    keys: Numbers
    numbers: Numbers


def count_ngrams(ids: NDArray[Any], vocabulary: int, order: int, first: int, least: int) -> list[NGramLevel]:
    """The n-grams of the orders 1 to ``order`` in a text before which ``first`` stands.

    Those of three tokens and more that occur less than ``least`` times are left out: what they had goes to the
    shorter ones. Orders of which none is left are left out, too.
    """
    if len(ids) * vocabulary >= 2**63:
        raise ModelError(f"{len(ids):,} tokens of {vocabulary:,} kinds are too many to count their n-grams")
    text = np.concatenate([np.full(order - 1, first), ids]).astype(np.int64)
    orders = [*_number(text, vocabulary, order)]
    counts = [_count_kinds_before(*two, order - 2 - i) for i, two in enumerate(pairwise(orders))]
    counts.append(np.bincount(orders[-1].numbers))
    levels, renumbered = [], np.zeros(1, np.int64)  # by the number that an n-gram of the order below had
    for k, (here, count) in enumerate(zip(orders, counts, strict=True), start=1):
        kept = np.bincount(here.numbers) >= (least if k > 2 else 1)
        if not kept.any():
            break
        contexts, tokens = np.divmod(here.keys, vocabulary)
        shares = _discount(contexts, count)[kept]
        contexts = renumbered[contexts[kept]]
        backoffs = 1.0 - np.bincount(contexts, shares, renumbered.max() + 1)
        levels.append(NGramLevel(contexts * vocabulary + tokens[kept], shares, backoffs))
        renumbered = np.cumsum(kept) - 1
    return levels


def _number(text: Numbers, vocabulary: int, order: int) -> Iterator[_Occurrences]:
    numbers = np.zeros(len(text) + 1, np.int64)  # of the empty n-gram, which begins everywhere
    for k in range(1, order + 1):
        keys, numbers = np.unique(numbers[:-1] * vocabulary + text[k - 1 :], return_inverse=True)
        yield _Occurrences(keys, numbers)


def _count_kinds_before(here: _Occurrences, longer: _Occurrences, begin: int) -> Numbers:
    """How many kinds of tokens stand before each n-gram: how many of the longer ones end in it.

    Those that begin before ``begin`` end before the text.
    """
    places = np.full(len(longer.keys), -1)  # where each of the longer ones begins for the first time
    places[longer.numbers[begin:][::-1]] = np.arange(begin, len(longer.numbers))[::-1]
    return np.bincount(here.numbers[places[places >= 0] + 1], minlength=len(here.keys))


def _discount(contexts: Numbers, counts: Numbers) -> Reals:
    """(c - D) / c(h), D_i = i - (i + 1) n_1 / (n_1 + 2 n_2) n_{i+1} / n_i, where n_i n-grams have count i."""
    n = np.bincount(counts, minlength=5)[:5].astype(float)
    i = np.arange(1, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = i - (i + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:] / n[1:4]
    sound = np.concatenate([[False], (found > 0) & (found < i)])  # NaN is neither
    discounts = np.where(sound, np.concatenate([[0], found]), _USUAL_DISCOUNTS)
    totals = np.bincount(contexts, counts)[contexts]
    shares: Reals = (counts - discounts[counts.clip(max=3)]) / np.maximum(totals, 1)
    return shares
