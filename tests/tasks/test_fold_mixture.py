"""How much the network counts beside the n-grams of few texts."""

import torch
from torch.nn.functional import one_hot

from elman.tasks.classifier.fold_mixture import choose_mixture


def judge(right: float, seed: int, gold: torch.Tensor) -> torch.Tensor:
    """Logits that are right of such a share of texts."""
    dice = torch.Generator().manual_seed(seed)
    answer = torch.where(torch.rand(len(gold), generator=dice) < right, gold, 1 - gold)
    return 2.0 * one_hot(answer, 2).float()


def test_a_network_that_knows_more_counts():
    gold = torch.arange(400) % 2
    w = choose_mixture(judge(0.9, 0, gold), judge(0.7, 1, gold), gold)
    assert w[0] > w[1] > 0


def test_a_network_that_guesses_counts_nothing():
    gold = torch.arange(400) % 2
    w = choose_mixture(judge(0.5, 0, gold), judge(0.7, 1, gold), gold)
    assert w[0] == 0 < w[1]


def test_what_may_be_chance_counts_nothing():
    gold = torch.arange(40) % 2
    assert choose_mixture(judge(0.6, 3, gold), judge(0.8, 1, gold), gold)[0] == 0


def test_without_the_network_the_ngrams_are_as_sure_as_they_are_right():
    gold = torch.arange(400) % 2
    ngrams = 5 * judge(0.7, 1, gold)
    w = choose_mixture(torch.zeros(400, 2), ngrams, gold)
    sure = (w[1] * ngrams).softmax(-1).max(-1).values.mean().item()
    assert abs(sure - 0.7) < 0.05


def test_two_that_know_as_much_but_other_things_count_both():
    gold = torch.arange(1000) % 2
    w = choose_mixture(judge(0.7, 0, gold), judge(0.7, 1, gold), gold)
    assert w[0] > 0.2 < w[1]
