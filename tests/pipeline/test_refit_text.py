"""A language model that is trained anew on all of its text, when it has been validated on the end of it."""

import pytest
import torch

import elman
from elman.layers.kneser_ney import KneserNey
from elman.pipeline import run_recipe
from elman.pipeline.recipe import Recipe, build
from elman.tasks.language_model.task import LanguageModel
from elman.text.tables import hold_rows

LINES = [f"{a} {b} {c}" for a in ["the", "a", "one"] for b in ["dog", "cat", "sun"] for c in ["ran", "sat"]] * 4
LAST = "the moon rose"


def refitting(train: object, *, ngrams: int = 0, **training: object) -> Recipe:
    """Six updates on most of a text, then as many on all of it; its last lines have words of their own."""
    return build(
        {
            "task": "lm",
            "data": {"train": train, "bptt": 8, "streams": 2, "holdout": 0.2},
            "tokens": {"kind": "whitespace"},
            "model": {"hidden": 8, "embedding": 8, "layers": 1, "dropout": 0.0, "ngrams": ngrams},
            "training": {"updates": 6, "refit": True, "baseline": False} | training,
        }
    )


@pytest.fixture(params=["a file", "memory"])
def text(request, tmp_path):
    lines = [*LINES, *[LAST] * 3]
    if request.param == "memory":
        return hold_rows(lines)
    (tmp_path / "a.txt").write_text("".join(f"{line}\n" for line in lines))
    return str(tmp_path / "a.txt")


def test_the_end_of_the_text_is_read_the_second_time(text, tmp_path, monkeypatch):
    read, honest = [], LanguageModel.build_batches

    def build_batches(self, dataset, data, seed):
        read.append([self.tokenizer.items[i] for i in dataset.ids])
        return honest(self, dataset, data, seed)

    monkeypatch.setattr(LanguageModel, "build_batches", build_batches)
    outcome = run_recipe(refitting(text), tmp_path / "m")
    assert outcome is not None
    first, second = read
    assert "rose" not in first
    assert second[: len(first)] == first
    assert second[-4:-1] == LAST.split()
    assert outcome.metrics["trained_on"]["tokens"] == len(second)
    assert set(LAST.split()) <= set(outcome.model.tokenizer.items)


def test_the_ngrams_are_those_of_all_of_the_text_as_much_as_was_chosen(text, tmp_path, monkeypatch):
    chosen, honest = [], LanguageModel.calibrate

    def calibrate(self, dataset):
        scores = honest(self, dataset)
        chosen.append(float(self.net.ngrams.share))
        return scores

    monkeypatch.setattr(LanguageModel, "calibrate", calibrate)
    outcome = run_recipe(refitting(text, ngrams=3), tmp_path / "m")
    assert outcome is not None
    model = outcome.model
    ids = model.encode([*LINES, *[LAST] * 3]).ids
    counted = KneserNey.fit(ids, model.net.vocabulary, order=3, first=model.end)
    costs = (ngrams.text_nll(ids, model.end) for ngrams in (model.net.ngrams.ngrams, counted))
    torch.testing.assert_close(*costs, rtol=0, atol=0)
    assert [float(model.net.ngrams.share)] == chosen
    assert elman.load(tmp_path / "m", elman.LanguageModel).perplexity([LAST]) == model.perplexity([LAST])


def test_the_network_of_the_second_training_is_as_if_there_were_no_ngrams(text, tmp_path):
    plain, mixed = (run_recipe(refitting(text, ngrams=n), tmp_path / str(n)) for n in (0, 3))
    assert plain is not None
    assert mixed is not None
    for name, weight in plain.model.net.named_parameters():
        assert torch.equal(weight, mixed.model.net.get_parameter(name)), name
