"""Baselines for labels: the most frequent label, and logistic regression on a bag of n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from elman.layers.ngrams import NGramModel
from elman.layers.word_layer import WordBatch
from elman.shapes import Float, Tensor
from elman.tasks.baseline_result import BaselineResult, choose_better, draw_part, name_part
from elman.tasks.label_data import LabelDataset
from elman.tasks.label_decision import LabelAnswers, LossOptions
from elman.tasks.ngram_fit import choose_ngrams, fit_ngram_model
from elman.tasks.word_batch import WordForms, WordRow, collate

if TYPE_CHECKING:
    from elman.tasks.label_task import LabelTask

_PER_SECOND = 30_000  # tokens that are fitted to in a second of one core
_CHUNK = 256  # texts that are judged at a time


def judge_label_baselines(
    task: LabelTask[Any, Any], training: LabelDataset, valid: LabelDataset, seconds: float
) -> BaselineResult:
    """The better of the most frequent label and a bag of n-grams."""
    rarity = task.decision.weigh(training.labels, len(task.labels.items))
    frequent = (-rarity.log()).expand(len(valid), -1)  # log odds
    results = [BaselineResult("most frequent label", _score(task, valid, frequent))]
    tokens = sum(len(text) for row in training.rows for text in row)
    own, part = task.own_ngrams, draw_part(len(training), tokens, seconds * _PER_SECOND)
    ngrams = own or _fit(task, training.pick(part))
    name = name_part("bag of n-grams", len(training) if own else len(part), len(training), "examples")
    found = _score(task, valid, _answer(ngrams, task, valid))
    results.append(BaselineResult(name, found, task.ngram_seconds))
    return choose_better(results, task.metric, task.best)


def _fit(task: LabelTask[Any, Any], training: LabelDataset) -> NGramModel:
    golds = task.decision.tabulate(training.labels, len(task.labels.items))
    rows, forms = join_texts(training, len(task.featurizer.tokenizer.items))
    labels = len(task.labels.items)

    def loss(logits: Tensor, some: Tensor) -> Tensor:
        return task.decision.loss(logits, golds[some], LossOptions())

    return fit_ngram_model(rows, forms, labels, loss, choose_ngrams(rows, forms, labels, loss))


@torch.no_grad()
def _answer(ngrams: NGramModel, task: LabelTask[Any, Any], valid: LabelDataset) -> Float[Tensor, "N Y"]:
    rows, forms = join_texts(valid, len(task.featurizer.tokenizer.items))
    found = (ngrams(words.to(ngrams.W.device)) for words in _batches(rows, forms))
    return torch.cat([logits.float().cpu() for logits in found])


def _batches(rows: Sequence[WordRow], forms: WordForms) -> Iterator[WordBatch]:
    return (collate(rows[i : i + _CHUNK], forms) for i in range(0, len(rows), _CHUNK))


def _score(task: LabelTask[Any, Any], valid: LabelDataset, logits: Float[Tensor, "N Y"]) -> dict[str, float]:
    """The scores of logits with a temperature and thresholds that are chosen as those of the network are."""
    answers, decision = LabelAnswers(logits, valid.labels, task.labels.items), task.decision.reset()
    if task.config.calibrate:
        decision = decision.calibrate(answers)
    return dict(decision.report(answers).scores)


def join_texts(data: LabelDataset, vocabulary: int) -> tuple[list[WordRow], WordForms]:
    """Each example as one row of words, of which ``vocabulary`` are known.

    Of a pair, the words of the second text count as others than those of the first, and as others again the
    words that both have.
    """
    if all(len(row) == 1 for row in data.rows):
        return [text for (text,) in data.rows], data.forms
    size, ids = len(data.forms.ids), data.forms.ids
    spread = np.concatenate([np.where(ids, ids + side * vocabulary, 0) for side in range(3)])
    again = (np.concatenate([part] * 3) for part in (data.forms.features, data.forms.characters))
    rows = [
        np.concatenate([first, second + size, np.intersect1d(first, second) + 2 * size])
        for first, second in data.rows
    ]
    return rows, WordForms(spread, *again)
