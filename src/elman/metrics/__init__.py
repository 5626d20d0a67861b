"""Pure functions of lists; shares are percentages, 0 to 100."""

from elman.metrics.bleu import AddK, corpus_bleu, exponential, sentence_bleus, tokenize_13a
from elman.metrics.chrf import corpus_chrf
from elman.metrics.classification import (
    Confusion,
    LabelScore,
    SpanScores,
    accuracy,
    confusion,
    label_scores,
    macro_f1,
    span_scores,
)
from elman.metrics.edits import edit_distance, edit_distances, edit_rate, exact_match
from elman.metrics.ngram_matches import Matches, References

__all__ = ["AddK", "Confusion", "LabelScore", "Matches", "References", "SpanScores"]
__all__ += ["accuracy", "confusion", "corpus_bleu", "corpus_chrf", "edit_distance", "edit_distances"]
__all__ += ["edit_rate", "exact_match", "exponential", "label_scores", "macro_f1", "sentence_bleus"]
__all__ += ["span_scores", "tokenize_13a"]
