"""A language model with a mixture of softmaxes, and one with a Mogrifier too, in all that it is asked for."""

from dataclasses import replace
from math import log

import pytest
import torch
from torch import nn

import elman
from elman.decoding import Beam, Greedy
from elman.errors import ConfigError
from elman.generation import Cache, DynamicEval, GenerationConfig, Sampling, TextStream, with_cache
from elman.layers.mixture import Mixture
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from tests.tasks.toy_lm import LINES, next_probabilities, writable

MODEL = LanguageModelConfig(hidden=5, embedding=4, layers=1, mixtures=3)
TEXT = "the tide , the end"


@pytest.fixture(params=[("words", 0), ("chars", 3)], ids=["words", "chars in a Mogrifier"])
def lm(request) -> LanguageModel:
    torch.manual_seed(0)
    kind, rounds = request.param
    model = replace(MODEL, mogrifier_rounds=rounds, mogrifier_rank=min(2, rounds))
    made = LanguageModel.from_examples(model, TokenizerConfig(kind), LINES)
    for weight in made.net.parameters():
        nn.init.normal_(weight)
    made.net.double().eval()
    return made


def test_a_text_scores_what_its_tokens_do_one_by_one(lm):
    ids = [*lm.tokenizer.encode(TEXT), lm.end]
    steps = [next_probabilities(lm, ids[:t])[i] for t, i in enumerate(ids)]
    assert float(lm.score(TEXT)) == pytest.approx(sum(map(log, steps)), rel=1e-9)
    found = lm.evaluate_dataset(lm.encode([TEXT]))["nats_per_token"]
    assert found == pytest.approx(-sum(map(log, steps)) / len(ids), rel=1e-9)


def test_a_stream_reads_what_a_score_does_and_goes_on_from_bytes(lm):
    stream = lm.stream()
    stream.feed(TEXT[:7])
    stream = TextStream.from_bytes(lm, stream.to_bytes())
    stream.feed(TEXT[7:])
    stream.end()
    assert stream.log_probability == pytest.approx(float(lm.score(TEXT)), rel=1e-9)


def test_the_greedy_token_is_the_likeliest(lm):
    prompt = "the tide "
    likeliest = writable(lm, next_probabilities(lm, lm.tokenizer.encode(prompt)))
    best = max(likeliest, key=likeliest.__getitem__)
    (found,) = lm.generate(prompt, Greedy(), config=GenerationConfig(max_tokens=1))
    (same,) = lm.generate(prompt, Beam(width=1), config=GenerationConfig(max_tokens=1))
    assert found.text == same.text
    expected = "" if best == lm.end else lm.tokenizer.decode([best])
    assert found.text[len(prompt) :].strip() == expected.strip()


def test_completions_of_words_are_the_next_probabilities():
    torch.manual_seed(0)
    lm = LanguageModel.from_examples(MODEL, TokenizerConfig("words"), LINES)
    lm.net.eval()
    p = writable(lm, next_probabilities(lm, lm.tokenizer.encode("the")))
    expected = p[lm.tokenizer.encode("tide")[0]] / (1 - p[lm.end])
    found = {one.text: one.probability for one in lm.complete("the ", k=64)}
    assert found["tide"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("how", [Greedy(), Sampling(seed=1), Beam(width=3)], ids=str)
def test_it_writes_with_a_cache_and_with_weights_that_follow(lm, how):
    ways = {"cache": Cache(window=9), "dynamic": DynamicEval(warm=1, steps=2)}
    assert lm.generate(TEXT, how, config=GenerationConfig(max_tokens=4), **ways)
    assert lm.complete(TEXT, k=2, **ways)


def test_a_cache_and_weights_that_stay_change_nothing(lm):
    plain = float(lm.score(TEXT))
    assert float(lm.score(TEXT, cache=Cache(share=0.0))) == pytest.approx(plain, rel=1e-9)
    still = DynamicEval(rate=0.0, decay=0.0, warm=0)
    assert float(lm.score(TEXT, dynamic=still)) == pytest.approx(plain, rel=1e-9)
    stream = lm.stream(cache=Cache(share=0.0))
    stream.feed(TEXT)
    stream = TextStream.from_bytes(with_cache(lm, Cache(share=0.0)), stream.to_bytes())
    stream.end()
    assert stream.log_probability == pytest.approx(plain, rel=1e-9)


def test_it_is_trained_by_a_key_each_stored_and_loaded(tmp_path):
    (tmp_path / "own.txt").write_text("\n".join(LINES * 5), encoding="utf-8")
    recipe = {
        "task": "lm",
        "data": {"train": str(tmp_path / "own.txt"), "streams": 2, "cache": str(tmp_path / "kept")},
        "model": {"hidden": 8, "embedding": 6, "mixtures": 4, "mogrifier_rounds": 2, "weight_drop": 0.1},
        "training": {"lr": 0.02, "epochs": 1},
    }
    trained = elman.train(recipe, str(tmp_path / "model"))
    loaded = elman.load(str(tmp_path / "model"))
    assert isinstance(loaded.net.output, Mixture)
    assert loaded.net.output.softmax.W is loaded.net.embed.E.weight
    assert float(loaded.score(TEXT)) == pytest.approx(float(trained.score(TEXT)), rel=1e-6)
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "lstm after 2 rounds of gating" in card
    assert "4 of them mixed" in card


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ConfigError, match="mixtures is 0"):
        replace(MODEL, mixtures=0)
    with pytest.raises(ConfigError, match="mogrifier_rank is 2, but mogrifier_rounds"):
        replace(MODEL, mogrifier_rank=2)
    with pytest.raises(ConfigError, match="an adaptive softmax is not mixed"):
        replace(MODEL, softmax="adaptive", tied=False)
    with pytest.raises(ConfigError, match="one softmax is no mixture"):
        replace(MODEL, mixtures=1, mixture_dropout=0.2)
