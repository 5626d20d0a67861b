"""Labels of texts that have none, guessed by linear models of n-grams that learn from the texts, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import torch
from torch.nn.functional import cross_entropy, log_softmax, pad

from elman.layers.ngrams import Bags, NGramModel
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.folds import deal_texts
from elman.tasks.latent_semantics import find_topics
from elman.tasks.logistic_regression import fit_dense, fit_linear, fit_mixture
from elman.tasks.naive_bayes import fit_naive_bayes
from elman.tasks.temperature import FEWEST

_FOLDS = 5
_TOPICS = 300  # directions of the latent semantic analysis
_PENALTIES = (20.0, 100.0, 1000.0)  # C of logistic regression on them
_PLAIN = 30.0  # and on n-grams
# Of naive Bayes: what makes its texts longer, and what is added to its counts. Parts of SST-2's training
# data, 692 labels and 4,836 texts, means of four draws: guesses as below are right in 74.5 %, with 1, 0.5 and
# texts that count 0.2 instead of 0.5 in 73.6. R8, 548 labels and 3,783 texts, two draws: 94.4 and 94.4.
_LENGTH, _SMOOTHING = 1.5, 0.2

Weights = tuple[Tensor, Tensor]  # W (F, Y) and b (Y,) of a linear model of n-grams
Teacher = Callable[[Tensor], Weights]
"""Which texts it may know the labels of (N,) -> its weights."""


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


def guess_labels(model: NGramModel, bags: Bags, gold: Int[Tensor, " N"], words: float) -> Guesses | None:
    """Fit a model of n-grams to texts, of which only the first have ``gold`` labels, and guess the others.

    Naive Bayes by expectation maximisation and logistic regression on latent semantics are mixed so that they
    do best in cross-validation, and so is logistic regression on n-grams, which reads labelled texts only. Of
    each there are several. All are linear, and so is what they say together. A text has so many ``words``.
    None: there are too few labels.
    """
    if len(gold) < FEWEST or bags.texts <= len(gold):
        return None
    one_hot = torch.zeros(bags.texts, len(model.b))
    one_hot[torch.arange(len(gold)), gold] = 1
    teachers = _build_teachers(model, bags, one_hot, words)
    known = torch.arange(bags.texts) < len(gold)
    fold = deal_texts([text.numpy().tobytes() for text in bags.split()[: len(gold)]], _FOLDS)
    judged = torch.zeros(len(teachers), len(gold), len(model.b))
    for number in range(_FOLDS):
        away = (fold == number).nonzero()[:, 0]
        seen = known.index_fill(0, away, False)
        for said, teacher in zip(judged, teachers, strict=True):
            W, b = teacher(seen)
            said[away] = log_softmax(bags.multiply(W) + b, -1)[away]
    w = fit_mixture([*judged], lambda z: cross_entropy(z, gold))
    parts = [[share * weight for weight in teacher(known)] for share, teacher in zip(w, teachers, strict=True)]
    model.W, model.b = (torch.stack(part).sum(0) for part in zip(*parts, strict=True))
    found = (bags.multiply(model.W) + model.b)[len(gold) :].softmax(-1)
    right, plain = (_accuracy(z, gold) for z in (torch.tensordot(w, judged, 1), judged[-1]))
    return Guesses(found, right, plain)


def _build_teachers(model: NGramModel, bags: Bags, labels: Float[Tensor, "N Y"], words: float) -> list[Teacher]:
    """The models; the last one learns from texts with labels only."""
    size, texts_of = len(model.keys), bags.transpose(len(model.keys))
    pieces = int((model.keys < 0).sum())  # they come first
    topics = find_topics(bags, texts_of, _TOPICS)

    def count(first: int) -> Teacher:
        some = bags.drop_first(first)
        have = some.transpose(size - first)

        def fit(known: Bool[Tensor, " N"]) -> Weights:
            W, b = fit_naive_bayes(some, have, labels, known, _LENGTH * sqrt(words), _SMOOTHING)
            return pad(W, (0, 0, first, 0)), b

        return fit

    def regress(C: float) -> Teacher:
        def fit(known: Bool[Tensor, " N"]) -> Weights:
            W, b = fit_dense(topics.vectors[known], labels[known], C)
            return texts_of.multiply(topics.sources @ W), b

        return fit

    def regress_ngrams(known: Bool[Tensor, " N"]) -> Weights:
        start, gold = NGramModel(size, labels.shape[1]), labels[known]
        return fit_linear(bags.pick(known), start, lambda z: cross_entropy(z, gold), _PLAIN)

    naive = [count(0), *([count(pieces)] if pieces else [])]
    return [*naive, *map(regress, _PENALTIES), regress_ngrams]


def _accuracy(logits: Float[Tensor, "N Y"], gold: Int[Tensor, " N"]) -> float:
    return 100 * (logits.argmax(-1) == gold).double().mean().item()
