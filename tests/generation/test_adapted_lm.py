"""Scoring, writing and completing with a cache and with weights that follow the text."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import Beam, Greedy
from elman.generation import (
    AdaptedLM,
    Cache,
    DynamicEval,
    GenerationConfig,
    Sampling,
    TextStream,
    complete,
    generate,
    score_running,
    with_cache,
)
from elman.generation.dynamic_eval import Adaptation
from elman.generation.predictor import WrappedLM
from elman.generation.scoring import StreamingNLL
from elman.tasks.language_model import LanguageModel, LanguageModelDataset
from tests.generation.test_text_stream import pieces
from tests.tasks.toy_lm import KINDS, real, writable

LINES = ["once up a tide", "", "a tide , a tide unheard-of", "Once upon"]
TEXT = "\n".join(LINES)
CACHE = Cache(window=7, theta=0.3, share=0.4)
DYNAMIC = DynamicEval(rate=0.01, warm=1, steps=3)
WAYS = [{"cache": CACHE}, {"dynamic": DYNAMIC}, {"cache": CACHE, "dynamic": DYNAMIC}]
HOWS = [Greedy(), Sampling(seed=3), Beam(width=3)]
RULES = GenerationConfig(max_tokens=6)


def weights(lm: LanguageModel) -> list[torch.Tensor]:
    return [p.detach().clone() for p in lm.net.parameters()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "way", [{"cache": Cache(share=0.0, window=5)}, {"dynamic": DynamicEval(rate=0.0, warm=0)}]
)
def test_with_no_share_or_at_rate_zero_nothing_changes(kind, way):
    lm = real(kind)
    assert lm.score(TEXT, **way).log_probs == pytest.approx(lm.score(TEXT).log_probs)
    for how in HOWS:
        (plain,) = lm.generate("Once upo", how, config=RULES)
        (found,) = lm.generate("Once upo", how, config=RULES, **way)
        assert found.text == plain.text
        assert found.log_probs == pytest.approx(plain.log_probs)
    for text in ("a tide\nOnce up", "Once "):
        expected = {one.text: one.probability for one in lm.complete(text)}
        found = {one.text: one.probability for one in lm.complete(text, **way)}
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [{}, *WAYS])
def test_a_text_scored_token_by_token_costs_what_evaluation_says(kind, way):
    lm = real(kind)
    data = lm.encode(LINES)
    found = lm.score(TEXT, **way)
    assert -float(found) == pytest.approx(lm.nll(data, **way))
    for n in (1, 4, len(data) - 1):
        part = LanguageModelDataset(data.ids[:n], None)
        assert -sum(found.log_probs[:n]) == pytest.approx(lm.nll(part, **way)), n
    if way:
        assert float(found) != pytest.approx(float(lm.score(TEXT)))
    together = list(score_running(lm, iter(LINES), **way))
    assert [token for one in together for token in one.tokens] == found.tokens
    assert [p for one in together for p in one.log_probs] == pytest.approx(found.log_probs)


@pytest.mark.parametrize("kind", KINDS)
def test_streamed_is_whole_with_a_cache_wherever_the_text_is_cut(kind):
    lm = real(kind)
    whole = lm.score(TEXT, cache=CACHE)

    @given(st.lists(st.integers(0, len(TEXT))))
    def law(cuts):
        stream = lm.stream(cache=CACHE)
        for piece in pieces(TEXT, cuts):
            stream.feed(piece)
            stream = TextStream.from_bytes(with_cache(lm, CACHE), stream.to_bytes())
        stream.end()
        assert stream.log_probability == pytest.approx(float(whole))
        assert stream.tokens == len(whole.tokens)

    law()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("training", [True, False])
def test_the_weights_are_the_same_bits_afterwards_and_every_call_begins_anew(way, how, training):
    lm = real("words")
    lm.net.train(training)
    before = weights(lm)
    answers = [
        (
            lm.score(TEXT, **way),
            lm.generate(TEXT, how, config=RULES, **way),
            list(lm.generate_iter(TEXT, Greedy(), config=RULES, **way)),
            lm.complete(TEXT, **way),
        )
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert lm.net.training is training
    assert all(map(torch.equal, before, lm.net.parameters()))


@pytest.mark.parametrize("verb", ["score", "generate", "complete"])
def test_an_interrupt_leaves_the_weights_as_they_were(verb, monkeypatch):
    lm = real("chars")
    before, change = weights(lm), Adaptation._change

    def interrupted(self, gradients):
        change(self, gradients)
        if self.seen == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Adaptation, "_change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        getattr(lm, verb)(TEXT, dynamic=DYNAMIC)
    assert all(map(torch.equal, before, lm.net.parameters()))


@pytest.mark.parametrize("kind", ["words", "chars"])
@pytest.mark.parametrize("how", HOWS)
def test_what_is_written_with_a_cache_is_as_probable_as_its_score_says(kind, how):
    lm = real(kind)
    (text,) = lm.generate("once up a tide ", how, config=RULES, cache=CACHE)
    assert text.continuation
    before = len(lm.tokenizer.encode("once up a tide "))
    expected = lm.score(text.text, cache=CACHE).log_probs[before:]
    assert text.log_probs == pytest.approx(expected[: len(text.log_probs)])


def test_completions_with_a_cache_are_those_of_the_formula():
    lm, text = real("words"), "tide a tide a tide up"
    ids = lm.tokenizer.encode("tide a tide a tide")
    with torch.no_grad():
        _, hs = lm.net.read(lm.net.begin(1), torch.tensor([[lm.end, *ids]]))
        y = lm.net.output.logits(hs)[0, -1].softmax(0).numpy()
    scores = np.zeros(len(y))
    for i, h in zip(ids, hs[0], strict=False):
        scores[i] += math.exp(CACHE.theta * float(hs[0, -1] @ h))
    p = (1 - CACHE.share) * y + CACHE.share * scores / scores.sum()
    begun = {w: p[i] for i, w in enumerate(lm.tokenizer.items) if w.startswith("up")}
    found = {one.text: one.probability for one in lm.complete(text, cache=CACHE)}
    assert found == pytest.approx({w: q / sum(begun.values()) for w, q in begun.items()})
    expected = writable(lm, p.tolist())
    stream = lm.stream(cache=CACHE)
    stream.feed("tide a tide a tide ")
    assert {one.id: one.probability for one in stream.next(99)} == pytest.approx(expected)


def test_a_beam_with_a_cache_that_keeps_all_finds_the_likeliest_text():
    lm, cache = real("whitespace", ["a b", "b a"]), Cache(window=9, theta=1.0, share=0.7)
    ended = [[]]
    texts = []
    for _ in range(3):
        texts += ended
        ended = [[*words, word] for words in ended for word in ("a", "b")]
    prompt = "b b b "
    found = lm.generate(
        prompt,
        Beam(width=99, narrow=False, length_penalty=0.0),
        config=GenerationConfig(max_tokens=3),
        cache=cache,
    )[0]
    chances = {
        " ".join(words): sum(lm.score(prompt + " ".join(words), cache=cache).log_probs[3:]) for words in texts
    } | {
        " ".join(words): sum(lm.score(prompt + " ".join(words), cache=cache).log_probs[3:6]) for words in ended
    }
    assert found.continuation == max(chances, key=chances.__getitem__)
    assert found.score == pytest.approx(max(chances.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_dynamic_writes_and_completes_with_the_weights_that_evaluating_the_prompt_leaves(kind):
    lm, prompt = real(kind), "a tide\n" * 5
    ids = torch.tensor([[lm.end, *lm.encode(["a tide"] * 5).ids.tolist()]])
    costs = StreamingNLL(lm.net, 1, dynamic=DYNAMIC)
    for start in range(0, ids.shape[1] - 1, DYNAMIC.steps):
        x, y = (part[:, start : start + DYNAMIC.steps] for part in (ids[:, :-1], ids[:, 1:]))
        costs(x, y, torch.ones_like(y, dtype=torch.bool))
    left = WrappedLM(lm.tokenizer, costs.net, lm.end)
    assert lm.complete(prompt, dynamic=DYNAMIC) == complete(left, prompt) != lm.complete(prompt)
    for how in HOWS:
        found = lm.generate(prompt, how, config=RULES, dynamic=DYNAMIC)
        assert found == generate(left, prompt, how, config=RULES)


def test_what_was_said_in_the_prompt_is_likelier_by_dynamic_evaluation():
    lm, how = real("words"), DynamicEval(rate=0.02, warm=2, steps=4)
    text = "once upper tide\n" * 30 + "once up"
    plain, learnt = (
        {one.text: one.probability for one in lm.complete(text, **way)} for way in ({}, {"dynamic": how})
    )
    assert learnt["upper"] > 0.7 > plain["upper"]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_that_were_read_come_before_what_is_completed(kind):
    lm = real(kind)
    for way in ({}, {"cache": CACHE}):
        following = AdaptedLM(lm, **way)
        for line in LINES[:3]:
            following.read(line)
        found = complete(following, LINES[3])
        assert found == complete(following, LINES[3])
        expected = lm.complete(TEXT, **way)
        assert [one.text for one in found] == [one.text for one in expected]
        assert [one.probability for one in found] == pytest.approx([one.probability for one in expected])


def test_lines_that_were_read_are_learnt_one_after_the_other():
    lm, how = real("words"), DynamicEval(rate=0.02, warm=2, steps=4)
    before, chances = weights(lm), []
    following = AdaptedLM(lm, cache=CACHE, dynamic=how)
    for _ in range(30):
        found = {one.text: one.probability for one in complete(following, "once up")}
        chances.append(found["upper"])
        following.read("once upper tide")
    assert chances[-1] > 0.7 > chances[0]
    assert following.adaptation.seen > how.warm
    assert all(map(torch.equal, before, lm.net.parameters()))


def test_a_window_that_can_never_be_filled_is_not_kept():
    lm = real("chars")
    wide, narrow = (
        [
            (one.text, one.probability)
            for one in lm.complete("Once up", cache=Cache(window=window, theta=0.3, share=0.4))
        ]
        for window in (10**5, 200)
    )
    assert wide == narrow
