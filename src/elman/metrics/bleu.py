"""BLEU (Papineni et al. 2002), equal to sacreBLEU's, of texts and of lists of any tokens.

A smoothing says what stands for an n-gram precision of zero, which would make all of BLEU zero (Chen and
Cherry 2014). It takes how many n-grams matched and how many there are, by length, and returns the precisions
as far as there are n-grams.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elman.errors import check_option
from elman.metrics.ngram_matches import Matches, References, total
from elman.metrics.references import Tokens, pair_references

Tokenize = Callable[[str], list[str]]  # tokenize_13a, or str.split for texts that are tokens
Smoothing = Callable[[Sequence[int], Sequence[int]], list[float]]


_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# The order is part of the standard, and so is that a match uses up the characters on both sides:
# of two marks in a row the second may stay where it is.
_RULES = (
    (re.compile(r"([!-&(-+/:-@[-`{-~])"), r" \1 "),  # any mark of ASCII but ' , - .
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # a comma that follows no digit
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # a comma that no digit follows
    (re.compile(r"([0-9])-"), r"\1 - "),
)


def tokenize_13a(text: str) -> list[str]:
    """Words and marks as papers report BLEU, by NIST's mteval-v13a: numbers stay whole, case is kept."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, mark in _ENTITIES:
        text = text.replace(entity, mark)
    text = f" {text} "
    for pattern, apart in _RULES:
        text = pattern.sub(apart, text)
    return text.split()


def exponential(matched: Sequence[int], total: Sequence[int]) -> list[float]:
    """The k-th length without a match counts as 2^-k matches; sacreBLEU's ``exp``."""
    precisions, part = [], 1.0
    for m, n in zip(matched, total, strict=True):
        if not m:
            part /= 2
        if n:  # else no longer one is there, either
            precisions.append((m or part) / n)
    return precisions


@dataclass(frozen=True)
class AddK:
    """``k`` more matches and ``k`` more n-grams of each length above one; sacreBLEU's ``add-k``."""

    k: float = 1.0

    def __post_init__(self) -> None:
        check_option("k of a smoothing", self.k, self.k > 0, "above 0")

    def __call__(self, matched: Sequence[int], total: Sequence[int]) -> list[float]:
        counts = zip(matched[1:], total[1:], strict=True)
        first = [matched[0] / total[0]] if total[0] else []
        return first + [(m + self.k) / (n + self.k) for m, n in counts]


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, tokenize: Tokenize = tokenize_13a
) -> float:
    """BLEU of all texts together, 0 to 100; ``references[i]`` are those of hypothesis i."""
    matches = [
        References.of([tokenize(one) for one in those]).match(tokenize(text))
        for text, those in pair_references(hypotheses, references)
    ]
    return bleu(total(matches))


def sentence_bleus(
    samples: Sequence[Sequence[Tokens]],
    references: Sequence[Sequence[Tokens]],
    *,
    smoothing: Smoothing = exponential,
) -> list[list[float]]:
    """Sentence BLEU of many samples a sentence: that of ``samples[i][k]`` against ``references[i]``."""
    scores = []
    for outputs, those in pair_references(samples, references):
        match = References.of(those).match
        scores.append([bleu(match(o), smoothing=smoothing, effective=True) for o in outputs])
    return scores


def bleu(matches: Matches, *, smoothing: Smoothing = exponential, effective: bool = False) -> float:
    """100 · min(1, e^(1 - r/c)) · (p_1 ⋯ p_4)^(1/4), with lengths c of the output, r of the reference.

    Without any match it is 0, however smooth. ``effective``: only of those p_n for which the output
    is long enough; otherwise a missing one is 0.
    """
    if not any(matches.matched):
        return 0.0
    precisions = smoothing(matches.matched, matches.total)
    if 0 in precisions or (len(precisions) < len(matches.matched) and not effective):
        return 0.0
    brevity = min(0.0, 1 - matches.reference_length / matches.length)
    return 100.0 * math.exp(brevity + sum(map(math.log, precisions)) / len(precisions))
