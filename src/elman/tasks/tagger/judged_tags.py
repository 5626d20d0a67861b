"""An evaluation of tags, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.metrics import ConfusedPair, CountedScore, count_sets, count_tags, most_confused
from elman.tasks.judgement import Judgement
from elman.tasks.results import Report, confusion_table
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.scoring import Tags
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.tagger.wrong_tag_trace import trace_mistakes
from elman.tasks.tagger.wrong_tags import find_mistakes, show_words
from elman.text.spans import tags_to_spans

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def judge_tags(task: Tagger, data: TaggerDataset, report: Report, guesses: Tags) -> Judgement:
    """The report with the tags that are confused most, and what each sentence adds to the scores."""
    columns = [
        TagColumn(tagset, [e.tags[i] for e in data.examples], guess)
        for i, (tagset, guess) in enumerate(zip(task.tagsets, guesses, strict=True))
    ]
    right = np.all([column.right for column in columns], axis=0)
    known = task.featurizer.in_training(data.forms)
    return Judgement(
        _with_confusions(report, data, columns),
        "sentences",
        lambda: _count(columns),
        tokens=np.array([len(row) for row in data.rows], np.int64),
        unseen=np.array([int((~known[row]).sum()) for row in data.rows], np.int64),
        right=right,
        mistakes=lambda: find_mistakes(task, data, np.flatnonzero(~right).tolist()),
        trace=lambda mistakes: trace_mistakes(task, data, mistakes),
    )


class TagColumn(NamedTuple):
    """The right tags of each sentence, and the guessed ones."""

    tagset: Tagset
    gold: Sequence[Sequence[str]]
    guess: Sequence[Sequence[str]]

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which sentences have no mistake."""
        read = tags_to_spans if self.tagset.written else list
        return np.array([read(g) == read(p) for g, p in zip(self.gold, self.guess, strict=True)], np.bool_)


def _count(columns: Sequence[TagColumn]) -> dict[str, CountedScore]:
    scores: dict[str, CountedScore] = {}
    for tagset, gold, guess in columns:
        prefix = "" if tagset is columns[0].tagset else f"{tagset.column}_"
        hits = [sum(map(str.__eq__, g, p)) for g, p in zip(gold, guess, strict=True)]
        if tagset.written:
            scores[f"{prefix}f1"] = count_sets([*map(tags_to_spans, gold)], [*map(tags_to_spans, guess)])
        scores[f"{prefix}accuracy"] = count_tags(hits, [len(tags) for tags in gold])
    return scores


def _with_confusions(report: Report, data: TaggerDataset, columns: Sequence[TagColumn]) -> Report:
    tables, found = list(report.tables), {}
    for tagset, gold, guess in columns:
        if not tagset.written and (pairs := _find_confusions(data, gold, guess)):
            tables.append(confusion_table(f"most frequent confusions of {tagset.column}", pairs))
            found[tagset.column] = [asdict(pair) for pair in pairs]
    record = {**report.record, "confusions": found} if found else report.record
    return replace(report, tables=tables, record=record)


def _find_confusions(
    data: TaggerDataset, gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]]
) -> list[ConfusedPair]:
    """The tags that are confused most often, each with a word and its sentence."""
    rights, saids, words = [], [], []
    for example, right, said in zip(data.examples, gold, guess, strict=True):
        for i, (g, p) in enumerate(zip(right, said, strict=True)):
            if g != p:
                rights.append(g)
                saids.append(p)
                words.append(show_words(example.words, i, i + 1))
    return most_confused(rights, saids, words)
