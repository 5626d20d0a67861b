"""Pure functions of lists; shares are percentages, 0 to 100."""

from elman.metrics.classification import (
    Confusion,
    LabelScore,
    accuracy,
    confusion,
    label_scores,
    macro_f1,
)
from elman.metrics.spans import SpanScores, span_scores

__all__ = [
    "Confusion",
    "LabelScore",
    "SpanScores",
    "accuracy",
    "confusion",
    "label_scores",
    "macro_f1",
    "span_scores",
]
