"""Pure functions of lists; shares are percentages, 0 to 100."""

from elman.metrics.classification import (
    Confusion,
    LabelScore,
    accuracy,
    confusion,
    label_scores,
    macro_f1,
)

__all__ = ["Confusion", "LabelScore", "accuracy", "confusion", "label_scores", "macro_f1"]
