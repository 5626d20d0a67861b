"""A run that would not fit is refused with what takes the room and what to change."""

from types import SimpleNamespace

import pytest
from torch import nn

from elman.errors import ElmanError
from elman.pipeline import training_memory
from elman.pipeline.recipe import build
from elman.pipeline.training_memory import check_training_memory
from elman.training.optimizers import count_copies

NET = nn.Linear(999, 1000)  # a million weights: 4 MB


@pytest.fixture
def ask(monkeypatch):
    """What is asked for, where a batch has so many tokens and its activations so many bytes."""

    def check(task="classifier", *, batch=(100, 10), activations=1e6, processes=1, samples=0):
        found, tokens = [], []
        recipe = build({"task": task})
        if samples:
            objective = {"kind": "risk", "samples": samples}
            recipe = build({"task": task, "objective": objective})
        monkeypatch.setattr(recipe.task_class, "largest_batch", lambda batches: batch)
        monkeypatch.setattr(training_memory, "count_processes", lambda: processes)

        def estimate(net, count, longest):
            tokens.append((count, longest))
            return activations

        monkeypatch.setattr(training_memory, "estimate_activations", estimate)
        monkeypatch.setattr(training_memory, "check_memory", lambda *given: found.append(given))
        check_training_memory(recipe, NET, None, "cpu")
        least, what, change, device = found[0]
        return SimpleNamespace(least=least, what=what, change=change, device=device, tokens=tokens[0])

    return check


def test_gradients_optimizer_best_weights_and_half_of_a_batch_must_fit(ask):
    copies = 2 + count_copies(build({"task": "classifier"}).training)
    done = ask()
    assert done.least == copies * 4e6 + 0.5e6
    assert done.what == f"training ({copies * 4:.1f} MB for the weights, 1.0 MB for 100 tokens)"
    assert (done.change, done.device, done.tokens) == ("take a smaller model.hidden", "cpu", (100, 10))


def test_what_is_larger_is_to_be_made_smaller(ask):
    assert ask(activations=1e12).change == "take a smaller data.batch_tokens"
    assert ask("lm", activations=1e12).change == "take a smaller data.streams or data.bptt"
    assert ask(activations=1e12, batch=(100, 50)).change == "take a smaller data.batch_tokens"
    longest = ask(activations=1e12, batch=(100, 51))
    assert longest.change == "take a smaller data.batch_tokens, or shorter texts"


def test_samples_count_and_processes_share(ask):
    assert ask(processes=3).tokens == (34, 10)
    assert ask("seq2seq", samples=4).tokens == (500, 10)


def test_a_run_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(training_memory, "estimate_activations", lambda *given: 1e30)
    recipe = build({"task": "classifier"})
    monkeypatch.setattr(recipe.task_class, "largest_batch", lambda batches: (10, 10))
    with pytest.raises(ElmanError, match=r"take a smaller data\.batch_tokens"):
        check_training_memory(recipe, NET, None, "cpu")
