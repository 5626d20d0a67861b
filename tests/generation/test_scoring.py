"""Scores: products over positions, whatever stands beside a text."""

import itertools
import math

import pytest
import torch

from elman.generation import cursor, score, scores, scoring
from elman.state import leaves
from elman.text.vocab import BOS, PAD
from tests.tasks.toy_lm import KINDS, next_probabilities, real, toy

TEXTS = ["Once upon a time", "", "a", "tide tide unheard-of"]


@pytest.mark.parametrize("make", [toy, real])
@pytest.mark.parametrize("kind", KINDS)
def test_a_score_is_a_product_over_positions_from_the_end_of_nothing_to_the_end(kind, make):
    lm = make(kind)
    for text in TEXTS:
        ids = [*lm.tokenizer.encode(text), lm.end]
        found = score(lm, text)
        expected = [math.log(next_probabilities(lm, ids[:i])[ids[i]]) for i in range(len(ids))]
        assert found.log_probs == pytest.approx(expected)
        assert len(found.tokens) == len(ids)
        assert float(found) == pytest.approx(sum(expected))
        assert found.perplexity == pytest.approx(math.exp(-sum(expected) / len(ids)))


@pytest.mark.parametrize("kind", KINDS)
def test_texts_scored_together_score_as_each_alone(kind):
    lm = real(kind)
    together = scores(lm, TEXTS * 40)
    for text, found in zip(TEXTS * 40, together, strict=True):
        assert found.log_probs == pytest.approx(score(lm, text).log_probs)
    assert scores(lm, []) == []


def test_all_texts_up_to_a_length_and_what_is_longer_sum_to_one():
    lm = toy("whitespace", ["a b"])
    lm.net.output.b.data[[PAD, BOS]] = -math.inf  # no text has these
    words, longest = ["a", "b", "unknown"], 3
    total = 0.0
    for length in range(longest + 1):
        for text in itertools.product(words, repeat=length):
            found = score(lm, " ".join(text))
            total += math.exp(float(found))
            if length == longest:  # whatever follows but the end
                total += math.exp(sum(found.log_probs[:-1])) - math.exp(float(found))
    assert total == pytest.approx(1)


def test_a_score_names_tokens_as_they_were_written():
    assert score(toy("words"), "Once xyz").tokens == ["Once", "xyz", "</s>"]
    assert score(toy("bpe"), "Once up").tokens == ["Once", " up", "</s>"]
    assert score(toy("chars"), "a?").tokens == ["a", "?", "\n"]
    assert score(toy("bytes"), "é").tokens == ["\\xc3", "\\xa9", "\n"]


def test_lines_of_a_text_end_as_those_of_a_corpus():
    lm = toy("words")
    ids = [*lm.tokenizer.encode("a"), lm.end, *lm.tokenizer.encode("time"), lm.end]
    expected = [math.log(next_probabilities(lm, ids[:i])[ids[i]]) for i in range(len(ids))]
    assert score(lm, "a\ntime").log_probs == pytest.approx(expected)


def test_scoring_leaves_a_network_in_training_as_it_was():
    lm = real("words")
    lm.net.train()
    first = score(lm, "Once upon").log_probs
    assert lm.net.training
    assert score(lm, "Once upon").log_probs == first


def test_a_long_text_is_read_in_pieces_and_scores_the_same(monkeypatch):
    lm, text = real("chars"), "Once upon a tide " * 20
    whole, sizes, read = score(lm, text).log_probs, [], lm.net.read

    def watched(state, ids, mask=None):
        sizes.append(ids.numel())
        return read(state, ids, mask)

    monkeypatch.setattr(scoring, "_TOKENS", 50)
    monkeypatch.setattr(lm.net, "read", watched)
    assert scores(lm, ["a", text, "tide"])[1].log_probs == pytest.approx(whole)
    assert max(sizes) == 50
    assert sum(sizes) == len(whole) + 2 * 5  # the short ones stand side by side


def test_a_long_prompt_is_read_in_pieces_and_leads_to_the_same_state(monkeypatch):
    lm, ids = real("chars"), [5, 6, 7] * 40
    whole = cursor.advance(lm, cursor.start_cursor(lm), ids)
    monkeypatch.setattr(cursor, "_PIECE", 7)
    pieces = cursor.advance(lm, cursor.start_cursor(lm), ids)
    assert pieces.token == whole.token
    for (_, one), (_, other) in zip(leaves(pieces.state), leaves(whole.state), strict=True):
        torch.testing.assert_close(one, other)


def test_a_perplexity_that_no_float_holds_is_infinite():
    assert scoring.TextScore(["a"], [-1e6]).perplexity == math.inf
