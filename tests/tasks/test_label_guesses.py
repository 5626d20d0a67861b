"""Labels of texts that have none: guessed from which words go together, and trained on as probabilities."""

import random

import numpy as np
import pytest
import torch
from sklearn.naive_bayes import MultinomialNB
from torch.nn.functional import cross_entropy, one_hot

from elman.layers.ngrams import Bags, NGramModel
from elman.tasks.classifier.guesses import ClassifierPretrainingConfig
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample, MultilabelExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_decision import LossOptions
from elman.tasks.label_guesses import guess_labels
from elman.tasks.latent_semantics import find_topics
from elman.tasks.logistic_regression import fit_dense
from elman.tasks.naive_bayes import fit_naive_bayes
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.word_batch import collate
from tests.layers.test_ngrams import dense
from tests.tasks.topics import TINY

CONFIG = ClassifierPretrainingConfig()
LETTERS = random.Random(0)
WORDS = [
    ["".join(LETTERS.choices("abcdefghijkl", k=6)) for _ in range(150)] for _ in range(3)
]  # spelling says nothing


def write_topics(count: int, seed: int = 0) -> list[ClassifierExample]:
    """Texts of five words; each of two topics has 150 words of its own, of which a text has three."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        topic = number % 2
        words = [*dice.choices(WORDS[topic], k=3), *dice.choices(WORDS[2][:20], k=2)]
        found.append(ClassifierExample(" ".join(words), ("first", "second")[topic]))
    return found


def build(rows: list[ClassifierExample], texts: list[str], **options: object) -> Classifier:
    model = Classifier.from_examples(ClassifierConfig(**TINY, **options), TokenizerConfig(), rows)
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
    W, b = fit_naive_bayes(bags, bags.transpose(12), one_hot(gold).float(), torch.ones(40).bool(), 1.0)
    rival = MultinomialNB(alpha=0.5).fit(X.numpy(), gold.numpy())
    np.testing.assert_allclose(W.T, rival.feature_log_prob_, atol=1e-4)
    np.testing.assert_allclose(b.exp(), (np.bincount(gold) + 1) / 43, atol=1e-4)  # smoothed, too


def test_a_text_without_a_label_says_what_its_words_mean():
    X = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    labels, known = torch.zeros(6, 2), torch.arange(6) < 2
    labels[0, 0] = labels[1, 1] = 1
    bags = sparse(X)
    W, _ = fit_naive_bayes(bags, bags.transpose(4), labels, known, 1.0)
    assert W[2, 0] > W[2, 1]  # it stands beside the word of the first label only
    assert W[3, 1] > W[3, 0]


def test_topics_are_the_first_singular_vectors():
    dice = torch.Generator().manual_seed(0)
    X = torch.rand(30, 8, generator=dice) @ torch.rand(8, 50, generator=dice)
    bags = sparse(X)
    found = find_topics(bags, bags.transpose(50), 3)
    U, S, Vh = torch.linalg.svd(X, full_matrices=False)
    torch.testing.assert_close(found.vectors.abs(), (U * S)[:, :3].abs(), atol=1e-3, rtol=1e-3)
    directions = bags.transpose(50).multiply(found.sources)
    torch.testing.assert_close(directions.abs(), Vh[:3].T.abs(), atol=1e-3, rtol=1e-3)


def test_the_model_of_n_grams_says_what_was_guessed():
    rows, texts = write_topics(60), [e.text for e in write_topics(200, 1)]
    model = build(rows, texts, ngrams=True, casing=True)
    found, _ = model.guess_labels(model.encode(rows), texts, CONFIG)
    said = model.net.ngrams(collate([row for (row,) in found.rows[60:]], found.forms)).softmax(-1)
    torch.testing.assert_close(said, torch.stack(found.labels[60:]))
    assert (model.net.ngrams.keys < 0).any()  # pieces of words are among them
    before = model.net.ngrams.W
    model.learn_held_out(rows, write_topics(40, 3))
    assert model.net.ngrams.W.shape != before.shape or not model.net.ngrams.W.equal(before)


def test_a_bag_is_picked_with_its_texts():
    X = torch.tensor([[1.0, 0], [0, 2], [3, 4]])
    kept = torch.tensor([True, False, True])
    torch.testing.assert_close(dense(sparse(X).pick(kept), 2), X[kept])
    torch.testing.assert_close(dense(sparse(X).drop_first(1), 1), X[:, 1:])


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
    assert guess_labels(NGramModel(3, 2), sparse(torch.ones(20, 3)), torch.arange(10) % 2, 3.0) is None


def test_a_text_that_stands_twice_does_not_tell_its_own_label():
    dice = random.Random(0)
    some = [e._replace(label=dice.choice("ab")) for e in write_topics(120)]  # chance alone
    rows, texts = [*some, *some], [e.text for e in write_topics(200, 1)]
    model = build(rows, texts)
    _, facts = model.guess_labels(model.encode(rows), texts, CONFIG)
    assert facts["right_without"] < 65


def test_without_further_texts_or_with_few_labels_nothing_is_guessed():
    bags = sparse(torch.rand(60, 5))
    gold = torch.arange(60) % 2
    assert guess_labels(NGramModel(5, 2), bags, gold, 3.0) is None
    assert guess_labels(NGramModel(5, 2), bags, gold[:9], 3.0) is None
