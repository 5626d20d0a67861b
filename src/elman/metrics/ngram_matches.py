"""The n-grams, up to four tokens long, that an output shares with its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from elman.metrics.references import Tokens, check_references

ORDER = 4


@dataclass(frozen=True, slots=True)
class Matches:
    """What BLEU is computed from; the first two hold a number for each length of n-gram."""

    matched: tuple[int, ...]  # n-grams of the output, each as often as a reference has it at most
    total: tuple[int, ...]  # n-grams of the output
    length: int  # tokens of the output
    reference_length: int  # of the reference nearest in length; of two, the shorter


@dataclass(frozen=True, slots=True)
class References:
    """The references of one sentence, counted once for however many outputs.

    Their n-grams are a tree: node 0 is the empty one, ``longer[node]`` leads to those that have
    a token more. So no n-gram of an output is looked for whose beginning is in no reference.
    """

    longer: list[dict[Hashable, int]]
    most: list[int]  # how often a node's n-gram stands in the reference that has it most often
    lengths: list[int]

    @classmethod
    def of(cls, references: Sequence[Tokens]) -> References:
        """Count one or more references."""
        check_references(references, "the sentence")
        longer: list[dict[Hashable, int]] = [{}]
        counts = [Counter(_grow(longer, tokens)) for tokens in references]
        most = reduce(or_, counts)
        return cls(longer, [most[node] for node in range(len(longer))], [len(tokens) for tokens in references])

    def match(self, tokens: Tokens) -> Matches:
        """Compare one output."""
        longer, left = self.longer, self.most.copy()
        matched = [0] * ORDER
        for start in range(len(tokens)):
            node = 0
            for n, token in enumerate(tokens[start : start + ORDER]):
                node = longer[node].get(token, 0)
                if not node:
                    break
                if left[node]:
                    left[node] -= 1
                    matched[n] += 1
        length = len(tokens)
        return Matches(
            matched=tuple(matched),
            total=tuple([max(length - n, 0) for n in range(ORDER)]),
            length=length,
            reference_length=min((abs(length - other), other) for other in self.lengths)[1],
        )


def total(matches: Sequence[Matches]) -> Matches:
    """The matches of a corpus: the sums."""
    return Matches(
        matched=tuple(map(sum, zip(*(one.matched for one in matches), strict=True))),
        total=tuple(map(sum, zip(*(one.total for one in matches), strict=True))),
        length=sum(one.length for one in matches),
        reference_length=sum(one.reference_length for one in matches),
    )


def _grow(longer: list[dict[Hashable, int]], tokens: Tokens) -> Iterator[int]:
    for start in range(len(tokens)):
        node = 0
        for token in tokens[start : start + ORDER]:
            node = longer[node].setdefault(token, len(longer))
            if node == len(longer):
                longer.append({})
            yield node
