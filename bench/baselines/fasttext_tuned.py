"""fastText: rate, epochs, n-grams and case chosen on validation data, its tutorial's settings among them."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from baselines import BenchSet, Outcome
from baselines.classifier_sets import read_rows
from baselines.holdout import make_splits

Rows = Sequence[tuple[str, str]]


class Settings(NamedTuple):
    """Those of `train_supervised` that the tutorial changes, and whether texts are lower-cased."""

    lr: float
    epoch: int
    wordNgrams: int  # its name there
    maxn: int = 0  # characters of the longest n-gram within a word; 0: none
    lower: bool = False


GRID = [Settings(*some) for some in product((0.1, 0.5, 1.0), (5, 25, 50), (1, 2))]

TUTORIAL = Settings(1.0, 25, 2)


def run_fasttext(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """The best settings on validation data, then all of the training data."""
    best, searched = _search(corpus)
    return _fit(corpus, "fastText", best, seed, {**best._asdict(), "search_s": round(searched, 1)})


def run_fasttext_tutorial(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """The settings with which the tutorial ends, and no search."""
    return _fit(corpus, "fastText, tutorial", TUTORIAL, seed, TUTORIAL._asdict())


def _fit(corpus: BenchSet, name: str, settings: Settings, seed: int, details: dict[str, Any]) -> Outcome:
    start = time.process_time()
    score = _accuracy(settings, read_rows(corpus.train), read_rows(corpus.test), seed)
    return Outcome(corpus.name, name, seed, corpus.metric, score, time.process_time() - start, details)


@cache
def _search(corpus: BenchSet) -> tuple[Settings, float]:
    """The best settings on validation data, and the seconds that it took to find them."""
    start = time.process_time()
    splits = make_splits(corpus, read_rows, label=lambda row: row[1])
    best = _choose(GRID, splits)
    variants = (best._replace(maxn=maxn, lower=lower) for maxn, lower in product((0, 5), (False, True)))
    return _choose([*variants], splits), time.process_time() - start


def _choose(grid: Sequence[Settings], splits: Sequence[tuple[Rows, Rows]]) -> Settings:
    scores: dict[Settings, float] = defaultdict(float)
    for (train, valid), settings in product(splits, grid):
        scores[settings] += _accuracy(settings, train, valid, seed=0) * len(valid)
    return max(scores, key=lambda settings: scores[settings])


def _accuracy(settings: Settings, train: Rows, test: Rows, seed: int) -> float:
    import fasttext

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        lines = (f"__label__{label} {_text(text, settings)}\n" for text, label in train)
        path.write_text("".join(lines), encoding="utf-8")
        options: dict[str, Any] = settings._asdict()
        options |= {"minn": 2 if options["maxn"] else 0, "dim": 50, "bucket": 200_000}
        del options["lower"]
        model = fasttext.train_supervised(str(path), thread=1, verbose=0, seed=seed + 1, **options)
    guesses, _ = model.predict([_text(text, settings) for text, _ in test])
    right = sum(guess[0] == f"__label__{label}" for guess, (_, label) in zip(guesses, test, strict=True))
    return 100.0 * right / len(test)


def _text(text: str, settings: Settings) -> str:
    return text.lower() if settings.lower else text
