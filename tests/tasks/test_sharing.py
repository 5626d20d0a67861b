"""One loaded model in many hands: threads, processes, copies and halves give the same answers."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from elman import Classifier, LanguageModel, Pairs, Seq2Seq, Tagger
from elman.decoding.policies import Greedy

LABELLED = [("good film", "pos"), ("bad film", "neg")] * 8
TAGGED = [(["the", "dog"], ["DET", "NOUN"]), (["a", "cat"], ["DET", "NOUN"])] * 8
SENTENCES = ["a b c d e", "b c d e a"] * 10
SIDES = [("a b", "b a"), ("b c", "c b")] * 8
JUDGED = [("a b", "a b", "yes"), ("a b", "c d", "no")] * 8

TASKS = {
    "classifier": (
        lambda: Classifier.train(LABELLED, epochs=1),
        lambda m: m.classify(["good film", "bad one"]),
    ),
    "tagger": (lambda: Tagger.train(TAGGED, epochs=1), lambda m: m.tag([["the", "cat"], ["a", "dog", "the"]])),
    "lm": (
        lambda: LanguageModel.train(SENTENCES, epochs=1),
        lambda m: (m.generate("a b", Greedy(), max_tokens=5), m.score("a b c"), m.complete("a", k=2)),
    ),
    "seq2seq": (lambda: Seq2Seq.train(SIDES, epochs=1), lambda m: m.translate(["a b", "c b"], beam=2)),
    "pairs": (lambda: Pairs.train(JUDGED, epochs=1), lambda m: m.classify([("a b", "a d")])),
}


@pytest.fixture(scope="module", params=TASKS)
def shared(request):
    """A model, what is asked of it, and its answer."""
    make, ask = TASKS[request.param]
    model = make()
    return model, ask, ask(model)


def test_eight_threads_get_the_same_answers(shared):
    model, ask, answer = shared
    with ThreadPoolExecutor(8) as threads:
        assert all(found == answer for found in threads.map(lambda _: ask(model), range(24)))


def test_copies_give_the_same_answers(shared):
    model, ask, answer = shared
    assert ask(copy.deepcopy(model)) == answer
    assert ask(pickle.loads(pickle.dumps(model))) == answer


def test_a_process_that_was_forked_after_loading_gives_the_same_answers(shared):
    model, ask, answer = shared
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(ask(model)))
    child.start()
    assert ours.poll(30), "the child does not answer"
    assert ours.recv() == answer
    child.join()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_model_in_halves_answers(shared, dtype):
    model, ask, _ = shared
    half = copy.deepcopy(model)
    half.net.to(dtype)
    assert ask(half)
