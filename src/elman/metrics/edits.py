"""How far outputs are from their references, in insertions, deletions and substitutions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from elman.errors import DataError
from elman.metrics.references import Tokens, pair_token_references


def edit_rate(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> float:
    """Edits for a hundred reference tokens, all sentences together; more than 100 are possible.

    Of several references the nearest counts, with its length; of equally near ones, the longest.
    """
    edits = length = 0
    for tokens, those in pair_token_references(hypotheses, references):
        fewest, tokens_of_it = nearest_edits(tokens, those)
        edits, length = edits + fewest, length + tokens_of_it
    if edits and not length:
        raise DataError("the references hold no tokens, so that edits have no rate")
    return 100.0 * edits / length if edits else 0.0


def nearest_edits(tokens: Tokens, references: Sequence[Tokens]) -> tuple[int, int]:
    """The edits to the nearest reference, and its length."""
    fewest, minus = min((edit_distance(tokens, one), -len(one)) for one in references)
    return fewest, -minus


def exact_match(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> float:
    """The share of hypotheses, 0 to 100, that equal one of their references."""
    both = pair_token_references(hypotheses, references)
    right = sum(any(list(tokens) == list(one) for one in those) for tokens, those in both)
    return 100.0 * right / len(both)


def edit_distance(a: Tokens, b: Tokens) -> int:
    """The fewest insertions, deletions and substitutions that make b of a (Levenshtein 1966).

    Neighbours in the table of distances differ by one at most. So a column of it is two integers
    with a bit for each token of a: where the distance rises and where it falls from the row above.
    A token of b costs a few operations on them, however long a is (Myers 1999, Hyyrö 2003).
    """
    if not a:
        return len(b)
    places: dict[Hashable, int] = {}
    for row, token in enumerate(a):
        places[token] = places.get(token, 0) | 1 << row
    distance, every, last = len(a), (1 << len(a)) - 1, 1 << (len(a) - 1)
    rises, falls = every, 0
    for token in b:
        same = places.get(token, 0)
        # Where the diagonal step is free; the sum carries a match through the rises below it.
        free = (((same & rises) + rises) ^ rises) | same | falls
        more = falls | (every & ~(free | rises))  # than in the column before
        less = free & rises
        distance += bool(more & last) - bool(less & last)
        more = more << 1 | 1  # above the first row each token of b is one more
        rises = every & (less << 1 | ~(free | more))
        falls = every & free & more
    return distance


def edit_distances(
    tokens: NDArray[np.int64],
    mask: NDArray[np.bool_],
    references: NDArray[np.int64],
    reference_mask: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The edit distance of each row of tokens (N, T) to the same row of references (N, S).

    The masks are true on the tokens, which come before the padding.
    """
    if len(tokens) != len(references):
        raise DataError(f"{len(tokens)} rows cannot be compared with {len(references)} references")
    lengths, goals = _lengths(mask), _lengths(reference_mask)
    others = np.ascontiguousarray(references.T)
    # row[j] is the distance to the first j tokens of the reference, less j: insertions are free
    # in it, so that they are a running minimum.
    row = np.zeros((len(others) + 1, len(tokens)), np.int32)
    for place in range(int(lengths.max(initial=0))):
        following = row + 1  # deletions
        np.minimum(following[1:], row[:-1] - (others == tokens[:, place]), out=following[1:])
        np.minimum.accumulate(following, axis=0, out=following)
        row = np.where(place < lengths, following, row)
    distances: NDArray[np.int64] = row[goals, np.arange(len(tokens))] + goals
    return distances


def _lengths(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise DataError("a mask has tokens after padding; all padding at the end would be right")
    lengths: NDArray[np.int64] = mask.sum(1, dtype=np.int64)
    return lengths
