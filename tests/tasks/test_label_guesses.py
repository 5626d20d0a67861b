"""Labels of texts that have none: guessed from which words go together, and trained on as probabilities."""

import random

import numpy as np
import pytest
import torch
from sklearn.naive_bayes import MultinomialNB
from torch.nn.functional import cross_entropy, normalize, one_hot

from elman.layers.ngrams import Bags
from elman.tasks.classifier.guesses import ClassifierPretrainingConfig
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample, MultilabelExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_decision import LossOptions
from elman.tasks.label_guesses import guess_labels
from elman.tasks.latent_semantics import find_topics
from elman.tasks.logistic_regression import fit_dense
from elman.tasks.naive_bayes import fit_naive_bayes
from elman.tasks.softmax_decision import SoftmaxDecision
from tests.layers.test_ngrams import dense
from tests.tasks.topics import TINY

CONFIG = ClassifierPretrainingConfig()


def write_topics(count: int, seed: int = 0) -> list[ClassifierExample]:
    """Texts of five words; each of two topics has 150 words of its own, of which a text has three."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        topic = number % 2
        words = [f"{'ab'[topic]}{dice.randrange(150)}" for _ in range(3)]
        words += [f"c{dice.randrange(20)}" for _ in range(2)]
        found.append(ClassifierExample(" ".join(words), ("first", "second")[topic]))
    return found


def build(rows: list[ClassifierExample], texts: list[str]) -> Classifier:
    model = Classifier.from_examples(ClassifierConfig(**TINY), TokenizerConfig(), rows)
    return model.add_words(TokenizerConfig(), texts)


def sparse(matrix: torch.Tensor) -> Bags:
    rows, columns = matrix.nonzero(as_tuple=True)
    return Bags(rows, columns, matrix[rows, columns], len(matrix))


def test_texts_without_labels_make_guesses_better():
    rows, others = write_topics(60), write_topics(600, 1)
    texts = [e.text for e in others]
    model = build(rows, texts)
    found, facts = model.guess_labels(model.encode(rows), texts, CONFIG)
    guesses = torch.stack(found.labels[60:])
    gold = torch.tensor([model.labels.id(e.label, "") for e in others])
    assert facts["guessed"] == len(guesses) == 600
    assert (guesses.argmax(1) == gold).float().mean() > 0.95
    assert facts["right"] > facts["right_without"] + 10
    torch.testing.assert_close(guesses.sum(1), torch.ones(600))


def test_texts_that_say_nothing_of_the_labels_are_left_out():
    dice = random.Random(0)
    rows = [ClassifierExample(f"{('yes', 'no')[i % 2]} x{i % 7}", str(i % 2)) for i in range(60)]
    texts = [f"n{dice.randrange(30)} n{dice.randrange(30)}" for _ in range(100)]
    model = build(rows, texts)
    data = model.encode(rows)
    found, facts = model.guess_labels(data, texts, CONFIG)
    assert found is data
    assert facts["guessed"] == 0
    assert facts["right_without"] == 100


@pytest.mark.parametrize("case", ["few", "asked", "known", "several"])
def test_nothing_is_guessed(case):
    rows: list = write_topics(20 if case == "few" else 60)
    texts = [e.text for e in (rows if case == "known" else write_topics(100, 1))]
    if case == "several":
        rows = [MultilabelExample(e.text, (e.label,)) for e in rows]
    model = build(rows, texts)
    data = model.encode(rows)
    options = ClassifierPretrainingConfig(guess=case != "asked")
    assert model.guess_labels(data, texts, options) == (data, {})


def test_no_more_texts_are_guessed_than_asked_for():
    rows, texts = write_topics(60), [e.text for e in write_topics(600, 1)]
    model = build(rows, texts)
    found, facts = model.guess_labels(model.encode(rows), texts, ClassifierPretrainingConfig(guess_texts=200))
    assert facts["guessed"] == 200
    assert len(found) == 260


def test_naive_bayes_counts_as_scikit_learn_does():
    dice = torch.Generator().manual_seed(0)
    X = torch.randint(0, 3, (40, 12), generator=dice).float()
    gold = torch.arange(40) % 3
    bags = sparse(X)
    z = fit_naive_bayes(bags, bags.transpose(12), one_hot(gold).float(), torch.ones(40, dtype=torch.bool), 1.0)
    rival = MultinomialNB(alpha=0.5).fit(X.numpy(), gold.numpy())
    prior = np.log((np.bincount(gold) + 1) / 43) - rival.class_log_prior_  # ours is smoothed, too
    np.testing.assert_allclose(
        z.log_softmax(1),
        (torch.tensor(rival.predict_joint_log_proba(X.numpy()) + prior)).log_softmax(1),
        atol=1e-4,
    )


def test_topics_are_the_first_singular_vectors():
    dice = torch.Generator().manual_seed(0)
    X = torch.rand(30, 8, generator=dice) @ torch.rand(8, 50, generator=dice)
    bags = sparse(X)
    found = find_topics(bags, bags.transpose(50), 3)
    U, S, _ = torch.linalg.svd(X, full_matrices=False)
    right = normalize((U * S)[:, :3], dim=1)
    torch.testing.assert_close(found.abs(), right.abs(), atol=1e-3, rtol=1e-3)


def test_a_bag_is_picked_with_its_texts():
    X = torch.tensor([[1.0, 0], [0, 2], [3, 4]])
    kept = torch.tensor([True, False, True])
    torch.testing.assert_close(dense(sparse(X).pick(kept), 2), X[kept])


def test_dense_logistic_regression_has_no_slope_at_its_end():
    dice = torch.Generator().manual_seed(0)
    X, gold = torch.randn(50, 4, generator=dice), one_hot(torch.arange(50) % 3).float()
    W, b = (weight.requires_grad_() for weight in fit_dense(X, gold, 2.0))
    value = cross_entropy(X @ W + b, gold) + W.square().sum() / (2 * 2.0 * 50)
    assert max(g.abs().max() for g in torch.autograd.grad(value, [W, b])) < 1e-3


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 3.0])])
def test_a_guess_that_is_sure_counts_as_a_label(weights):
    decision, options = SoftmaxDecision(), LossOptions(0.1, weights)
    z = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
    soft = [torch.tensor([1.0, 0.0]), 1, torch.tensor([0.0, 1.0])]
    torch.testing.assert_close(decision.loss(z, soft, options), decision.loss(z, [0, 1, 1], options))
    assert decision.weight(soft, weights) == pytest.approx(decision.weight([0, 1, 1], weights))
    torch.testing.assert_close(decision.weigh(soft, 2), decision.weigh([0, 1, 1], 2))


def test_too_few_labels_give_no_guesses():
    assert guess_labels(sparse(torch.ones(20, 3)), 3, torch.arange(10) % 2, 2) is None
