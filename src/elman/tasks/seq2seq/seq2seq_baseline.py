"""Baselines that write: the source as it is, and the answer to the most similar source of the training data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elman.errors import ConfigError
from elman.tasks.baseline_result import BaselineResult, choose_better, draw_part, name_part
from elman.tasks.seq2seq.data import Seq2SeqDataset
from elman.tasks.seq2seq.evaluation import score_texts

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq

_PER_SECOND = 100_000_000  # pairs of sources that are compared in a second of one core
_LONGEST = 3  # tokens of an n-gram by which sources are compared
_MOST = 200_000  # sources, by the memory that their n-grams take

Key = tuple[int, ...]


def judge_lookups(
    task: Seq2Seq, training: Seq2SeqDataset, valid: Seq2SeqDataset, seconds: float
) -> BaselineResult:
    """The better of the source as the answer, and of the answer to the most similar source."""
    if task.metric == "nats_per_token":
        raise ConfigError("model.metric is nats_per_token, and looked-up answers have no probability")
    most = min(_MOST, seconds * _PER_SECOND / len(valid))
    known = training.pick(draw_part(len(training), len(training), most))
    nearest = find_nearest([row.source for row in known.rows], [row.source for row in valid.rows])
    answers = {
        "the source itself": [example.source for example in valid.examples],
        name_part("answer to the most similar source", len(known), len(training), "pairs"): [
            known.examples[i].targets[0] for i in nearest
        ],
    }
    results = [BaselineResult(name, score_texts(task, valid, texts)) for name, texts in answers.items()]
    return choose_better(results, task.metric, task.best)


def find_nearest(known: Sequence[Sequence[int]], asked: Sequence[Sequence[int]]) -> list[int]:
    """For each sequence the number of the known one with the largest cosine of n-grams, weighed by idf."""
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for i, tokens in enumerate(known):
        for key in _list_ngrams(tokens):
            places[key].append(i)
    postings = {key: np.array(found) for key, found in places.items()}
    idf = {key: np.log((1 + len(known)) / len(found)) for key, found in postings.items()}
    squares = np.zeros(len(known))
    for key, found in postings.items():
        squares[found] += idf[key] ** 2
    lengths = np.sqrt(squares).clip(min=1e-9)
    return [int((_add_up(tokens, postings, idf, len(known)) / lengths).argmax()) for tokens in asked]


def _add_up(
    tokens: Sequence[int], postings: dict[Key, NDArray[Any]], idf: dict[Key, float], count: int
) -> NDArray[Any]:
    """Σ idf² of the n-grams that a sequence shares with each known one."""
    shared = [key for key in _list_ngrams(tokens) if key in postings]
    if not shared:
        return np.zeros(count)
    weights = np.repeat([idf[key] ** 2 for key in shared], [len(postings[key]) for key in shared])
    return np.bincount(np.concatenate([postings[key] for key in shared]), weights, count)


def _list_ngrams(tokens: Sequence[int]) -> set[Key]:
    """All of up to three tokens, each once."""
    sizes = range(1, _LONGEST + 1)
    return {tuple(tokens[i : i + n]) for n in sizes for i in range(len(tokens) - n + 1)}
