"""Gradient × input: what it must add up to, and what a difference quotient says."""

from functools import partial

import numpy as np
import pytest
import torch

from elman.inspect.text_explanation import explain
from elman.tasks.word_batch import collate
from tests.inspect.models import SENTENCE, TEXT, classifier, lm, logits, slope, tagger
from tests.tasks.names import OUTPUTS


def test_of_a_linear_model_the_shares_add_up_to_the_score():
    model = classifier(encoder="bag")
    (found,) = explain(model, TEXT).saliency
    names = model.labels.items
    best, other = names.index(found.answer), names.index(found.other)
    with torch.no_grad():
        z, b = logits(model, TEXT), model.net.decide[-1].bias
        expected = float((z - b)[best] - (z - b)[other])
    assert found.shares.sum() == pytest.approx(expected, rel=1e-9)
    assert z[best] > z[other]


@pytest.mark.parametrize("pool", ["last", "max", "attention"])
def test_a_share_of_a_classifier_is_how_its_score_grows_with_the_token(pool):
    model = classifier(pool=pool, bidirectional=pool != "last", layers=2)
    reading = explain(model, TEXT)
    (found,) = reading.saliency
    assert (found.of, found.answer) == ("the text", model.classify([TEXT])[0].label)
    names = model.labels.items
    best, other = names.index(found.answer), names.index(found.other)

    def score():
        z = logits(model, TEXT)
        return z[best] - z[other]

    quotients = [slope(score, model.net.words, i) for i in range(len(reading.tokens))]
    np.testing.assert_allclose(found.shares, quotients, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_share_of_a_tagger_is_how_the_log_odds_of_two_tags_grow_with_the_word(output):
    model = tagger(output, layers=2)
    words, tags = SENTENCE.split(), model.tagsets[0].labels.items
    reading = explain(model, SENTENCE)
    answers = [tags.index(s.answer) for s in reading.saliency]
    assert [s.of for s in reading.saliency] == words
    assert model.tagsets[0].decode(answers) == model.tag([words])[0]
    # The head that feeds tags back computes in float32: larger steps, and coarser quotients.
    step, close = (3e-3, 1e-3) if output == "autoregressive" else (1e-5, 1e-6)
    for place, found in enumerate(reading.saliency):
        pair = tags.index(found.answer), tags.index(found.other)
        score = partial(LOG_ODDS[output], model, words, place, pair, answers)
        quotients = [slope(score, model.net.words, i, e=step) for i in range(len(words))]
        np.testing.assert_allclose(found.shares, quotients, rtol=close, atol=close)


def of_scores(model, words, place, pair, answers):
    inputs = collate(*model.featurizer.sentences([words]))
    z = model.net.heads[0].emit(model.net(inputs))[0, place]
    return z[pair[0]] - z[pair[1]]


def of_marginals(model, words, place, pair, answers):
    inputs = collate(*model.featurizer.sentences([words]))
    p = model.net.heads[0].marginals(model.net(inputs), inputs.mask)[0, place]
    return p[pair[0]].log() - p[pair[1]].log()


def of_paths(model, words, place, pair, answers):
    inputs = collate(*model.featurizer.sentences([words]))
    changed = [*answers[:place], pair[1], *answers[place + 1 :]]
    ys, head = model.net(inputs), model.net.heads[0]
    right, wrong = (head.loss(ys, torch.tensor([p]), inputs.mask) for p in (answers, changed))
    return wrong - right


LOG_ODDS = {"softmax": of_scores, "crf": of_marginals, "autoregressive": of_paths}


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_a_tag_is_held_against_the_likeliest_other_one(output):
    model = tagger(output)
    words, tags = SENTENCE.split(), model.tagsets[0].labels.items
    inputs = collate(*model.featurizer.sentences([words]))
    chances = model.net.heads[0].marginals(model.net(inputs), inputs.mask)[0].detach()
    for found, p in zip(explain(model, SENTENCE).saliency, chances, strict=True):
        others = {tag: float(x) for tag, x in zip(tags, p, strict=True) if tag != found.answer}
        assert found.other == max(others, key=others.get)


@pytest.mark.parametrize("word", [None, 2])
def test_a_share_of_a_language_model_is_how_a_token_grows_likelier_with_those_before(word):
    model, text = lm(), "Once upon a tide"
    reading = explain(model, text, word=word)
    (found,) = reading.saliency
    ids = [model.end, *model.tokenizer.encode(text)]
    best, other = (model.tokenizer.items.index(t) for t in (found.answer, found.other))
    place = len(ids) - 1 if word is None else word - 1

    def score():
        z = model.net(torch.tensor([ids]))[0, place]
        return z[best] - z[other]

    quotients = [slope(score, model.net.embed, i, time=0) for i in range(len(ids))]
    np.testing.assert_allclose(found.shares, quotients, rtol=1e-5, atol=1e-9)
    z = model.net(torch.tensor([ids]))[0, place]
    if word is None:
        assert best == int(z.argmax())
    else:
        assert found.answer == "upon"
        assert not found.shares[place + 1 :].any()


def test_looking_leaves_no_trace():
    model = classifier(pool="attention", dropout=0.5)
    model.net.train()
    first = explain(model, TEXT)
    assert model.net.training
    assert all(weight.grad is None for weight in model.net.parameters())
    np.testing.assert_array_equal(explain(model, TEXT).saliency[0].shares, first.saliency[0].shares)
    assert not any(module._forward_hooks for module in model.net.modules())
