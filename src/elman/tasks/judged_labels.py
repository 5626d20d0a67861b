"""An evaluation of labels, example by example: what each adds to the scores, and which are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from elman.metrics import CountedScore, count_label_sets, count_right, count_sets, most_confused
from elman.shapes import Tensor
from elman.tasks.judgement import Judgement, Mistake, MistakeTrace, Shares
from elman.tasks.label_data import LabelDataset
from elman.tasks.label_decision import LabelAnswers
from elman.tasks.results import Report, confusion_table
from elman.tasks.softmax_decision import SoftmaxDecision

if TYPE_CHECKING:
    from elman.tasks.label_task import LabelTask

MATRIX = 12  # labels up to which a matrix can be read

Ids = tuple[int, ...]


class WrongLabels(NamedTuple):
    """Labels that were given and should not have been, and those that are missing."""

    given: Ids
    missing: Ids


def judge_labels(task: LabelTask[Any, Any], data: LabelDataset, answers: LabelAnswers) -> Judgement:
    """The report, with confusions in the place of a matrix that nobody can read."""
    golds, guesses = _ids(answers.golds), _ids(task.decision.decide(answers.logits, answers.names))
    right = np.array([set(g) == set(p) for g, p in zip(golds, guesses, strict=True)])
    report = task.judge_answers(answers)
    if isinstance(task.decision, SoftmaxDecision):
        report = _with_confusions(report, data, _names(golds, answers), _names(guesses, answers))
    known = task.featurizer.in_training(data.forms)
    words = task.featurizer.tokenizer.level == "word"
    unseen = [sum(int((~known[text]).sum()) for text in row) for row in data.rows] if words else None
    return Judgement(
        report,
        "examples",
        lambda: _count(report, right, _names(golds, answers), _names(guesses, answers)),
        tokens=np.array([sum(map(len, row)) for row in data.rows], np.int64),
        unseen=None if unseen is None else np.array(unseen, np.int64),
        right=right,
        mistakes=lambda: _mistakes(task, data, answers, [*zip(golds, guesses, strict=True)]),
        trace=lambda mistakes: _trace(task, data, mistakes),
    )


def _ids(labels: Sequence[Any]) -> list[Ids]:
    """One label is a set of one."""
    return [some if isinstance(some, tuple) else (some,) for some in labels]


def _names(labels: Sequence[Ids], answers: LabelAnswers) -> list[tuple[str, ...]]:
    return [tuple(answers.names[i] for i in some) for some in labels]


def _count(
    report: Report, right: Any, golds: Sequence[tuple[str, ...]], guesses: Sequence[tuple[str, ...]]
) -> dict[str, CountedScore]:
    """The scores of the report that are formulas of sums."""
    scores = {
        "accuracy": count_right(right),
        "micro_f1": count_sets(golds, guesses),
        "macro_f1": count_label_sets(golds, guesses),
        "exact": count_right(right),
    }
    return {name: score for name, score in scores.items() if name in report.scores}


def _with_confusions(
    report: Report, data: LabelDataset, golds: Sequence[tuple[str, ...]], guesses: Sequence[tuple[str, ...]]
) -> Report:
    texts = [" ⇥ ".join(example.texts) for example in data.examples]
    pairs = most_confused([g for (g,) in golds], [p for (p,) in guesses], texts)
    record = {**report.record, "confusions": [asdict(pair) for pair in pairs]}
    matrix = report.record.get("confusion")  # of very many labels there is none
    if matrix and len(matrix["labels"]) <= MATRIX:
        return replace(report, record=record)
    tables = report.tables[:-1] if matrix else report.tables
    shown = [confusion_table("most frequent confusions", pairs)] if pairs else []
    return replace(report, record=record, tables=[*tables, *shown])


def _mistakes(
    task: LabelTask[Any, Any], data: LabelDataset, answers: LabelAnswers, labels: Sequence[tuple[Ids, Ids]]
) -> list[Mistake]:
    wrong = [i for i, (gold, guess) in enumerate(labels) if set(gold) != set(guess)]
    predictions = task.decision.predict(answers.logits[wrong], answers.names)
    found = []
    for i, prediction in zip(wrong, predictions, strict=True):
        example, (gold, guess) = data.examples[i], labels[i]
        record = {"where": example.where, **dict(zip(task.text_columns, example.texts, strict=True))}
        record |= {"gold": example.label, "predicted": prediction.label}
        about = WrongLabels(tuple(set(guess) - set(gold)), tuple(set(gold) - set(guess)))
        sure = prediction.confidence
        found.append(Mistake(i, {**record, "confidence": sure}, sure, about))
    return found


def _trace(task: LabelTask[Any, Any], data: LabelDataset, mistakes: Sequence[Mistake]) -> MistakeTrace:
    """Why these labels rather than the right ones? Of several labels, log p is a sum."""
    rows = [data.rows[m.example] for m in mistakes]
    words = task.collate(rows, data.forms)
    signs = torch.zeros(len(rows), len(task.labels.items), device=task.device)
    for sign, mistake in zip(signs, mistakes, strict=True):
        sign[list(mistake.about.given)], sign[list(mistake.about.missing)] = 1.0, -1.0

    def margins() -> Tensor:
        logits: Tensor = task.net(words)
        return (logits * signs).sum(1) / task.decision.temperature

    def split(shares: Shares) -> list[Shares]:
        """All first texts come before all second ones."""
        sides = shares.reshape(-1, len(rows), shares.shape[1])
        return [
            np.concatenate([sides[side, i, : len(text)] for side, text in enumerate(row)])
            for i, row in enumerate(rows)
        ]

    show = task.featurizer.display
    tokens = [[t for text in data.examples[m.example].texts for t in show(text)] for m in mistakes]
    return MistakeTrace(tokens, task.net.words, margins, split)
