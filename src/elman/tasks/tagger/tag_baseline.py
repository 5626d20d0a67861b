"""Baselines for tags: the most frequent tag of a word, and logistic regression on the usual features."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from elman.layers.crf import CRF
from elman.layers.ngrams import Bags, NGramModel
from elman.shapes import Float, Tensor
from elman.tasks.baseline_result import BaselineResult, choose_better, draw_part, name_part
from elman.tasks.logistic_regression import fit_linear
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.scoring import Tags, score_tags
from elman.tasks.tagger.tag_features import Keys, extract_features
from elman.tasks.tagger.tagset import Tagset

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

_PER_SECOND = 250_000  # tokens times tags that are fitted to in a second of one core
_WEIGHTS = 2_000_000  # numbers in W at most
_LEAST = 2  # times that a feature occurs, or it is left out
_C = 1.0
_MOVES = 0.4  # λ: how much the tag before counts; the words before are looked at already
_CHUNK = 128  # sentences that are tagged at a time
_SUFFIX = 4  # letters of an unknown word that are looked at


def judge_tag_baselines(
    task: Tagger, training: TaggerDataset, valid: TaggerDataset, seconds: float
) -> BaselineResult:
    """The better of the most frequent tag of a word and of a linear model."""

    def judge(name: str, guesses: Tags) -> BaselineResult:
        return BaselineResult(name, score_tags(task.featurizer, task.tagsets, valid, guesses))

    frequent = [[*tag_by_frequency(training, valid, tagset, i)] for i, tagset in enumerate(task.tagsets)]
    work = sum(training.lengths) * sum(len(tagset.labels.items) for tagset in task.tagsets)
    part = draw_part(len(training), work, seconds * _PER_SECOND)
    linear = _tag_by_features(training.pick(part), valid, task.tagsets)
    name = name_part("linear model of words and affixes", len(part), len(training), "sentences")
    results = [judge("most frequent tag of a word", frequent), judge(name, linear)]
    return choose_better(results, task.metric, task.best)


def tag_by_frequency(
    training: TaggerDataset, valid: TaggerDataset, tagset: Tagset, column: int
) -> Iterator[list[str]]:
    """The most frequent tag of each word, or that of the longest ending that occurred."""
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for example, tags in zip(training.examples, training.tags, strict=True):
        for word, tag in zip(example.words, tags[column].tolist(), strict=True):
            for form in _back_off(word):
                counts[form][tag] += 1
    best = {form: seen.most_common(1)[0][0] for form, seen in counts.items()}
    for example in valid.examples:
        yield tagset.decode(
            next(best[form] for form in _back_off(word) if form in best) for word in example.words
        )


def _back_off(word: str) -> list[str]:
    """A word, then its endings, the longest first; the last one is empty."""
    lower = word.lower()
    return [
        f"={word}",
        f"={lower}",
        *(lower[len(lower) - n :] for n in range(min(_SUFFIX, len(lower)), -1, -1)),
    ]


def _tag_by_features(training: TaggerDataset, valid: TaggerDataset, tagsets: Sequence[Tagset]) -> Tags:
    examples = [*training.examples, *valid.examples]
    keys = extract_features((e.words for e in examples), ([*e.inputs.values()] for e in examples))
    first, rest = np.split(keys, [sum(training.lengths)])
    guesses = []
    for i, tagset in enumerate(tagsets):
        model, known = _fit(
            first, np.concatenate([tags[i] for tags in training.tags]), len(tagset.labels.items)
        )
        logits = _bags(rest, known).multiply(model.W) + model.b
        guesses.append([*_decode(logits.log_softmax(-1), training, valid, tagset, i)])
    return guesses


def _fit(keys: Keys, tags: Keys, labels: int) -> tuple[NGramModel, Keys]:
    """W and b of the most frequent features, and the keys of these."""
    known, counts = np.unique(keys, return_counts=True)
    most = np.sort(np.argsort(-counts, kind="stable")[: max(1, _WEIGHTS // labels)])
    known = known[most[counts[most] >= _LEAST]]
    model, right = NGramModel(len(known), labels), torch.from_numpy(tags)
    model.W, model.b = fit_linear(_bags(keys, known), model, lambda z: cross_entropy(z, right), _C)
    return model, known


def _bags(keys: Keys, known: Keys) -> Bags:
    """The known features of each word."""
    place = np.searchsorted(known, keys)
    seen = place < len(known)
    seen[seen] = known[place[seen]] == keys[seen]
    rows, columns = np.ascontiguousarray(np.nonzero(seen)[0]), place[seen]
    return Bags(torch.from_numpy(rows), torch.from_numpy(columns), torch.ones(len(rows)), len(keys))


def _decode(
    log_probs: Float[Tensor, "N Y"], training: TaggerDataset, valid: TaggerDataset, tagset: Tagset, column: int
) -> Iterator[list[str]]:
    """The best sequence of each sentence: Σ log p(y_i | x) + λ (log p(y_i | y_{i-1}) - log p(y_i))."""
    crf = CRF(log_probs.shape[1], tagset.constraints())
    crf.begin.data, crf.transitions.data = _weigh_moves(
        [tags[column] for tags in training.tags], len(crf.begin)
    )
    sentences = torch.split(log_probs, valid.lengths)
    for i in range(0, len(sentences), _CHUNK):
        some = sentences[i : i + _CHUNK]
        lengths = torch.tensor([len(scores) for scores in some])
        mask = torch.arange(int(lengths.max())) < lengths[:, None]
        paths = crf.viterbi(pad_sequence([*some], batch_first=True), mask).tags
        for path, length in zip(paths.tolist(), lengths.tolist(), strict=True):
            yield tagset.decode(path[:length])


def _weigh_moves(sentences: Sequence[Keys], labels: int) -> tuple[Float[Tensor, " Y"], Float[Tensor, "Y Y"]]:
    """λ log p(y | before) / p(y), of the first tags and of all others; each count is one more."""
    counts = np.ones((labels + 1, labels))
    for tags in sentences:
        np.add.at(counts, (np.concatenate([[labels], tags[:-1]]), tags), 1)
    moves = np.log(counts / counts.sum(1, keepdims=True)) - np.log(counts.sum(0) / counts.sum())
    weighed = torch.from_numpy(_MOVES * moves).float()
    return weighed[-1], weighed[:-1]
