"""chrF (Popović 2015), equal to sacreBLEU's: an F-score of character n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from elman.metrics.references import pair_references

ORDER = 6
BETA = 2  # recall counts twice as much as precision


class Overlap(NamedTuple):
    """Numbers of n-grams, all of one length."""

    hypothesis: int
    reference: int
    both: int


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF2 of all texts together, 0 to 100; ``references[i]`` are those of hypothesis i.

    White space does not count. Of several references, the one with the best chrF does.
    """
    best = [best_overlaps(text, those) for text, those in pair_references(hypotheses, references)]
    return chrf([Overlap(*map(sum, zip(*same, strict=True))) for same in zip(*best, strict=True)])


def best_overlaps(text: str, references: Sequence[str]) -> list[Overlap]:
    """What a text shares with the reference that it is nearest to, for each length of n-gram."""
    grams = _grams(text)
    return max((_overlaps(grams, _grams(one)) for one in references), key=chrf)


def _grams(text: str) -> list[Counter[str]]:
    text = "".join(text.split())
    return [Counter(text[start : start + n] for start in range(len(text) - n + 1)) for n in range(1, ORDER + 1)]


def _overlaps(hypothesis: list[Counter[str]], reference: list[Counter[str]]) -> list[Overlap]:
    return [
        # Of a length that the reference does not reach, the hypothesis is not blamed for its own.
        Overlap(h.total() if r else 0, r.total(), (h & r).total())
        for h, r in zip(hypothesis, reference, strict=True)
    ]


def chrf(overlaps: Sequence[Overlap]) -> float:
    """F_β of the mean precision and the mean recall of the lengths that both sides reach."""
    reached = [one for one in overlaps if one.hypothesis and one.reference]
    if not any(one.both for one in reached):
        return 0.0
    precision = sum(one.both / one.hypothesis for one in reached) / len(reached)
    recall = sum(one.both / one.reference for one in reached) / len(reached)
    return 100.0 * ((1 + BETA**2) * precision * recall / (BETA**2 * precision + recall))
