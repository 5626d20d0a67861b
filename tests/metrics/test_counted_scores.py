"""A score of sums is the score of the lists, of all examples and of any part of them."""

import random

import numpy as np
import pytest

from elman import metrics
from elman.metrics import counted_scores as counted

RNG = random.Random(0)
LABELS = [RNG.choices("abc", k=40) for _ in range(2)]
TEXTS = [
    " ".join(RNG.choices(["the", "cat", "sat", "on", "a", "mat", "."], k=RNG.randint(0, 9))) for _ in range(40)
]
RIGHT = [
    [" ".join(RNG.choices(["the", "cat", "sat", "on", "a", "mat", "."], k=7)) for _ in range(2)]
    for _ in range(40)
]
SPANS = [[{(RNG.choice("xy"), i, i + 1) for i in RNG.sample(range(6), 2)} for _ in range(40)] for _ in range(2)]
CUT = [text.split() for text in TEXTS], [[one.split() for one in those] for those in RIGHT]

CASES = {
    "accuracy": (
        lambda: counted.count_right([g == p for g, p in zip(*LABELS, strict=True)]),
        lambda some: metrics.accuracy(some(LABELS[0]), some(LABELS[1])),
    ),
    "macro F1": (
        lambda: counted.count_labels(*LABELS),
        lambda some: metrics.macro_f1(some(LABELS[0]), some(LABELS[1])),
    ),
    "spans": (
        lambda: counted.count_sets(*SPANS),
        lambda some: metrics.span_scores(some(SPANS[0]), some(SPANS[1])).overall.f1,
    ),
    "BLEU": (
        lambda: counted.count_bleu(TEXTS, RIGHT),
        lambda some: metrics.corpus_bleu(some(TEXTS), some(RIGHT)),
    ),
    "chrF": (
        lambda: counted.count_chrf(TEXTS, RIGHT),
        lambda some: metrics.corpus_chrf(some(TEXTS), some(RIGHT)),
    ),
    "edits": (lambda: counted.count_edits(*CUT), lambda some: metrics.edit_rate(some(CUT[0]), some(CUT[1]))),
}


@pytest.mark.parametrize("name", CASES)
def test_any_part_scores_as_its_lists_do(name):
    make, expected = CASES[name]
    score = make()
    for chosen in ([*range(40)], [3, 5, 8], [*range(0, 40, 3)]):
        assert score(chosen) == pytest.approx(expected(lambda side, of=chosen: [side[i] for i in of]))


def test_columns_for_further_labels_change_no_score():
    score = counted.count_labels(*LABELS)
    wider = score.spread(("a", "aa", "b", "c", "d"))
    assert wider.counts.shape == (40, 15)
    assert wider() == score()
    assert wider([1, 2, 3]) == score([1, 2, 3])


def test_where_nothing_is_to_be_found_and_nothing_was_the_score_is_0():
    assert counted.count_sets([set(), {1}], [set(), {1}])([0]) == 0
    assert counted.count_label_sets([(), ("a",)], [(), ("a",)])([0]) == 0
    assert counted.count_tags([0, 1], [0, 1])([0]) == 0
    assert counted.count_edits([[], ["a"]], [[[]], [["a"]]])([0]) == 0


def test_a_perplexity_beyond_all_numbers_is_infinite():
    score = counted.count_perplexity([699.5, 800.0], [1, 1])
    assert score([0]) == pytest.approx(np.exp(699.5))
    assert score([1]) == np.inf


def test_perplexity_is_that_of_all_tokens_together():
    score = counted.count_perplexity([2.0, 6.0], [1, 3])
    assert score() == pytest.approx(np.exp(2.0))
    assert score([0]) == pytest.approx(np.exp(2.0))
