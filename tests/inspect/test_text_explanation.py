"""What is seen of each task while it reads a text."""

import re

import numpy as np
import pytest
import torch

from elman.errors import ConfigError, ModelError
from elman.generation import score
from elman.inspect.text_explanation import explain
from elman.tasks.word_batch import collate
from tests.inspect.models import SENTENCE, TEXT, classifier, lm, tagger
from tests.tasks.toy_lm import KINDS


def test_attention_is_the_weight_of_each_token_in_what_is_judged():
    model = classifier(pool="attention")
    alpha = explain(model, TEXT).attention
    words = collate(*model.featurizer.texts([TEXT]))
    with torch.no_grad():
        ys, _ = model.net.encode(model.net.words(words), words.mask)
        pooled = model.net.pool(ys, words.mask)[0]
    assert alpha.sum() == pytest.approx(1)
    np.testing.assert_allclose(alpha @ ys[0].numpy(), pooled, rtol=1e-9)


def test_only_what_attends_has_attention_and_only_what_recurs_has_gates():
    assert explain(classifier(pool="max"), TEXT).attention is None
    assert explain(classifier(encoder="bag"), TEXT).gates == []


@pytest.mark.parametrize("kind", KINDS)
def test_surprise_is_what_score_says_of_every_kind_of_tokens(kind):
    model = lm(kind)
    reading = explain(model, "Once upon")
    found = score(model, "Once upon")
    assert reading.surprisal.tokens == found.tokens
    assert reading.surprisal.nats == pytest.approx([-nats for nats in found.log_probs])
    # What is read is moved on by one: the end stands before the first token.
    assert reading.tokens == [found.tokens[-1], *found.tokens[:-1]]
    assert len(reading.saliency[0].shares) == len(reading.tokens)
    assert all(len(array) == len(reading.tokens) for array in reading.gates[0].values.values())


def test_unknown_and_spelled_words_are_shown_as_they_were_written():
    for options in ({}, {"characters": "cnn"}):
        reading = explain(classifier(**options), "WHEN is xyzzy 12?")
        assert reading.tokens == ["WHEN", "is", "xyzzy", "12", "?"]
        assert len(reading.saliency[0].shares) == 5


def test_of_a_tagger_every_word_and_column_is_explained_or_one_word():
    model = tagger("auto", columns=("ner", "pos"))
    every = explain(model, SENTENCE).saliency
    assert [s.of for s in every] == SENTENCE.split() * 2
    one = explain(model, SENTENCE, word=4).saliency
    assert [s.title for s in one] == [every[3].title, every[8].title]
    np.testing.assert_array_equal(one[1].shares, every[8].shares)


@pytest.mark.parametrize(
    ("make", "text", "word", "error", "message"),
    [
        (classifier, " \t", None, ModelError, "the text is empty"),
        (classifier, "a\nb", None, ModelError, "several lines"),
        (classifier, "a", 1, ConfigError, "leave out the word"),
        (lambda: tagger("crf"), "a b", 3, ConfigError, "word 3 was asked for, but the text has 2"),
        (lm, "a b", 0, ConfigError, "word 0 was asked for"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(make, text, word, error, message):
    with pytest.raises(error, match=message):
        explain(make(), text, word=word)


def test_a_notebook_shows_a_picture_of_the_gates_of_each_layer_and_direction(monkeypatch):
    pytest.importorskip("matplotlib")
    seen = explain(classifier(), TEXT)
    names = re.findall(r'<img alt="gates of (.*?)" src="data:image/png;base64,', seen._repr_html_())
    assert names == [layer.name for layer in seen.gates]
    monkeypatch.setattr("elman.inspect.text_explanation.find_spec", lambda name: None)
    assert seen._repr_html_() is None


def test_an_explanation_says_in_one_line_what_it_holds():
    assert repr(explain(lm(), "a b")).count("\n") == 0
