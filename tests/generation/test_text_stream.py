"""Streams: the same as the whole text, at any place, in any process."""

import json
import math
import subprocess
import sys
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import Greedy
from elman.errors import ConfigError, ModelError
from elman.generation import GenerationConfig, Sampling, TextStream, complete, generate, score
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import LanguageModel, LanguageModelConfig
from tests.generation.test_word_completion import ascii_only, ways
from tests.tasks.toy_lm import KINDS, next_probabilities, real, toy, writable

TEXT = "Once upon a time , the upper tide\ndon't go 汉 on"


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(cuts), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize("make", [toy, real])
@pytest.mark.parametrize("kind", KINDS)
def test_streamed_is_whole_wherever_the_text_is_cut(kind, make):
    lm = make(kind)
    whole = score(lm, TEXT)

    @given(st.lists(st.integers(0, len(TEXT))), st.booleans())
    def law(cuts, asking):
        stream = TextStream(lm)
        for piece in pieces(TEXT, cuts):
            if asking:  # what it computes for the answer is not computed again
                stream.next(1)
            stream.feed(piece)
        stream.end()
        assert stream.log_probability == pytest.approx(float(whole))
        assert stream.tokens == len(whole.tokens)
        assert stream.pending == ""

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_tokens_are_those_after_the_whole_text(kind):
    lm = toy(kind)
    stream = TextStream(lm)
    for line in ("Once up", "on a", " time\n"):
        stream.feed(line)
    ids = [*lm.tokenizer.encode("Once upon a time"), lm.end]
    expected = writable(lm, next_probabilities(lm, ids))
    found = stream.next(len(expected))
    assert {one.id: one.probability for one in found} == pytest.approx(expected)
    ranked = [one.probability for one in found]
    assert ranked == sorted(ranked, reverse=True)
    assert stream.next(2) == found[:2]


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_what_may_follow_a_pending_word_is_how_it_is_completed(kind):
    lm = toy(kind)
    stream = TextStream(lm)
    stream.feed("Once u")
    stream.feed("p")
    assert stream.pending == "up"
    found = {one.text: one.probability for one in stream.next(10)}
    assert found == pytest.approx({one.rest: one.probability for one in complete(lm, "Once up", 10)})
    assert set(found) == {"", "on", "per"}


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_what_may_follow_a_pending_subword_sums_over_all_ways_to_spell_it(kind):
    lm = ascii_only(toy(kind))
    stream = TextStream(lm)
    stream.feed("Once u")
    context = lm.tokenizer.encode("Once")
    total = sum(p for _, p in ways(lm, b" u", context, exact=False))
    expected: dict[str, float] = {}
    for way, p in ways(lm, b" u", context, exact=False):
        rest = lm.tokenizer.decode(way[len(context) :])[2:]
        if rest:
            expected[rest] = expected.get(rest, 0.0) + p / total
            continue
        for i, q in writable(lm, next_probabilities(lm, way)).items():
            text = "</s>" if i == lm.end else lm.tokenizer.decode([i])
            expected[text] = expected.get(text, 0.0) + p * q / total
    found = {one.text: one.probability for one in stream.next(10_000)}
    assert sum(found.values()) == pytest.approx(1)
    assert found == pytest.approx({text: p for text, p in expected.items() if p > 0})


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_from_a_seed_and_are_read(kind):
    lm = toy(kind)
    written = []
    for _ in range(2):
        stream, policy = TextStream(lm), Sampling(seed=4, top_k=5).policy()
        stream.feed("Once upo")
        written.append([stream.sample(policy) for _ in range(6)])
        assert stream.pending == ""
        assert stream.tokens > 6
    assert written[0] == written[1]


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_the_likeliest_samples_are_what_is_written_greedily(kind):
    lm = toy(kind)
    lm.net.output.b.data[lm.end] -= 20
    [text] = generate(lm, "Once ", Greedy(), config=GenerationConfig(max_tokens=6, min_tokens=6))
    stream = TextStream(lm)
    stream.feed("Once ")
    drawn = [stream.sample(Greedy()) for _ in range(6)]
    assert "" not in drawn
    assert (" " if kind == "words" else "").join(drawn) == text.continuation
    assert math.isclose(stream.log_probability, sum(text.log_probs) + sum(score(lm, "Once ").log_probs[:-1]))


def test_a_sample_is_drawn_as_often_as_it_is_probable():
    lm = toy("whitespace", ["a b c"])
    policy, counts, rounds = Sampling(seed=0).policy(), dict.fromkeys(["a", "b", "c", ""], 0), 500
    start = TextStream(lm).to_bytes()
    for _ in range(rounds):
        counts[TextStream.from_bytes(lm, start).sample(policy)] += 1
    for one in TextStream(lm).next(4):
        share = counts["" if one.id == lm.end else one.text] / rounds
        assert abs(share - one.probability) < 4 * math.sqrt(one.probability / rounds)


