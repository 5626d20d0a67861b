"""Pure functions of lists; shares are percentages, 0 to 100."""

from elman.metrics.bleu import AddK, corpus_bleu, exponential, sentence_bleus, tokenize_13a
from elman.metrics.chrf import corpus_chrf
from elman.metrics.classification import (
    Confusion,
    LabelScore,
    MultilabelScores,
    SpanScores,
    accuracy,
    confusion,
    label_scores,
    macro_f1,
    multilabel_scores,
    span_scores,
)
from elman.metrics.confusions import ConfusedPair, most_confused
from elman.metrics.counted_scores import (
    CountedScore,
    count_bleu,
    count_chrf,
    count_edits,
    count_label_sets,
    count_labels,
    count_mean,
    count_perplexity,
    count_right,
    count_sets,
    count_tags,
)
from elman.metrics.edits import edit_distance, edit_distances, edit_rate, exact_match
from elman.metrics.ngram_matches import Matches, References
from elman.metrics.reliability import ReliabilityBin, calibration_error, reliability_bins
from elman.metrics.significance import (
    PairedResult,
    bootstrap_differences,
    bootstrap_p_value,
    compare_by_bootstrap,
    compare_by_permutation,
    permutation_p_value,
)

__all__ = ["AddK", "Confusion", "LabelScore", "Matches", "MultilabelScores", "References", "ReliabilityBin"]
__all__ += ["SpanScores", "calibration_error", "multilabel_scores", "reliability_bins"]
__all__ += ["accuracy", "confusion", "corpus_bleu", "corpus_chrf", "edit_distance", "edit_distances"]
__all__ += ["edit_rate", "exact_match", "exponential", "label_scores", "macro_f1", "sentence_bleus"]
__all__ += ["span_scores", "tokenize_13a"]
__all__ += ["CountedScore", "count_bleu", "count_chrf", "count_edits", "count_labels", "count_mean"]
__all__ += ["count_label_sets", "count_perplexity", "count_right", "count_sets", "count_tags"]
__all__ += ["PairedResult", "bootstrap_differences", "bootstrap_p_value", "compare_by_bootstrap"]
__all__ += ["compare_by_permutation", "permutation_p_value"]
__all__ += ["ConfusedPair", "most_confused"]
