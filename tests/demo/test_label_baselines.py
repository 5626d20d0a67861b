"""Baselines by hand."""

from collections import Counter
from itertools import product
from math import prod

from elman.demo.label_baselines import (
    NaiveBayes,
    most_common_label,
    most_common_label_by_text,
    unigrams,
    unigrams_and_bigrams,
)

EXAMPLES = [("good day", "yes"), ("good luck", "yes"), ("bad day", "no")]


def test_the_commonest_label_of_all_and_of_each():
    assert most_common_label(EXAMPLES) == "yes"
    guess = most_common_label_by_text([("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("c", "y")])
    assert [guess(text) for text in ("a", "b", "never seen")] == ["x", "y", "y"]


def test_naive_bayes_multiplies_what_it_counted():
    """p(no) p(bad | no) = 1/3 · 2/6 > p(yes) p(bad | yes) = 2/3 · 1/8, of four words, each once more."""
    guess = NaiveBayes(EXAMPLES, unigrams, alpha=1.0)
    assert guess("bad") == "no"
    assert guess("day") == "yes"


def test_pairs_know_the_order_that_words_do_not():
    assert sorted(unigrams("a b")) == sorted(unigrams("b a"))
    assert sorted(unigrams_and_bigrams("a b")) != sorted(unigrams_and_bigrams("b a"))


def test_naive_bayes_is_its_formula():
    """p(label) Π (N(f, label) + α) / (N(label) + α F), where F is how many features there are of all labels."""
    examples = [("a b", "x"), ("a", "x"), ("b b c", "y"), ("c d e", "z")]
    counts = {
        label: Counter(w for text, own in examples if own == label for w in text.split()) for label in "xyz"
    }
    prior = Counter(label for _, label in examples)
    guess = NaiveBayes(examples, unigrams, alpha=0.3)
    for text in map(" ".join, product("abcdeq", repeat=3)):
        scores = {
            label: prior[label] * prod((seen[w] + 0.3) / (sum(seen.values()) + 0.3 * 5) for w in text.split())
            for label, seen in counts.items()
        }
        best = max(scores.values())
        assert scores[guess(text)] >= best * (1 - 1e-9), text


def test_ends_are_neighbours_of_the_first_and_last_word():
    assert unigrams_and_bigrams("A b") == ["a", "b", " a", "a b", "b "]