def test_a_word_that_no_known_one_begins_with_is_taken_as_it_stands():
    lm = toy("words")
    stream = TextStream(lm)
    stream.feed("xyz")
    assert [(one.text, one.probability) for one in stream.next()] == [("", 1.0)]
    assert stream.sample() == ""
    other = TextStream(lm)
    other.feed("xyz ")
    assert stream.next() == other.next()


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_restore_a_stream_in_mid_word(kind):
    lm = real(kind)
    stream = TextStream(lm)
    stream.feed("Once\nupo")
    data = stream.to_bytes()
    again = TextStream.from_bytes(lm, data)
    for one in (stream, again):
        one.feed("n a\n")
    assert again.next() == stream.next()
    assert again.log_probability == stream.log_probability
    assert again.tokens == stream.tokens


def test_bytes_restore_a_stream_in_another_process():
    stream = TextStream(real("bpe"))
    stream.feed("Once upo")
    program = """
import json, sys
from tests.tasks.toy_lm import real
from elman.generation import TextStream
stream = TextStream.from_bytes(real("bpe"), sys.stdin.buffer.read())
stream.feed("n a time")
stream.end()
json.dump([stream.log_probability, stream.tokens], sys.stdout)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=stream.to_bytes(), capture_output=True, check=True)
    stream.feed("n a time")
    stream.end()
    assert json.loads(done.stdout) == [pytest.approx(stream.log_probability), stream.tokens]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_as_small_after_much_text_as_after_little(kind):
    stream = TextStream(real(kind))
    stream.feed("Once upon a time ")
    little = len(stream.to_bytes())
    for _ in range(50):
        stream.feed("Once upon a time " * 20)
    assert len(stream.to_bytes()) == little < 4096


def test_a_stream_reads_without_gradients_and_leaves_training_on():
    lm = real("words")
    lm.net.train()
    stream = TextStream(lm)
    stream.feed("Once upon ")
    assert lm.net.training
    assert torch.is_grad_enabled()
    assert stream.next() == stream.next()


def test_bytes_that_are_of_something_else_are_refused():
    words, characters = toy("words"), real("words")
    with pytest.raises(ModelError, match="of a stream of another model"):
        TextStream.from_bytes(words, TextStream(characters).to_bytes())
    with pytest.raises(ModelError, match="not a saved state"):
        TextStream.from_bytes(words, b"something")
    from elman.state import to_bytes

    with pytest.raises(ModelError, match="not those of a stream"):
        TextStream.from_bytes(words, to_bytes(words.net.begin(1)))
    with pytest.raises(ConfigError, match="k is 0"):
        TextStream(words).next(0)


class Counted:
    """A language model whose network counts the tokens that it reads."""

    def __init__(self, lm):
        self.tokenizer, self.net, self.end, self.read = lm.tokenizer, lm.net, lm.end, 0
        plain_step, plain_read = lm.net.step, lm.net.read

        def step(state, tokens):
            self.read += 1
            return plain_step(state, tokens)

        def read(state, ids, mask=None):
            self.read += ids.shape[1]
            return plain_read(state, ids, mask)

        self.net.__dict__.update(step=step, read=read)


def test_a_token_is_read_once_whether_or_not_somebody_asked_what_comes_next():
    lm = Counted(real("chars"))
    stream = TextStream(lm)
    for letter in "once":
        stream.feed(letter)
        stream.next()
    assert lm.read == len("once") + 1  # and what stands before the text


def test_what_comes_next_follows_the_weights_as_they_are():
    lm = real("chars")
    stream = TextStream(lm)
    stream.feed("onc")
    before = stream.next()
    with torch.no_grad():
        for weight in lm.net.parameters():
            weight.data.mul_(3)
    assert stream.next() != before


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_stream_of_single_precision_is_the_whole_text(cell):
    """Of so many units that single steps have a library where there is a compiler."""
    torch.manual_seed(0)
    config = LanguageModelConfig(cell=cell, hidden=40, embedding=33, layers=2)
    lm = LanguageModel.from_examples(config, TokenizerConfig(kind="chars"), [TEXT])
    lm.net.eval()
    stream = TextStream(lm)
    for letter in TEXT:
        stream.feed(letter)
        stream.next()
    stream.end()
    assert stream.log_probability == pytest.approx(float(score(lm, TEXT)), rel=1e-5)
