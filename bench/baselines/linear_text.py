"""scikit-learn: TF-IDF and logistic regression, C and the kind of n-grams chosen on validation data."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Any

from baselines import BenchSet, Outcome
from baselines.classifier_sets import read_rows
from baselines.holdout import make_splits, split_columns

VIEWS = {
    "words (1,2)": {"ngram_range": (1, 2), "token_pattern": r"(?u)\S+"},
    "words (1,2), default tokens": {"ngram_range": (1, 2)},
    "char_wb (2,5)": {"analyzer": "char_wb", "ngram_range": (2, 5)},
}
STRENGTHS = (1.0, 10.0, 100.0)


def run_logistic(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """The settings that are best on validation data; it has no seed of its own and takes seconds."""
    start = time.process_time()
    scores: dict[tuple[str, bool, float], float] = defaultdict(float)
    for train, valid in make_splits(corpus, read_rows, label=lambda row: row[1]):
        for view, sublinear in product(VIEWS, (False, True)):
            seen = _vectorize(view, sublinear, train, valid)
            for c in STRENGTHS:
                scores[view, sublinear, c] += _accuracy(c, *seen) * len(valid)
    view, sublinear, strength = max(scores, key=lambda key: scores[key])
    searched = time.process_time()
    score = _accuracy(strength, *_vectorize(view, sublinear, read_rows(corpus.train), read_rows(corpus.test)))
    done = time.process_time()
    chosen = {"n-grams": view, "sublinear_tf": sublinear, "C": strength, "search_s": round(searched - start, 1)}
    name = "TF-IDF + LR"
    return Outcome(corpus.name, name, seed, corpus.metric, score, done - searched, chosen)


def _vectorize(
    view: str, sublinear: bool, train: Sequence[tuple[str, str]], test: Sequence[tuple[str, str]]
) -> tuple[Any, Sequence[str], Any, Sequence[str]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=sublinear, **VIEWS[view])
    (texts, labels), (others, right) = split_columns(train), split_columns(test)
    return vectorizer.fit_transform(texts), labels, vectorizer.transform(others), right


def _accuracy(strength: float, xs: Any, labels: Sequence[str], others: Any, right: Sequence[str]) -> float:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that 200 iterations were not enough
        model.fit(xs, labels)
    return 100.0 * float((model.predict(others) == right).mean())
