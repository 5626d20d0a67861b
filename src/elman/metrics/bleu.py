"""BLEU (Papineni et al. 2002), equal to sacreBLEU's, of texts and of lists of any tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from elman.metrics.mteval import tokenize_13a
from elman.metrics.ngrams import Matches, References, total
from elman.metrics.pairs import Tokens, check, pairs
from elman.metrics.smoothing import Smoothing, exponential

Tokenize = Callable[[str], list[str]]  # tokenize_13a, or str.split for texts that are tokens


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: Tokenize = tokenize_13a,
    smoothing: Smoothing = exponential,
) -> float:
    """BLEU of all texts together, 0 to 100; ``references[i]`` are those of hypothesis i."""
    matches = [
        References.of([tokenize(one) for one in those]).match(tokenize(text))
        for text, those in pairs(hypotheses, references)
    ]
    return bleu(total(matches), smoothing=smoothing)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    *,
    tokenize: Tokenize = tokenize_13a,
    smoothing: Smoothing = exponential,
) -> float:
    """BLEU of one text, 0 to 100, of the n-grams as long as it has any."""
    check(references, "the hypothesis")
    matches = References.of([tokenize(one) for one in references]).match(tokenize(hypothesis))
    return bleu(matches, smoothing=smoothing, effective=True)


def sentence_bleus(
    samples: Sequence[Sequence[Tokens]],
    references: Sequence[Sequence[Tokens]],
    *,
    smoothing: Smoothing = exponential,
) -> list[list[float]]:
    """Sentence BLEU of many samples a sentence: that of ``samples[i][k]`` against ``references[i]``."""
    scores = []
    for outputs, those in pairs(samples, references):
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
