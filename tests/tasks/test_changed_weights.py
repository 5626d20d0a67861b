"""Weights that change between two calls: the answer is that of a copy, which remembers nothing."""

import copy

import pytest

from elman import LanguageModel, Seq2Seq
from elman.decoding.policies import Greedy
from elman.scan import kept_weights

SENTENCES = ["a b c d e", "b c d e a"] * 10
SIDES = [("a b", "b a"), ("b c", "c b")] * 8
STEPPED = {"hidden": 40, "recipe": {"model": {"embedding": 36, "layers": 1}}}


def write(lm):
    texts = lm.generate("a b", Greedy(), max_tokens=5)
    return texts, lm.complete("a ", k=3), lm.stream().next(3)


TASKS = {
    "lm": (lambda: LanguageModel.train(SENTENCES, epochs=1, **STEPPED), write),
    "seq2seq": (
        lambda: Seq2Seq.train(SIDES, epochs=1, **STEPPED),
        lambda model: model.translations(["a b", "c b"], n_best=2),
    ),
}


def assign(weight):
    weight.data.view(-1)[weight.numel() // 2] = 4.0


def negate(weight):
    weight.data.neg_()


@pytest.fixture(scope="module", params=TASKS)
def trained(request):
    make, ask = TASKS[request.param]
    return make(), ask


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("change", [assign, negate])
def test_an_answer_is_that_of_the_weights_as_they_are(trained, change, rounded, monkeypatch):
    monkeypatch.setattr(kept_weights, "_ALL", 0)  # as in large matrices, of which steps look at a sample
    monkeypatch.setattr(kept_weights, "_SAMPLES", 1)
    model, ask = copy.deepcopy(trained[0]), trained[1]
    if rounded:
        for weight in model.net.parameters():
            weight.data.copy_(weight.bfloat16())
    for weight in model.net.parameters():
        ask(model)
        change(weight)
        assert ask(model) == ask(copy.deepcopy(model))


def test_other_weights_that_are_loaded_are_used(trained):
    model, ask = copy.deepcopy(trained[0]), trained[1]
    ask(model)
    model.net.load_state_dict({name: 0.9 * t for name, t in model.net.state_dict().items()})
    assert ask(model) == ask(copy.deepcopy(model))
