"""A classifier's training data with texts that have no label: their labels are guessed first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch

from elman.layers.ngrams import NGramModel
from elman.ranges import PositiveInt
from elman.tasks.encoder_pretraining import PretrainingConfig
from elman.tasks.label_data import LabelDataset, LabeledExample
from elman.tasks.label_guesses import Guesses, guess_labels
from elman.tasks.ngram_fit import bag_texts
from elman.tasks.results import GuessedData
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.word_batch import WordForms, WordRow

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


@dataclass(frozen=True)
class ClassifierPretrainingConfig(PretrainingConfig):
    """What ``data.unlabelled`` gives: first weights, and examples whose labels are guessed."""

    guess: bool = True  # train on guesses of its labels, too, where these are good
    guess_texts: PositiveInt = 20_000  # texts whose labels are guessed, at most


def add_guesses(
    task: Classifier, dataset: LabelDataset, texts: Sequence[str], options: ClassifierPretrainingConfig
) -> GuessedData:
    """The dataset with texts whose labels are guessed, if texts without labels make guesses better.

    What guesses is then the model of n-grams beside the network, where there is to be one.
    Where a text may have several labels nothing is guessed.
    """
    known = {text for example in dataset.examples for text in example.texts}
    new = [text for text in texts if text not in known]
    if not (options.guess and new and isinstance(task.decision, SoftmaxDecision)):
        return GuessedData(dataset)
    order = torch.randperm(len(new), generator=torch.Generator().manual_seed(0))[: options.guess_texts]
    some = [(new[i],) for i in order.sort().values]
    begun = time.monotonic()
    found = _guess(task, dataset.examples, some)
    task.ngram_seconds = time.monotonic() - begun
    if found is None:
        return GuessedData(dataset)
    guesses = found.guesses
    facts = {"guessed": len(some) * guesses.help, "right": guesses.right, "right_without": guesses.plain}
    if not guesses.help:
        return GuessedData(dataset, facts)
    if task.net.ngrams is not None:
        task.net.ngrams, task.unlabelled = found.ngrams.to(task.device), some
    labels = [*dataset.labels, *guesses.probabilities]
    return GuessedData(LabelDataset(found.rows, found.forms, labels, max_tokens=dataset.max_tokens), facts)


def fit_with_guesses(task: Classifier, examples: Sequence[LabeledExample]) -> None:
    """Fit the n-grams of a classifier anew, to these examples and its unlabelled texts."""
    found = _guess(task, examples, task.unlabelled)
    assert found is not None
    task.net.ngrams = found.ngrams.to(task.device)


class _Found(NamedTuple):
    guesses: Guesses
    ngrams: NGramModel
    rows: list[tuple[WordRow, ...]]
    forms: WordForms


def _guess(
    task: Classifier, examples: Sequence[LabeledExample], texts: Sequence[tuple[str, ...]]
) -> _Found | None:
    rows, forms = task.encode_texts([*(e.texts for e in examples), *texts])
    words = [text for (text,) in rows]
    ngrams, bags = bag_texts(words, forms, len(task.labels.items))
    gold = torch.tensor([task.decision.encode(e, task.labels) for e in examples])
    guesses = guess_labels(ngrams, bags, gold, sum(map(len, words)) / len(words))
    return None if guesses is None else _Found(guesses, ngrams, rows, forms)
