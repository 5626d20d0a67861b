"""What docs/reliability.md promises: the same bits for the same seed, digits for other threads and batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

import elman
from elman.decoding import Beam, Greedy
from elman.generation import GenerationConfig, Sampling
from elman.inspect.executors import executor_choices

ROWS = [("when was that", "time"), ("what year", "time"), ("where was that", "place"), ("a town", "place")] * 4
TAGGED = [(["Ann", "saw", "Bob"], ["N", "V", "N"]), (["dogs", "bark"], ["N", "V"])] * 6
PAIRS = [("a b", "b a"), ("b c a", "a c b"), ("c", "c")] * 4
LINES = ["once upon a time", "there was a king", "and a queen, too"] * 6
TINY: dict[str, Any] = {"data": {"holdout": 0.0}, "model": {"embedding": 8, "hidden": 16}}
SUBWORDS: dict[str, Any] = {**TINY, "tokens": {"kind": "bpe", "size": 280}}


def with_cell(cell: str) -> dict[str, Any]:
    """Wide enough for the executors that are compiled."""
    return {**TINY, "model": {"embedding": 8, "hidden": 40, "cell": cell}}


MAKE = {
    "classifier": lambda: elman.Classifier.train(ROWS, epochs=2, recipe=TINY),
    "pairs": lambda: elman.Pairs.train([(a, "that", label) for a, label in ROWS], epochs=1, recipe=TINY),
    "tagger": lambda: elman.Tagger.train(TAGGED, epochs=2, recipe=TINY),
    "seq2seq": lambda: elman.Seq2Seq.train(PAIRS, epochs=2, recipe=TINY),
    "lm": lambda: elman.LanguageModel.train(LINES, epochs=2, recipe=TINY),
    "native": lambda: elman.LanguageModel.train(LINES, epochs=2, recipe=with_cell("gru")),
    "parallel": lambda: elman.Tagger.train(TAGGED, epochs=2, recipe=with_cell("mingru")),
    "subwords": lambda: elman.LanguageModel.train(LINES, epochs=1, recipe=SUBWORDS),
}
ASK = {
    "classifier": lambda m, texts: [m.predict(texts)],
    "tagger": lambda m, texts: [m.tag([text.split() for text in texts])],
    "seq2seq": lambda m, texts: [m.translate(texts)],
    "lm": lambda m, texts: [[str(t) for t in m.generate(texts[0], how, max_tokens=9)] for how in STRATEGIES],
}
STRATEGIES = (Greedy(), Beam(width=3), Sampling(seed=3))
TEXTS = ["a b c", "when was it", "b", "Ann saw the town"]


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {task: make() for task, make in MAKE.items()}


@pytest.mark.parametrize("task", MAKE)
def test_the_same_seed_trains_the_same_bits(models, task):
    again, known = MAKE[task]().net.state_dict(), models[task].net.state_dict()
    assert all(torch.equal(weight, again[name]) for name, weight in known.items())


@pytest.mark.parametrize("task", ASK)
def test_the_same_question_has_the_same_bits_and_the_same_answer_with_more_threads(models, task):
    model = models[task]
    first = ASK[task](model, TEXTS)
    assert ASK[task](model, TEXTS) == first
    with threads(2):
        assert texts_of(ASK[task](model, TEXTS)) == texts_of(first)


def texts_of(answers: list[Any]) -> list[Any]:
    """Answers without their probabilities."""
    return [[getattr(one, "label", one) for one in some] for some in answers]


@pytest.mark.parametrize("task", ["classifier", "tagger", "seq2seq"])
def test_many_at_once_are_answered_as_one_by_one(models, task):
    model = models[task]
    alone = [ASK[task](model, [text])[0][0] for text in TEXTS]
    assert texts_of([alone]) == texts_of(ASK[task](model, TEXTS))


def test_scores_agree_to_five_digits_whatever_stands_beside_a_line_and_with_more_threads(models):
    lm = models["lm"]
    together = [float(score) for score in lm.scores(TEXTS)]
    assert [float(lm.score(text)) for text in TEXTS] == pytest.approx(together, rel=1e-5)
    with threads(2):
        assert [float(score) for score in lm.scores(TEXTS)] == pytest.approx(together, rel=1e-5)


@pytest.mark.parametrize("task", ["lm", "subwords", "native"])
def test_three_samples_begin_with_the_one(models, task):
    rules = GenerationConfig(max_tokens=12)
    for seed in range(5):
        one, three = (
            [text.text for text in models[task].generate("once ", Sampling(seed=seed), n=n, config=rules)]
            for n in (1, 3)
        )
        assert three[:1] == one


@pytest.mark.parametrize(("task", "name"), [("native", "cpu"), ("parallel", "parallel")])
def test_wide_models_are_trained_by_compiled_executors(models, task, name):
    choices = executor_choices(models[task].net)
    assert any(choice.executor == name for choice in choices if choice.mode.startswith("training")), choices
