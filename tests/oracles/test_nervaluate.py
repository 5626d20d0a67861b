"""Span scores against the strict scores of nervaluate, which reads tags as conlleval does.

It reads B, I and O only: it refuses a span that begins with E or S and knows no L or U. What
conlleval makes of those is held against a slow rule in tests/text/test_spans.py.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate.evaluator import Evaluator

from elman.metrics import span_scores
from elman.text.spans import convert_tags, tags_to_spans

LABELS = ["PER", "creative-work", "X"]

tags = st.sampled_from(["O", "O", *(f"{letter}-{label}" for letter in "BI" for label in LABELS)])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Any tags, well-formed or not, and guesses that are right more often than not."""
    gold = draw(st.lists(tags, min_size=1, max_size=10))
    slips = draw(st.dictionaries(st.integers(0, len(gold) - 1), tags, max_size=3))
    return gold, [slips.get(place, tag) for place, tag in enumerate(gold)]


@settings(max_examples=300, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=20))
def test_scores_are_the_strict_scores_of_nervaluate(corpus: list[tuple[list[str], list[str]]]) -> None:
    gold, guess = [g for g, _ in corpus], [p for _, p in corpus]
    theirs = Evaluator(gold, guess, tags=LABELS, loader="list").evaluate()
    ours = span_scores([tags_to_spans(g) for g in gold], [tags_to_spans(p) for p in guess])
    labels = {label: scores["strict"] for label, scores in theirs["entities"].items()}
    assert set(ours.labels) == set(labels)
    for mine, other in [
        (ours.overall, theirs["overall"]["strict"]),
        *((ours.labels[label], labels[label]) for label in labels),
    ]:
        assert mine.precision == pytest.approx(100 * other.precision)
        assert mine.recall == pytest.approx(100 * other.recall)
        assert mine.f1 == pytest.approx(100 * other.f1)
        assert mine.support == other.possible


@pytest.mark.parametrize("name", ["BIO", "IOB1", "BIOES", "BILOU"])
@settings(max_examples=100, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=10))
def test_scores_do_not_depend_on_the_scheme(name: str, corpus: list[tuple[list[str], list[str]]]) -> None:
    theirs = Evaluator([g for g, _ in corpus], [p for _, p in corpus], LABELS, "list").evaluate()
    ours = span_scores(
        [tags_to_spans(convert_tags(g, name)) for g, _ in corpus],
        [tags_to_spans(convert_tags(p, name)) for _, p in corpus],
    )
    assert ours.overall.f1 == pytest.approx(100 * theirs["overall"]["strict"].f1)
