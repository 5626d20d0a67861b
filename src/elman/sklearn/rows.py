"""What users of scikit-learn give as X, checked: texts, or sentences of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length


def list_texts(X: Any) -> list[str]:
    """The texts of a list, an array of objects or a Series."""
    if isinstance(X, str):
        raise ValueError("X is one text; give a list of texts")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            f"X has the shape {X.shape}; expected one text a row: choose a column, or reshape your data with "
            "X.ravel()"
        )
    texts = list(X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"X[{row}] is {text!r}; it must be a text")
    return [str(text) for text in texts]  # a str of numpy is one, too


def list_sentences(X: Any, what: str = "X") -> list[list[str]]:
    """Sentences as lists of words, or the tags of sentences."""
    sentences = [sentence if isinstance(sentence, str) else list(sentence) for sentence in X]
    for row, sentence in enumerate(sentences):
        if isinstance(sentence, str) or not all(isinstance(word, str) for word in sentence):
            raise ValueError(f"{what}[{row}] is {sentence!r}; it must be a list of strings, one a word")
    return [[str(word) for word in sentence] for sentence in sentences]


def label_columns(y: Any) -> list[list[str]]:
    """The numbers of the columns that are 1 in each row of a matrix, dense or sparse."""
    dense = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    return [[str(column) for column in np.flatnonzero(row)] for row in dense]


def require_targets(X: Sequence[Any], y: Any, estimator: str) -> None:
    """Refuse training without as many targets as rows."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    check_consistent_length(X, y)
