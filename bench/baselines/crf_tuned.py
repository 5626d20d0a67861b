"""CRFsuite with its usual features; the strengths of its two penalties are chosen on validation data."""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from baselines import BenchSet, Outcome
from baselines.holdout import make_splits
from baselines.tagger_sets import read_sentences
from elman.metrics import accuracy, span_scores
from elman.tasks.tagger.task import TaggerExample
from elman.text.spans import tags_to_spans

PENALTIES = ((1.0, 1e-3), (0.1, 0.1), (0.03, 0.3))
"""c1 and c2: CRFsuite's tutorial, sklearn-crfsuite's tutorial, and less of the first."""

AFFIXES = range(1, 5)
SEARCHED = 4000  # sentences at most, to choose the penalties by: time grows with the square of the tags
Features = list[list[str]]


class Prepared(NamedTuple):
    features: Features
    tags: Sequence[str]


def run_crfsuite(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Trained to convergence, or 120 passes of L-BFGS; it has no seed."""
    start = time.process_time()

    def read(path: Path) -> list[Prepared]:
        return [prepare(example) for example in read_sentences(corpus, path)]

    (train, valid), *_ = make_splits(corpus, read, label=lambda example: "")
    train = random.Random(0).sample(train, min(SEARCHED, len(train)))
    scores = {both: fit_and_score(corpus, both, train, valid, passes=50) for both in PENALTIES}
    best = max(scores, key=lambda both: scores[both])
    searched = time.process_time()
    score = fit_and_score(corpus, best, read(corpus.train), read(corpus.test), passes=120)
    seconds = time.process_time() - searched
    chosen = {"c1": best[0], "c2": best[1], "search_s": round(searched - start, 1)}
    return Outcome(corpus.name, "CRFsuite", seed, corpus.metric, score, seconds, chosen)


def prepare(example: TaggerExample) -> Prepared:
    """The features and the tags of a sentence."""
    return Prepared(extract_features(example.words), example.tags[0])


def fit_and_score(
    corpus: BenchSet,
    penalties: tuple[float, float],
    train: list[Prepared],
    test: list[Prepared],
    *,
    passes: int,
) -> float:
    """Accuracy or F1 on ``test``."""
    import pycrfsuite

    settings = dict(zip(("c1", "c2"), penalties, strict=True))
    trainer = pycrfsuite.Trainer(verbose=False, params={**settings, "max_iterations": passes})
    trainer.set("feature.possible_transitions", True)
    for example in train:
        trainer.append(example.features, example.tags)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        answers = [tagger.tag(example.features) for example in test]
    if corpus.metric == "accuracy":
        return accuracy([t for e in test for t in e.tags], [t for tags in answers for t in tags])
    return span_scores([tags_to_spans(e.tags) for e in test], [*map(tags_to_spans, answers)]).overall.f1


def extract_features(words: Sequence[str]) -> Features:
    """Of each word: itself, its affixes and shape, and two neighbours to each side."""
    return [[*_word(words[i]), *_around(words, i)] for i in range(len(words))]


def _word(word: str) -> Iterator[str]:
    yield from ("bias", f"word={word}", f"lower={word.lower()}", f"shape={_shape(word)}")
    yield f"is={word.isupper():d}{word.istitle():d}{word.isdigit():d}{'-' in word:d}"
    for n in AFFIXES:
        yield f"-{n}={word[-n:].lower()}"
        yield f"+{n}={word[:n].lower()}"


def _around(words: Sequence[str], place: int) -> Iterator[str]:
    near = {k: words[place + k] for k in range(-2, 3) if 0 <= place + k < len(words)}
    for k, word in near.items():
        if k:
            yield f"lower{k}={word.lower()}"
        if abs(k) == 1:
            yield from (
                f"shape{k}={_shape(word)}",
                f"-3{k}={word[-3:].lower()}",
                f"title{k}={word.istitle():d}",
            )
    for k in (-1, 0):
        if k in near and k + 1 in near:
            yield f"lower{k},{k + 1}={near[k].lower()} {near[k + 1].lower()}"
    if -1 not in near:
        yield "first"
    if 1 not in near:
        yield "last"


def _shape(word: str) -> str:
    """Xxxx is X then x: capitals, small letters and digits, runs of one kind as one sign."""
    kinds = re.sub(r"[^\W\d_]", lambda m: "X" if m[0].isupper() else "x", re.sub(r"\d", "0", word))
    return re.sub(r"(.)\1+", r"\1", kinds)
