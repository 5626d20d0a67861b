"""An encoder as a language model: each direction says the words that it has not read."""

import math

import pytest
import torch
from torch import nn

from elman.cells import GRU
from elman.layers import RNN, BiRNN, StackedRNN
from elman.layers.embedding import Embedding
from elman.layers.encoder_lm import EncoderLM
from elman.layers.word_layer import WordBatch, WordDropout, WordLayer

COUNTS = torch.tensor([0, 0, 0, 0, 5, 3, 2])


def batch(*rows: list[int]) -> WordBatch:
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    none = torch.zeros(*ids.shape, 0, dtype=torch.long)
    return WordBatch(ids, ids > 0, none, ids, torch.zeros(0, 0, dtype=torch.long))


def make(layer: RNN | StackedRNN) -> EncoderLM:
    words = WordLayer([Embedding(7, 3)], None, (), WordDropout(0.0, 1))
    return EncoderLM(words, nn.Identity(), layer, COUNTS).double()


LAYERS = [lambda: RNN(GRU(3, 4)), lambda: StackedRNN([BiRNN(GRU(3, 4), GRU(3, 2))])]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_word_costs_what_the_softmax_of_all_words_says_of_it(layer):
    model, rows = make(layer()), [[4, 5, 6, 4], [5, 6]]
    expected = []
    for direction, P in enumerate(model.P):
        for row in rows:
            read = row[::-1] if direction else row
            one = model.layer.backward_rnn if direction else getattr(model.layer, "forward_rnn", model.layer)
            xs = model.words.embed[0](torch.tensor([read[::-1] if direction else read]))
            ys = one(xs, torch.ones(1, len(row), dtype=torch.bool))[0][0]
            ys = ys.flip(0) if direction else ys
            logits = P(ys[:-1]) @ model.words.embed[0].E.weight.T + model.b
            expected += (-logits.log_softmax(-1)[range(len(row) - 1), read[1:]]).tolist()
    assert sorted(model.nll(batch(*rows)).tolist()) == pytest.approx(sorted(expected))


@pytest.mark.parametrize("layer", LAYERS)
def test_in_training_a_word_competes_with_those_of_the_batch_the_less_the_more_frequent_they_are(layer):
    model = make(layer())
    words = batch([4, 5, 6, 4], [5, 6, 5])
    share = COUNTS.clamp(min=1).double() / COUNTS.sum()
    expected = []
    for ys, targets in model(words):
        rivals = sorted({*targets.tolist()})
        often = [1 - math.exp(-len(targets) * float(share[w])) for w in rivals]
        z = ys @ model.words.embed[0].E.weight[rivals].T + model.b[rivals]
        chosen = [rivals.index(w) for w in targets.tolist()]
        weighed = (z - torch.tensor(often).log()).log_softmax(-1)
        expected.append(-weighed[range(len(targets)), chosen].mean().item())
    assert len(expected) == len(model.P)
    assert model.loss(words).item() == pytest.approx(sum(expected) / len(expected), rel=1e-5)


@pytest.mark.parametrize("layer", LAYERS)
def test_at_first_words_are_as_likely_as_they_are_frequent(layer):
    model = make(layer())
    for P in model.P:
        nn.init.zeros_(P.weight)
    costs = model.nll(batch([4, 5, 6]))
    said = [5, 6] if len(model.P) == 1 else [5, 6, 4, 5]
    share = COUNTS.clamp(min=1).double()
    assert costs.tolist() == pytest.approx((-(share / share.sum())[said].log()).tolist(), rel=1e-6)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_batch_of_one_word_or_of_none_has_nothing_to_tell_apart(layer):
    for words in (batch([4, 4, 4], [4, 4]), batch([4], [5])):
        model = make(layer())
        loss = model.loss(words)
        loss.backward()
        assert loss.item() == 0
        assert all(p.grad is None or not p.grad.any() for p in model.parameters())
