"""A linear model of n-grams for few texts: logistic regression and naive Bayes, mixed by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy, one_hot, pad

from elman.layers.ngrams import PAIRS, Bags, NGramModel
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.folds import deal_texts
from elman.tasks.logistic_regression import fit_linear, fit_mixture
from elman.tasks.naive_bayes import fit_naive_bayes
from elman.tasks.ngram_fit import bag_ngrams, list_kinds
from elman.tasks.word_batch import WordForms, WordRow

FEW = 1000  # texts; of more, a part can say which n-grams and which C are best
_C = 100.0
FOLDS = 5

Weights = tuple[Float[Tensor, "F Y"], Float[Tensor, " Y"]]


class FittedTexts(NamedTuple):
    """A linear model, and what it says of each text when it has not read it."""

    model: NGramModel
    answers: Float[Tensor, "N Y"]


def fit_few_texts(
    rows: Sequence[WordRow], forms: WordForms, gold: Int[Tensor, " N"], labels: int
) -> FittedTexts:
    """The model of words, pairs and pieces of words, z = W v + b, that says what three models say together.

    These are logistic regression with pairs, the same without them, and naive Bayes, which is ahead where
    logistic regression has too little to go by (Ng & Jordan 2002). How much each counts, the answers to all
    texts say, each by models that have not read it: a part of few texts would tell that by chance.
    """
    model, bags = bag_ngrams(rows, forms, labels, list_kinds(rows, forms)[-1])
    length = sqrt(sum(map(len, rows)) / len(rows))
    fold = deal_texts([row.tobytes() for row in rows], FOLDS)
    judged = torch.zeros(3, len(gold), labels)
    for number in range(FOLDS):
        away = fold == number
        for said, (W, b) in zip(judged, _fit_models(model, bags, gold, ~away, length), strict=True):
            said[away] = bags.pick(away).multiply(W) + b
    w = fit_mixture([*judged.log_softmax(-1)], lambda z: cross_entropy(z, gold))
    parts = _fit_models(model, bags, gold, torch.ones_like(gold, dtype=torch.bool), length)
    model.W, model.b = (torch.tensordot(w, torch.stack(part), 1) for part in zip(*parts, strict=True))
    return FittedTexts(model, torch.tensordot(w, judged.log_softmax(-1), 1))


def _fit_models(
    model: NGramModel, bags: Bags, gold: Int[Tensor, " N"], known: Bool[Tensor, " N"], length: float
) -> list[Weights]:
    """The weights of each, fitted to the texts that are ``known``; all are of all n-grams."""
    read, right = bags.pick(known), gold[known]
    single = int((model.keys < PAIRS).sum())  # pieces and words; the pairs come after them
    texts_of, every = read.transpose(len(model.keys)), torch.ones_like(right, dtype=torch.bool)
    regression = fit_linear(read, model, lambda z: cross_entropy(z, right), _C)
    start = NGramModel(single, len(model.b))
    W, b = fit_linear(read.keep_first(single), start, lambda z: cross_entropy(z, right), _C)
    labels = one_hot(right, len(model.b)).to(W)
    bayes = fit_naive_bayes(read, texts_of, labels, every, length)
    return [regression, (pad(W, (0, 0, 0, len(model.keys) - single)), b), bayes]
