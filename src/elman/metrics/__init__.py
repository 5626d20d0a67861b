"""Pure functions of lists; shares are percentages, 0 to 100."""

from elman.metrics.bleu import corpus_bleu, sentence_bleu, sentence_bleus
from elman.metrics.chrf import corpus_chrf
from elman.metrics.classification import (
    Confusion,
    LabelScore,
    accuracy,
    confusion,
    label_scores,
    macro_f1,
)
from elman.metrics.edits import edit_distance, edit_distances, edit_rate, exact
from elman.metrics.mteval import tokenize_13a
from elman.metrics.ngrams import Matches, References
from elman.metrics.smoothing import AddK, Floor, exponential, unsmoothed
from elman.metrics.spans import SpanScores, span_scores

__all__ = [
    "AddK",
    "Confusion",
    "Floor",
    "LabelScore",
    "Matches",
    "References",
    "SpanScores",
    "accuracy",
    "confusion",
    "corpus_bleu",
    "corpus_chrf",
    "edit_distance",
    "edit_distances",
    "edit_rate",
    "exact",
    "exponential",
    "label_scores",
    "macro_f1",
    "sentence_bleu",
    "sentence_bleus",
    "span_scores",
    "tokenize_13a",
    "unsmoothed",
]
