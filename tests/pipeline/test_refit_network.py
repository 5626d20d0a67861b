"""A network that is trained anew on all examples, when it has been validated on those that were held out."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import elman
from elman.errors import ConfigError, ModelError
from elman.pipeline import delivery, run_recipe
from elman.pipeline.recipe import Recipe, build
from elman.tasks.classifier.task import Classifier
from tests.pipeline.test_train_recipe import changed, recipe, weights


def refitting(folder: Path) -> Recipe:
    """Twelve updates on 36 of 40 examples, then as many on all."""
    return changed(recipe(folder, valid=""), refit=True, patience=0)


@pytest.fixture
def fail_at(monkeypatch):
    """Make the loss fail at an update, counted over both trainings."""

    def install(at: int) -> None:
        honest, calls = Classifier.loss, []

        def loss(self, batch, progress):
            calls.append(batch)
            if len(calls) == at:
                raise ModelError("out of luck")
            return honest(self, batch, progress)

        monkeypatch.setattr(Classifier, "loss", loss)

    return install


def test_all_examples_are_trained_on_twice_with_the_same_bits(tmp_path, monkeypatch):
    chosen, read, honest = refitting(tmp_path), [], Classifier.build_batches

    def build_batches(self, dataset, data, seed):
        read.append(len(dataset))
        return honest(self, dataset, data, seed)

    monkeypatch.setattr(Classifier, "build_batches", build_batches)
    outcome = run_recipe(chosen, tmp_path / "m")
    assert outcome is not None
    assert read == [36, 40]
    assert outcome.metrics["trained_on"]["examples"] == 40
    assert outcome.metrics["valid"]["examples"] == 4
    run_recipe(chosen, tmp_path / "again")
    run_recipe(changed(chosen, refit=False), tmp_path / "once")
    assert weights(tmp_path / "m") == weights(tmp_path / "again") != weights(tmp_path / "once")


def test_where_it_fails_the_weights_are_those_that_were_validated(tmp_path, fail_at, monkeypatch):
    chosen = refitting(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "refit_network", lambda recipe, model, examples, first: {"examples": 40})
        run_recipe(chosen, tmp_path / "validated")
    fail_at(12 + 7)
    with pytest.raises(ModelError, match="out of luck"):
        run_recipe(chosen, tmp_path / "failed")
    assert weights(tmp_path / "failed") == weights(tmp_path / "validated")


@pytest.mark.parametrize(("more", "stays"), [(0.01, False), (1.0, True)])
def test_where_it_learns_less_the_validated_network_stays(tmp_path, monkeypatch, capsys, more, stays):
    chosen, honest, calls = refitting(tmp_path), Classifier.loss, []
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "refit_network", lambda recipe, model, examples, first: None)
        run_recipe(chosen, tmp_path / "validated")

    def loss(self, batch, progress):
        calls.append(batch)
        return honest(self, batch, progress) + (more if len(calls) > 12 else 0.0)

    monkeypatch.setattr(Classifier, "loss", loss)
    outcome = run_recipe(chosen, tmp_path / "m")
    assert outcome is not None
    assert ("it learnt less" in capsys.readouterr().err) == stays
    assert outcome.metrics["trained_on"]["examples"] == (36 if stays else 40)
    assert (weights(tmp_path / "m") == weights(tmp_path / "validated")) == stays


def test_words_that_were_held_out_are_known(tmp_path):
    lines = [f"word{n} same\t{'ab'[n % 2]}\n" for n in range(40)]
    (tmp_path / "t.tsv").write_text("text\tlabel\n" + "".join(lines))
    chosen = changed(recipe(tmp_path, train=str(tmp_path / "t.tsv"), valid=""), refit=True, patience=0)
    run_recipe(chosen, tmp_path / "m")
    model = elman.load(tmp_path / "m")
    assert isinstance(model, Classifier)
    assert all(f"word{n}" in model.featurizer.tokenizer.items for n in range(40))


@pytest.mark.parametrize("training", [{"patience": 3}, {"minutes": 1}, {"schedule": "plateau"}])
def test_a_length_that_only_validation_tells_is_refused(training):
    with pytest.raises(ConfigError, match="nothing says how long to train on all examples"):
        build({"task": "classifier", "data": {"train": "a.tsv"}, "training": {"refit": True} | training})


@pytest.mark.parametrize("data", [{"valid": "b.tsv"}, {"holdout": 0}])
def test_where_nothing_is_held_out_it_is_refused(data):
    with pytest.raises(ConfigError, match="here all are trained on"):
        build(
            {
                "task": "classifier",
                "data": {"train": "a.tsv"} | data,
                "training": {"refit": True, "patience": 0},
            }
        )


def test_of_few_texts_folds_say_how_much_the_network_counts(tmp_path, monkeypatch):
    """Beside n-grams each text is judged by a network of the others, then all are trained on."""
    chosen = changed(refitting(tmp_path))
    chosen = replace(chosen, model=replace(chosen.model, ngrams=True))
    read, honest, judged = [], Classifier.build_batches, []

    def build_batches(self, dataset, data, seed):
        read.append({example.text for example in dataset.examples})
        return honest(self, dataset, data, seed)

    def choose_by_folds(self, dataset, said):
        judged.append(said)
        assert len(said) == len(dataset) == 40

    monkeypatch.setattr(Classifier, "build_batches", build_batches)
    monkeypatch.setattr(Classifier, "choose_by_folds", choose_by_folds)
    run_recipe(chosen, tmp_path / "m")
    assert len(judged) == 1
    assert len(read) == 1 + 5 + 1
    assert all(len(texts) < len(read[-1]) for texts in read[1:-1])
    assert set.union(*read[1:-1]) == read[-1]


def test_what_folds_judge_stands_in_the_order_of_the_examples(tmp_path, monkeypatch):
    chosen = refitting(tmp_path)
    chosen = replace(chosen, model=replace(chosen.model, ngrams=True))

    def judge_alone(self, dataset):
        return torch.tensor([float(label) for label in dataset.labels])[:, None]

    seen = []
    monkeypatch.setattr(Classifier, "judge_alone", judge_alone)
    monkeypatch.setattr(
        Classifier, "choose_by_folds", lambda self, data, said: seen.append((data.labels, said[:, 0].tolist()))
    )
    run_recipe(chosen, tmp_path / "m")
    assert seen[0][0] == seen[0][1]
