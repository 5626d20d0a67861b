"""Kneser-Ney n-grams against their definition, computed with dictionaries."""

from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from elman.layers.kneser_ney import KneserNey

FIRST = 8  # stands nowhere in the texts


class Definition:
    """p(w | h) as Chen & Goodman write it, one n-gram after the other."""

    def __init__(self, ids, vocabulary, order):
        text = [FIRST] * (order - 1) + list(ids)
        ends = range(order, len(text) + 1)
        self.vocabulary, self.counts = vocabulary, {}
        self.counts[order] = Counter(tuple(text[end - order : end]) for end in ends)
        for k in range(order - 1, 0, -1):
            before = defaultdict(set)
            for end in ends:
                before[tuple(text[end - k : end])].add(text[end - k - 1])
            self.counts[k] = Counter({gram: len(kinds) for gram, kinds in before.items()})

    def discount(self, k, count):
        n = Counter(self.counts[k].values())
        i = min(count, 3)
        if not (n[1] and n[i]):
            return (0, 0.5, 1, 1.5)[i]
        found = i - (i + 1) * n[1] / (n[1] + 2 * n[2]) * n[i + 1] / n[i]
        return found if 0 < found < i else (0, 0.5, 1, 1.5)[i]

    def p(self, history, w):
        k = len(history) + 1
        lower = self.p(history[1:], w) if history else 1 / self.vocabulary
        following = {gram[-1]: c for gram, c in self.counts[k].items() if gram[:-1] == history}
        if not following:
            return lower
        total = sum(following.values())
        left = sum(self.discount(k, c) for c in following.values()) / total
        own = following[w] - self.discount(k, following[w]) if w in following else 0
        return own / total + left * lower


def draw_text(length, vocabulary, seed=0):
    """Few kinds in a row, so that long n-grams come again."""
    rng = np.random.default_rng(seed)
    ids = np.cumsum(rng.integers(0, 3, length)) % vocabulary
    return np.where(rng.random(length) < 0.2, 1, ids)


def read(model, ids):
    """The contexts before each token of a text."""
    given = torch.tensor([[FIRST, *ids[:-1]]])
    return model.follow(model.begin(1), given)[0]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_are_those_of_the_definition(order):
    ids, asked, vocabulary = draw_text(400, 7), draw_text(60, 7, seed=1), 9
    model, oracle = KneserNey.fit(ids, vocabulary, order=order, first=FIRST), Definition(ids, vocabulary, order)
    p = model.probabilities(read(model, asked))
    seen = [FIRST, *asked]
    for t, row in enumerate(p.tolist()):
        history = tuple(seen[max(0, t + 1 - (order - 1)) : t + 1]) if order > 1 else ()
        assert row == pytest.approx([oracle.p(history, w) for w in range(vocabulary)], rel=1e-4)


@pytest.mark.parametrize("least", [1, 3])
def test_they_sum_to_one_and_a_token_costs_what_the_distribution_says(least):
    ids = draw_text(2000, 30) + 9
    model = KneserNey.fit(ids, 40, order=4, first=FIRST, least=least)
    contexts, targets = read(model, ids[:200]), torch.from_numpy(ids[:200])
    p = model.probabilities(contexts)
    assert bool((p > 0).all())
    torch.testing.assert_close(p.sum(-1), torch.ones(200))
    costs = -p.gather(1, targets[:, None])[:, 0].log()
    torch.testing.assert_close(model.nll(contexts, targets), costs)
    torch.testing.assert_close(model.text_nll(ids[:200], FIRST), costs)


def test_a_text_may_be_read_in_pieces():
    ids = draw_text(300, 7)
    model = KneserNey.fit(ids, 9, order=4, first=FIRST)
    whole = read(model, ids)
    first = model.follow(model.begin(1), torch.tensor([[FIRST, *ids[:100]]]))
    second = model.follow(first[:, -1], torch.from_numpy(ids[None, 100:-1]))
    assert torch.equal(torch.cat([first, second], 1)[0], whole)


def test_rare_ngrams_are_left_out_and_common_ones_stay():
    ids = np.array([1, 2, 3, 4] * 5 + [1, 2, 4, 3])
    whole, pruned = (KneserNey.fit(ids, 9, order=3, first=FIRST, least=least) for least in (1, 2))
    kept = torch.isin(whole.keys_3, pruned.keys_3)
    assert torch.equal(pruned.keys_2, whole.keys_2)
    assert 0 < len(pruned.keys_3) < len(whole.keys_3)
    assert torch.equal(whole.shares_3[kept], pruned.shares_3)


def test_where_no_ngram_of_an_order_is_frequent_enough_the_shorter_ones_are_all():
    ids = np.array([1, 2, 3, 1, 4, 2, 1, 5])
    model = KneserNey.fit(ids, 9, order=5, first=FIRST, least=9)
    assert model.order == 2
    p = model.probabilities(read(model, ids))
    torch.testing.assert_close(p.sum(-1), torch.ones(len(ids)))
    costs = -p.gather(1, torch.from_numpy(ids)[:, None])[:, 0].log()
    torch.testing.assert_close(model.text_nll(ids, FIRST), costs)


@pytest.mark.parametrize("ids", [[1], [1, 1, 1, 1], [1, 2]])
def test_the_smallest_texts_have_ngrams_too(ids):
    model = KneserNey.fit(np.array(ids), 9, order=5, first=FIRST)
    assert float(model.probabilities(model.begin(1)).sum()) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_larger_vocabulary_has_the_model_that_the_text_would_give_it(order):
    ids = draw_text(200, 8)
    small = KneserNey.fit(ids, 9, order=order, first=FIRST)
    wide, fitted = small.widen(13), KneserNey.fit(ids, 13, order=order, first=FIRST)
    assert (wide.vocabulary, wide.count) == (13, small.count)
    assert wide.count == sum(len(small.get_buffer(f"keys_{k}")) for k in range(1, order + 1))
    for name, values in fitted.state_dict().items():
        assert torch.equal(wide.state_dict()[name], values), name


@pytest.mark.parametrize("order", [1, 3])
def test_the_last_token_of_the_vocabulary_may_have_been_seen_nowhere(order):
    ids = draw_text(60, 8)
    model, definition = KneserNey.fit(ids, 9, order=order, first=FIRST), Definition(ids, 9, order)
    text = [*ids[-3:].tolist(), 8]
    expected = -np.log(definition.p(tuple(text[-order:-1]) if order > 1 else (), 8))
    assert float(model.text_nll(np.array(text), FIRST)[-1]) == pytest.approx(expected, rel=1e-5)
