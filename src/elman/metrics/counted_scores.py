"""Scores as formulas of sums: what each example adds is kept, so that any part of the data can be scored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import exp, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.metrics.bleu import Tokenize, bleu, tokenize_13a
from elman.metrics.chrf import ORDER, Overlap, best_overlaps, chrf
from elman.metrics.edits import nearest_edits
from elman.metrics.ngram_matches import ORDER as LONGEST
from elman.metrics.ngram_matches import Matches, References
from elman.metrics.references import Tokens, pair_references, pair_token_references

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CountedScore:
    """The score of some examples is ``formula`` of the sum of their ``counts`` (N, K)."""

    counts: Counts
    formula: Callable[[Counts], float]
    labels: tuple[str, ...] = ()  # where each label has K / L columns of its own

    def __call__(self, chosen: Any = slice(None)) -> float:
        """The score of all examples, or of those that an index or a mask chooses."""
        return self.formula(self.counts[chosen].sum(0))

    def spread(self, labels: Sequence[str]) -> CountedScore:
        """The same score with columns for all these labels, those that it has among them."""
        places = [labels.index(label) for label in self.labels]
        wide = np.zeros((len(self.counts), len(labels), self.counts.shape[1] // len(self.labels)))
        wide[:, places] = self.counts.reshape(len(self.counts), len(self.labels), -1)
        return replace(self, counts=wide.reshape(len(self.counts), -1), labels=tuple(labels))


def count_right(right: npt.ArrayLike) -> CountedScore:
    """Accuracy: which examples are right."""
    each = np.array(right, np.float64)
    return CountedScore(np.stack([each, np.ones_like(each)], 1), _share)


def count_tags(right: Sequence[int], words: Sequence[int]) -> CountedScore:
    """Accuracy of tags: how many words of each sentence are right, of how many."""
    return CountedScore(np.array([right, words], np.float64).T, _share)


def count_labels(gold: Sequence[str], guess: Sequence[str]) -> CountedScore:
    """Macro-averaged F1 of one label an example."""
    return count_label_sets([(label,) for label in gold], [(label,) for label in guess])


def count_label_sets(gold: Sequence[Collection[str]], guess: Sequence[Collection[str]]) -> CountedScore:
    """Macro-averaged F1 of several labels an example: of each that occurs, hits, gold ones and guesses."""
    labels = sorted({label for side in (gold, guess) for some in side for label in some})
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(gold), len(labels), 3))
    for row, right, guessed in zip(counts, gold, guess, strict=True):
        for column, some in enumerate(({*right} & {*guessed}, right, guessed)):
            row[[index[label] for label in some], column] = 1
    return CountedScore(counts.reshape(len(gold), -1), _macro_f1, tuple(labels))


def count_sets(gold: Sequence[Collection[Any]], guess: Sequence[Collection[Any]]) -> CountedScore:
    """F1 of all together, of spans or of several labels an example: hits, gold ones and guesses of each."""
    sets = ((set(g), set(p)) for g, p in zip(gold, guess, strict=True))
    return CountedScore(np.array([(len(g & p), len(g), len(p)) for g, p in sets], np.float64), _f1)


def count_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, tokenize: Tokenize = tokenize_13a
) -> CountedScore:
    """BLEU: n-grams that matched, n-grams, length and reference length."""
    rows = []
    for text, those in pair_references(hypotheses, references):
        found = References.of([tokenize(one) for one in those]).match(tokenize(text))
        rows.append([*found.matched, *found.total, found.length, found.reference_length])
    return CountedScore(np.array(rows, np.float64), _bleu)


def count_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> CountedScore:
    """ChrF: for each length of n-gram those of the text, of its best reference, and of both."""
    rows = [np.ravel(best_overlaps(text, those)) for text, those in pair_references(hypotheses, references)]
    return CountedScore(np.array(rows, np.float64), _chrf)


def count_edits(hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> CountedScore:
    """Edits and the tokens of the nearest reference."""
    rows = [nearest_edits(*pair) for pair in pair_token_references(hypotheses, references)]
    return CountedScore(np.array(rows, np.float64), _edit_rate)


def count_perplexity(costs: npt.ArrayLike, tokens: npt.ArrayLike) -> CountedScore:
    """Perplexity: the nats that each text costs, and its tokens."""
    return CountedScore(np.stack([costs, tokens], 1).astype(np.float64), _perplexity)


def count_mean(values: npt.ArrayLike) -> CountedScore:
    """The mean of a number that each example has."""
    each = np.array(values, np.float64)
    return CountedScore(np.stack([each, np.ones_like(each)], 1), lambda sums: float(sums[0] / sums[1]))


def _share(sums: Counts) -> float:
    return float(100 * sums[0] / sums[1]) if sums[1] else 0.0


def _f1(sums: Counts) -> float:
    whole = sums[1] + sums[2]
    return float(200 * sums[0] / whole) if whole else 0.0


def _macro_f1(sums: Counts) -> float:
    hits, gold, guesses = sums.reshape(-1, 3).T
    occurs = gold + guesses > 0
    return float((200 * hits[occurs] / (gold + guesses)[occurs]).mean()) if occurs.any() else 0.0


def _bleu(sums: Counts) -> float:
    whole = sums.astype(int).tolist()
    return bleu(Matches(tuple(whole[:LONGEST]), tuple(whole[LONGEST : 2 * LONGEST]), *whole[-2:]))


def _chrf(sums: Counts) -> float:
    return chrf([Overlap(*row) for row in sums.reshape(ORDER, 3).astype(int).tolist()])


def _edit_rate(sums: Counts) -> float:
    return float(100 * sums[0] / sums[1]) if sums[0] else 0.0


def _perplexity(sums: Counts) -> float:
    mean = sums[0] / sums[1]
    return exp(mean) if mean < 700 else inf
