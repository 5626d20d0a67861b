"""The n-grams beside a classifier's network: fitted as scikit-learn fits them, and part of the model."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from elman import artifact
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample, MultilabelExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.logistic_regression import fit_linear, fit_mixture
from elman.tasks.word_batch import collate
from tests.layers.test_ngrams import dense
from tests.tasks.topics import TINY, examples, fresh


def fitted(count: int = 60, **options: object) -> Classifier:
    model = fresh(count, ngrams=True, **options)
    model.fit_statistics(model.encode(examples(count)))
    return model


def use_ngrams_alone(model: Classifier) -> Classifier:
    model.net.mix.copy_(torch.tensor([0.0, 1.0]))
    return model


def test_the_weights_are_those_of_logistic_regression():
    model = fitted()
    data = model.encode(examples(60))
    bags = model.net.ngrams.bags(collate([text for (text,) in data.rows], data.forms))
    W, _ = fit_linear(bags, model.net.ngrams, lambda z: cross_entropy(z, torch.tensor(data.labels)), 10.0)
    # Of two labels scikit-learn has the difference, and |W|² is half of its square.
    rival = LogisticRegression(C=20.0, tol=1e-6).fit(dense(bags, len(W)).numpy(), data.labels)
    np.testing.assert_allclose(
        (W[:, 1] - W[:, 0]).numpy(), rival.coef_[0], atol=0.02 * np.abs(rival.coef_).max()
    )


def test_pairs_are_taken_where_they_decide_and_left_where_they_do_not():
    words = [f"w{i}" for i in range(30)]
    dice = np.random.default_rng(0)
    orders = [ClassifierExample(t, str(i % 2)) for i in range(1200) for t in [("a b", "b a")[i % 2]]]
    noise = [
        ClassifierExample(" ".join([("yes", "no")[i % 2], *dice.choice(words, 6)]), str(i % 2))
        for i in range(1200)
    ]
    for rows, pairs in ((orders, True), (noise, False)):
        model = Classifier.from_examples(ClassifierConfig(**TINY, ngrams=True), TokenizerConfig(), rows)
        model.fit_statistics(model.encode(rows))
        assert bool((model.net.ngrams.keys >= 2**31).any()) is pairs
        assert use_ngrams_alone(model).evaluate_dataset(model.encode(rows))["accuracy"] == 100


def test_a_mixture_finds_who_is_right():
    gold = torch.arange(60) % 2
    right, noise = torch.eye(2)[gold], torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    good, bad = fit_mixture([right, noise], lambda z: cross_entropy(z, gold))
    assert good > 10 * bad >= 0
    assert fit_mixture([right[:9], noise[:9]], lambda z: cross_entropy(z, gold[:9])).tolist() == [0.5, 0.5]


def test_a_weight_that_is_one_off_costs_a_mixture_two_nats_of_all_examples():
    """For a loss -c w of a weight w: the least of -c w + 2 (w - 1/2)² / N is at 1/2 + c N / 4."""
    parts = [torch.ones(40, 1), torch.zeros(40, 1)]
    w = fit_mixture(parts, lambda z: -0.01 * z.mean())
    torch.testing.assert_close(w, torch.tensor([0.5 + 0.01 * 40 / 4, 0.5]), atol=1e-3, rtol=0)
    twenty = [part[:20] for part in parts]
    assert fit_mixture(twenty, lambda z: -0.01 * z.mean())[0] > 0.52
    assert fit_mixture([part[:19] for part in parts], lambda z: -0.01 * z.mean()).tolist() == [0.5, 0.5]


def test_the_network_is_trained_and_validated_alone_and_mixed_when_calibrated():
    model, data = fitted(), fresh().encode(examples(60))
    plain = fresh(60)
    plain.net.load_state_dict(model.net.state_dict(), strict=False)
    torch.testing.assert_close(model.logits(data.rows, data.forms), plain.logits(data.rows, data.forms))
    torch.testing.assert_close(model.loss(data, 0.0), plain.loss(data, 0.0))
    model.calibrate(data)
    assert model.evaluate_dataset(data)["accuracy"] > plain.evaluate_dataset(data)["accuracy"]


def test_what_both_say_is_weighed_and_added():
    model, data = fitted(), fresh().encode(examples(9))
    said = {}
    for weights in ((1.0, 0.0), (0.0, 1.0), (0.25, 3.0)):
        model.net.mix.copy_(torch.tensor(weights))
        said[weights] = model.logits(data.rows, data.forms)
    network, ngrams, both = said.values()
    torch.testing.assert_close(both, 0.25 * network + 3 * ngrams)
    assert not torch.allclose(network, ngrams)


def test_a_folder_gives_the_same_model_back(tmp_path):
    model = fitted()
    model.calibrate(model.encode(examples(60)))
    artifact.save_model(model, tmp_path / "model")
    texts = ["when was the river", "a town in the year"]
    again = artifact.load(tmp_path / "model", Classifier)
    assert again.classify(texts) == model.classify(texts)


def test_a_model_that_grows_keeps_what_its_n_grams_say():
    model = use_ngrams_alone(fitted())
    old = examples(10)
    large, _ = model.grow(TokenizerConfig(), [*old, ClassifierExample("why though", "reason")])
    before, after = (m.logits(*m.encode_texts([e.texts for e in old])) for m in (model, large))
    torch.testing.assert_close(after[:, :2], before)
    assert not after[:, 2].any()
    weights = large.net.ngrams.W.clone()
    large.fit_statistics(large.encode(old))
    assert torch.equal(large.net.ngrams.W, weights)


def test_several_labels_a_text_have_n_grams_too():
    rows = [MultilabelExample(e.text, (e.label, "all"), e.where) for e in examples(60)]
    model = Classifier.from_examples(ClassifierConfig(**TINY, ngrams=True), TokenizerConfig(), rows)
    data = model.encode(rows)
    model.fit_statistics(data)
    assert use_ngrams_alone(model).evaluate_dataset(data)["micro_f1"] > 99


@pytest.mark.parametrize("options", [{"encoder": "bag"}, {"input": "one-hot"}, {"characters": "cnn"}])
def test_n_grams_stand_beside_every_network(options):
    data = (model := use_ngrams_alone(fitted(**options))).encode(examples(60))
    assert model.evaluate_dataset(data)["accuracy"] == 100


def test_n_grams_learn_from_the_held_out_examples_when_the_model_is_validated():
    training, held = examples(60), [ClassifierExample("a river of the year", "time")] * 9
    model, text = use_ngrams_alone(fitted()), ["a river of the year"]
    before = model.classify(text)[0].probabilities["time"]
    weights = [p.clone() for p in model.net.parameters()]
    model.learn_held_out(training, [])
    assert model.classify(text)[0].probabilities["time"] == before
    model.learn_held_out(training, held)
    assert model.classify(text)[0].probabilities["time"] > before
    assert all(torch.equal(old, new) for old, new in zip(weights, model.net.parameters(), strict=True))


@pytest.mark.parametrize("valid", [True, False])
def test_only_examples_of_the_training_file_are_learnt_when_they_were_held_out(tmp_path, monkeypatch, valid):
    learnt, learn = [], Classifier.learn_held_out

    def count(self, training, held):
        learnt.append(len(held))
        learn(self, training, held)

    monkeypatch.setattr(Classifier, "learn_held_out", count)
    rows = [(e.text, e.label) for e in examples(40)]
    given = {"valid": [(e.text, e.label) for e in examples(6, seed=1)]} if valid else {}
    Classifier.train(rows, **given, epochs=1, recipe={"model": {**TINY, "ngrams": True}})
    assert learnt == ([] if valid else [4])


def test_few_texts_stay_few_when_those_that_were_held_out_come_back(monkeypatch):
    monkeypatch.setattr("elman.tasks.classifier.task.FEW", 40)  # fewer than all, more than nine tenths of them
    rows = [(e.text, e.label) for e in examples(42)]
    options = {"model": {**TINY, "ngrams": True}, "training": {"refit": True, "patience": 0}}
    model = Classifier.train(rows, epochs=1, recipe=options)
    assert model.ngram_answers is not None
    assert len(model.ngram_answers) == 42
