"""Labelling in the lectures, row by row, each against something that is not Elman."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from torch import nn

from elman.layers import RNN, BiRNN, to_torch
from elman.tasks.tagger.task import Tagger
from tests.tasks.names import examples, fresh


def outputs(model: Tagger, words: tuple[str, ...]) -> torch.Tensor:
    """y_{1:n} (n, 2H, or H in one direction) by PyTorch's LSTM on the rows of E."""
    level, both = model.net.encode.stack[0], model.config.bidirectional
    bare = BiRNN(level.forward_rnn.cell.cell, level.backward_rnn.cell.cell) if both else RNN(level.cell.cell)
    theirs = nn.LSTM(bare.input_size, model.config.hidden, batch_first=True, bidirectional=both)
    theirs.load_state_dict(to_torch(bare))
    xs = model.net.words.embed[0].E.weight[model.featurizer.tokenizer.encode_tokens(words)]
    with torch.no_grad():
        return theirs(xs[None])[0][0]


def scores(model: Tagger, words: tuple[str, ...]) -> np.ndarray:
    """V y_i + b at each position (n, Y)."""
    (head,) = model.net.heads
    V, b = head.emit.weight.detach().numpy(), head.emit.bias.detach().numpy()
    return outputs(model, words).numpy() @ V.T + b


def log_softmax(a: np.ndarray) -> np.ndarray:
    return a - np.log(np.exp(a).sum(-1, keepdims=True))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_row_07_a_loss_at_each_position_is_summed_or_averaged_over_a_sentence(reduction):
    model = fresh(output="softmax", loss=reduction)
    some = examples(4)
    index = {tag: i for i, tag in enumerate(model.tagsets[0].labels.items)}
    losses = []
    for e in some:
        log_p = log_softmax(scores(model, e.words))
        each = [-log_p[i, index[tag]] for i, tag in enumerate(e.tags[0])]
        losses.append(np.sum(each) if reduction == "sum" else np.mean(each))
    assert len({len(e.words) for e in some}) > 1, "or both would be the same but for a factor"
    ours = model.loss(model.encode(some), 0.0).item()
    assert ours == pytest.approx(np.mean(losses), rel=1e-4)


def test_row_50_a_softmax_over_the_tags_at_each_position():
    model = fresh(columns=("pos",))
    items = model.tagsets[0].labels.items
    for e in examples(5, 3):
        p = np.exp(log_softmax(scores(model, e.words)))
        ((tagging,),) = model.analyse([e.words])
        assert tagging.tags == [items[i] for i in p.argmax(1)]
        assert tagging.confidence == pytest.approx(p.max(1).tolist(), abs=1e-5)


def test_row_51_a_crf_scores_the_labels_of_a_sentence_together():
    """p(t) ∝ exp of emissions and transitions, by enumeration; what BIO forbids is left out in the answer."""
    model = fresh(output="crf")
    items, crf = model.tagsets[0].labels.items, model.net.heads[0].crf
    A, begin, end = (p.detach().numpy() for p in (crf.transitions, crf.begin, crf.end))
    index = {tag: i for i, tag in enumerate(items)}
    for e in [e for e in examples(30, 3) if len(e.words) in (2, 3)][:5]:
        emitted, total = scores(model, e.words), {}
        for path in product(range(len(items)), repeat=len(e.words)):
            score = sum(emitted[i, t] for i, t in enumerate(path)) + begin[path[0]] + end[path[-1]]
            total[path] = score + sum(A[a, b] for a, b in pairwise(path))
        log_Z = np.log(sum(np.exp(score) for score in total.values()))
        gold = tuple(index[tag] for tag in e.tags[0])
        assert model.loss(model.encode([e]), 0.0).item() == pytest.approx(
            log_Z - total[gold], rel=1e-4, abs=1e-4
        )
        best = max((p for p in total if _allowed([items[i] for i in p])), key=total.__getitem__)
        assert model.tag([e.words]) == [[items[i] for i in best]]


def _allowed(tags: list[str]) -> bool:
    """I-X stands only after B-X or I-X."""
    return all(tag[0] != "I" or before in (f"B-{tag[2:]}", tag) for before, tag in pairwise(["O", *tags]))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_row_52_the_tag_of_the_word_before_enters_the_cell(bidirectional):
    """P(t | w) = Π_i P(t_i | w, t_{<i}), by PyTorch's LSTM cell that reads [y_i ; T t_{i-1}]."""
    model = fresh(columns=("pos",), output="autoregressive", beam=256, bidirectional=bidirectional)
    (head,) = model.net.heads
    items, H = model.tagsets[0].labels.items, model.config.hidden
    theirs = nn.LSTMCell((1 + bidirectional) * H + model.config.tag_size, H)
    theirs.load_state_dict({k.removesuffix("_l0"): v for k, v in to_torch(head.read).items()})
    e = next(e for e in examples(30, 3, columns=("pos",)) if len(e.words) == 3)
    ys = outputs(model, e.words)
    same = [torch.equal(a, b) for a, b in zip(outputs(model, e.words[:2]), ys, strict=False)]
    assert same == [not bidirectional] * 2, "in one direction no word sees those after it"

    def log_p(path: tuple[int, ...]) -> float:
        state, before, total = (torch.zeros(1, H), torch.zeros(1, H)), len(items), 0.0
        for y, tag in zip(ys, path, strict=True):
            state = theirs(torch.cat([y, head.T.weight[before]])[None], state)
            total += head.emit(state[0]).log_softmax(1)[0, tag].item()
            before = tag
        return total

    with torch.no_grad():
        every = {path: log_p(path) for path in product(range(len(items)), repeat=3)}
    assert sum(np.exp(p) for p in every.values()) == pytest.approx(1, rel=1e-4)
    gold = tuple(items.index(tag) for tag in e.tags[0])
    assert model.loss(model.encode([e]), 0.0).item() == pytest.approx(-every[gold], rel=1e-4)
    best = max(every, key=every.__getitem__)
    assert model.tag([e.words]) == [[items[i] for i in best]]
