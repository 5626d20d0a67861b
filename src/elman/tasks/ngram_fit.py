"""A linear model of n-grams, fitted to labelled texts: logistic regression on tf-idf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

import torch

from elman.layers.character_ngrams import piece_keys, spread_pieces
from elman.layers.ngrams import PAIRS, Bags, NGramModel, ngram_keys
from elman.layers.word_layer import WordBatch
from elman.shapes import Int, Tensor
from elman.tasks.logistic_regression import fit_linear
from elman.tasks.temperature import FEWEST
from elman.tasks.word_batch import WordForms, WordRow, collate

PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)  # C: the larger, the less large weights cost
USUAL = 10.0  # where there is too little to choose C by
_MOST = 300_000  # n-grams, the most frequent
_WEIGHTS = 5_000_000  # numbers in W at most
_SPELLED = 400_000  # words of training data; pieces of more are too many
_CHUNK = 512  # texts that are read at a time
_SAMPLE = 5000  # texts that choose n-grams and C, and the share of them
_JUDGES = 0.2  # that others are fitted for

LabelLoss = Callable[[Tensor, Tensor], Tensor]
"""Logits of the texts with these numbers -> the mean of -log p of what is right."""


class Kind(NamedTuple):
    """Which n-grams count beside words."""

    pairs: bool = False
    pieces: bool = False


class NGramChoice(NamedTuple):
    """How a model of n-grams is fitted."""

    kind: Kind
    C: float


def fit_ngram_model(
    rows: Sequence[WordRow], forms: WordForms, labels: int, loss: LabelLoss, choice: NGramChoice
) -> NGramModel:
    """The model of words, pairs and pieces of words."""
    model = _count_ngrams(rows, forms, labels, choice.kind)
    numbers = torch.arange(len(rows))
    model.W, model.b = fit_linear(_bags(model, rows, forms), model, lambda z: loss(z, numbers), choice.C)
    return model


def bag_texts(rows: Sequence[WordRow], forms: WordForms, labels: int) -> tuple[NGramModel, Bags]:
    """A model of the n-grams that two texts or more have, not fitted yet, and these texts.

    Without the pairs at the ends of texts: how a text begins or ends is what guesses of it would go by first.
    """
    model = _count_ngrams(rows, forms, labels, list_kinds(rows, forms)[-1], fewest=2)
    left, right = model.keys // PAIRS, model.keys % PAIRS
    inside = (model.keys < 0) | ((left != 1) & (right != 0))
    model.keys, model.idf, model.W = model.keys[inside], model.idf[inside], model.W[inside]
    return model, _bags(model, rows, forms)


def bag_ngrams(rows: Sequence[WordRow], forms: WordForms, labels: int, kind: Kind) -> tuple[NGramModel, Bags]:
    """A model of all n-grams of a kind, not fitted yet, and these texts."""
    model = _count_ngrams(rows, forms, labels, kind)
    return model, _bags(model, rows, forms)


def list_kinds(rows: Sequence[WordRow], forms: WordForms) -> list[Kind]:
    """The n-grams that these texts can have, the most of them last."""
    spelled = forms.characters.shape[1] and sum(map(len, rows)) <= _SPELLED
    return [Kind(), Kind(pairs=True), *([Kind(pairs=True, pieces=True)] if spelled else [])]


def choose_ngrams(rows: Sequence[WordRow], forms: WordForms, labels: int, loss: LabelLoss) -> NGramChoice:
    """The n-grams and the C of the least loss on a part of the texts, fitted to the rest."""
    kinds = list_kinds(rows, forms)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:_SAMPLE]
    judges = round(_JUDGES * len(order))
    judging, fitted = order[:judges], order[judges:]
    least, best = inf, NGramChoice(kinds[-1], USUAL)
    if judges < FEWEST:
        return best
    for kind in kinds:
        model = _count_ngrams([rows[i] for i in fitted], forms, labels, kind)
        bags, judged = (_bags(model, [rows[i] for i in part], forms) for part in (fitted, judging))
        before = inf
        for C in PENALTIES:
            model.W, model.b = fit_linear(bags, model, lambda z: loss(z, fitted), C)
            value = loss(judged.multiply(model.W) + model.b, judging).item()
            if value < least:
                least, best = value, NGramChoice(kind, C)
            if value > before:  # it has one minimum
                break
            before = value
    return best


def _count_ngrams(
    rows: Sequence[WordRow], forms: WordForms, labels: int, kind: Kind, *, fewest: int = 1
) -> NGramModel:
    """The model of the most frequent n-grams of these texts, as it is before it is fitted.

    Those that fewer than ``fewest`` texts have are left out.
    """
    seen = [_keys(words, kind) for words in _batches(rows, forms)]
    keys, counts = torch.unique(torch.cat(seen), return_counts=True)
    keys, counts = keys[counts >= fewest], counts[counts >= fewest]
    most = min(_MOST, max(1, _WEIGHTS // labels))
    kept = counts.argsort(descending=True, stable=True)[:most].sort().values
    model = NGramModel(len(kept), labels)
    model.keys = keys[kept]
    model.idf = ((1 + len(rows)) / (1 + counts[kept].float())).log() + 1
    return model


def _keys(words: WordBatch, kind: Kind) -> Int[Tensor, " N"]:
    """The key of each n-gram, once for each text that has it."""
    row, key = ngram_keys(words.ids, words.mask)
    if not kind.pairs:
        row, key = row[key < PAIRS], key[key < PAIRS]
    found = [_once_a_text(row, key)]
    if kind.pieces:
        found.append(_once_a_text(*spread_pieces(words, *piece_keys(words.characters))))
    return torch.cat(found)


def _once_a_text(rows: Int[Tensor, " N"], keys: Int[Tensor, " N"]) -> Int[Tensor, " M"]:
    different, number = torch.unique(keys, return_inverse=True)
    once = torch.unique(rows * len(different) + number)
    found: Tensor = different[once % max(1, len(different))]
    return found


def _bags(model: NGramModel, rows: Sequence[WordRow], forms: WordForms) -> Bags:
    """The n-grams of all texts."""
    begin, parts = 0, []
    for words in _batches(rows, forms):
        bags = model.bags(words)
        parts.append((bags.rows + begin, bags.columns, bags.values))
        begin += bags.texts
    joined, columns, values = (torch.cat(part) for part in zip(*parts, strict=True))
    return Bags(joined, columns, values, begin)


def _batches(rows: Sequence[WordRow], forms: WordForms) -> Iterator[WordBatch]:
    return (collate(rows[i : i + _CHUNK], forms) for i in range(0, len(rows), _CHUNK))
