"""The tagger as an estimator: sentences of words to sentences of tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import elman
from elman.sklearn.estimator import Estimator
from elman.sklearn.rows import list_sentences, require_targets


@dataclass(kw_only=True, eq=False, repr=False)
class Tagger(Estimator):
    """A recurrent tagger: X are sentences, lists of words; y has a tag for each word.

    ``Tagger(minutes=1).fit([["the", "dog"]], [["DET", "NOUN"]])``. The parameters are the options of
    ``elman.Tagger.train``. After ``fit``, ``model_`` is that model and ``classes_`` are the tags. For
    scikit-learn it is no classifier, as a row has many labels: folds are not stratified.
    """

    def fit(self, X: Any, y: Any) -> Tagger:
        """Train on sentences and their tags; a tenth of them is held out."""
        sentences = list_sentences(X)
        require_targets(sentences, y, type(self).__name__)
        tags = list_sentences(y, "y")
        self.classes_ = np.unique([tag for row in tags for tag in row])
        self.model_ = self._train(elman.Tagger, [*zip(sentences, tags, strict=True)])
        return self

    def predict(self, X: Any) -> npt.NDArray[np.object_]:
        """The tags of each sentence: an array of lists."""
        check_is_fitted(self, "model_")
        tags = self.model_.tag(list_sentences(X))
        return np.fromiter(tags, np.object_, len(tags))  # np.array would make a matrix of lists of like length

    def score(self, X: Any, y: Any) -> float:
        """F1 of spans where the tags mark spans (B-PER), else the share of right tags; from 0 to 1."""
        check_is_fitted(self, "model_")
        rows = [*zip(list_sentences(X), list_sentences(y, "y"), strict=True)]
        return float(self.model_.evaluate(rows)[self.model_.metric]) / 100

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags
