"""Labels of texts that have none, guessed by models that learn from the texts, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import torch
from torch.nn.functional import cross_entropy, log_softmax

from elman.layers.ngrams import Bags, NGramModel
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.latent_semantics import find_topics
from elman.tasks.logistic_regression import fit_dense, fit_linear, fit_mixture
from elman.tasks.naive_bayes import fit_naive_bayes
from elman.tasks.temperature import FEWEST

_FOLDS = 5
_TOPICS = 200  # directions of the latent semantic analysis
_PENALTIES = (10.0, 100.0)  # C of logistic regression on them
_PLAIN = 30.0  # and on n-grams

Teacher = Callable[[Tensor], Tensor]
"""Which texts it may know the labels of (N,) -> log-probabilities of all texts (N, Y)."""


@dataclass(frozen=True)
class Guesses:
    """Probabilities of the labels of texts that have none, and what cross-validation says of such guesses."""

    probabilities: Float[Tensor, "U Y"]
    right: float  # percent of the labels that are known, guessed without knowing them
    plain: float  # the same by n-grams of texts with labels only

    @property
    def help(self) -> bool:
        """Whether the texts without labels made guesses better."""
        return self.right > self.plain


def guess_labels(bags: Bags, features: int, gold: Int[Tensor, " N"], labels: int) -> Guesses | None:
    """The labels of all texts after the first, which have ``gold`` ones; None: there are too few to learn from.

    Naive Bayes by expectation maximisation and logistic regression on latent semantics are mixed so that they
    do best in cross-validation, and so is logistic regression on n-grams, which reads labelled texts only.
    """
    if len(gold) < FEWEST or bags.texts <= len(gold):
        return None
    one_hot = torch.zeros(bags.texts, labels)
    one_hot[torch.arange(len(gold)), gold] = 1
    *teachers, plain = _build_teachers(bags, features, one_hot)
    known = torch.arange(bags.texts) < len(gold)
    fold = torch.randperm(len(gold), generator=torch.Generator().manual_seed(0)) % _FOLDS
    judged = [torch.zeros(len(gold), labels) for _ in (*teachers, plain)]
    for number in range(_FOLDS):
        away = (fold == number).nonzero()[:, 0]
        seen = known.index_fill(0, away, False)
        for said, teacher in zip(judged, (*teachers, plain), strict=True):
            said[away] = teacher(seen)[away]
    w = fit_mixture(judged, lambda z: cross_entropy(z, gold))
    right = _accuracy(torch.tensordot(w, torch.stack(judged), 1), gold)
    said = torch.stack([teacher(known)[len(gold) :] for teacher in (*teachers, plain)])
    return Guesses(torch.tensordot(w, said, 1).softmax(-1), right, _accuracy(judged[-1], gold))


def _build_teachers(bags: Bags, features: int, labels: Float[Tensor, "N Y"]) -> list[Teacher]:
    texts_of = bags.transpose(features)
    topics = find_topics(bags, texts_of, _TOPICS)
    length = sqrt(len(bags.rows) / bags.texts / 2)  # about √words: as many pairs are in a bag

    def count(known: Bool[Tensor, " N"]) -> Tensor:
        return log_softmax(fit_naive_bayes(bags, texts_of, labels, known, length), -1)

    def regress(C: float) -> Teacher:
        def say(known: Bool[Tensor, " N"]) -> Tensor:
            W, b = fit_dense(topics[known], labels[known], C)
            return log_softmax(topics @ W + b, -1)

        return say

    def regress_ngrams(known: Bool[Tensor, " N"]) -> Tensor:
        start, gold = NGramModel(features, labels.shape[1]), labels[known]
        W, b = fit_linear(bags.pick(known), start, lambda z: cross_entropy(z, gold), _PLAIN)
        return log_softmax(bags.multiply(W) + b, -1)

    return [count, *map(regress, _PENALTIES), regress_ngrams]


def _accuracy(logits: Float[Tensor, "N Y"], gold: Int[Tensor, " N"]) -> float:
    return 100 * (logits.argmax(-1) == gold).double().mean().item()
