"""Scores of sets of labels against scikit-learn's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.metrics import multilabel_scores

SETS = st.frozensets(st.sampled_from("abcd"))


@given(pairs=st.lists(st.tuples(SETS, SETS), min_size=1, max_size=12))
def test_scores_are_those_of_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    names = sorted({label for pair in pairs for side in pair for label in side})
    found = multilabel_scores(*zip(*pairs, strict=True))
    assert list(found.labels) == names
    if not names:
        assert (found.overall.f1, found.macro_f1, found.exact) == (0, 0, 100)
        return
    gold, guess = ([[int(name in one[side]) for name in "abcd"] for one in pairs] for side in (0, 1))
    options = {"labels": ["abcd".index(name) for name in names], "zero_division": 0}
    for average, ours in (("micro", found.overall.f1), ("macro", found.macro_f1)):
        expected = metrics.f1_score(gold, guess, average=average, **options)
        assert ours == pytest.approx(100 * expected)
    each = metrics.precision_recall_fscore_support(gold, guess, average=None, **options)
    for score, precision, recall, f1, support in zip(found.labels.values(), *each, strict=True):
        shares = (100 * precision, 100 * recall, 100 * f1)
        assert (score.precision, score.recall, score.f1) == pytest.approx(shares)
        assert score.support == support
    both = [g == p for g, p in zip(gold, guess, strict=True)]
    assert found.exact == pytest.approx(100 * sum(both) / len(both))


def test_sets_that_are_not_of_the_same_texts_are_refused():
    with pytest.raises(DataError, match="1 gold texts cannot be compared with 2"):
        multilabel_scores([{"a"}], [{"a"}, set()])
