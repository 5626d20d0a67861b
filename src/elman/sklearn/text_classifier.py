"""The text classifier as scikit-learn knows classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

import elman
from elman.sklearn.estimator import Estimator
from elman.sklearn.rows import label_columns, list_texts, require_targets

Floats = npt.NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]  # scikit-learn has no types
    """A recurrent text classifier: X are texts, y their labels.

    ``Classifier(hidden=128, minutes=1).fit(texts, labels).predict(["a text"])``. The parameters are the options
    of ``elman.Classifier.train``. After ``fit``, ``model_`` is that model and ``classes_`` are the labels.
    Where a text has several labels, y is a matrix of zeros and ones, as ``MultiLabelBinarizer`` makes it.
    """

    def fit(self, X: Any, y: Any) -> Classifier:
        """Train on texts (a list, an array, a Series) and their labels of any type; a tenth is held out."""
        texts = list_texts(X)
        require_targets(texts, y, type(self).__name__)
        check_classification_targets(y)
        several = type_of_target(y) == "multilabel-indicator"
        if not several and (self.recipe or {}).get("data", {}).get("multi"):
            raise ValueError("the recipe says multi, but y has one label a text; give a matrix of 0 and 1")
        labels = label_columns(y) if several else column_or_1d(y, warn=True)
        self.classes_ = np.arange(np.shape(y)[1]) if several else np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError(f"y has {len(self.classes_)} class; give texts of two classes or more")
        rows = [*zip(texts, labels if several else map(str, labels), strict=True)]
        self.model_ = self._train(elman.Classifier, rows, multi=several or None)
        self.several_labels_ = several
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest label of each text; a matrix of zeros and ones where a text may have several."""
        answers = self._answer(X)
        if self.several_labels_:
            return self._matrix([dict.fromkeys(answer.labels, 1) for answer in answers]).astype(np.int64)
        return np.asarray(self.classes_[self._matrix([a.probabilities for a in answers]).argmax(1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label (texts, labels), in the order of ``classes_``."""
        return self._matrix([answer.probabilities for answer in self._answer(X)])

    def _answer(self, X: Any) -> list[Any]:
        check_is_fitted(self, "model_")
        found: list[Any] = self.model_.classify(list_texts(X))
        return found

    def _matrix(self, rows: Sequence[Mapping[str, float]]) -> Floats:
        """Values by label as rows of a matrix, 0 for a label that no text had that was trained on."""
        found = [[row.get(str(label), 0.0) for label in self.classes_] for row in rows]
        return np.array(found, np.float64).reshape(len(rows), len(self.classes_))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of `predict_proba`."""
        tiny = np.finfo(np.float32).tiny  # as small as a probability can be told from 0
        return np.asarray(np.log(np.maximum(self.predict_proba(X), tiny)))

    def decision_function(self, X: Any) -> Floats:
        """log p of each label; of two labels, log p of the second less that of the first.

        Where a text may have several, log p / (1 - p).
        """
        scores = self.predict_log_proba(X)
        if self.several_labels_:
            return np.asarray(scores - np.log1p(-np.exp(scores).clip(max=1 - 1e-7)))
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags
