"""python-crfsuite: a CRF over features of words around, with and without the given parts of speech."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elman.tasks.tagger.task import TaggerExample
from elman.text.spans import tags_to_spans
from taggers import Corpus, Point, TrainedTagger

WINDOW = range(-2, 3)
SETTINGS = {"c1": 1.0, "c2": 1e-3, "max_iterations": 50, "feature.possible_transitions": True}
"""Those of the library's tutorial."""


def train(corpus: Corpus, folder: Path, *, pos: bool) -> TrainedTagger:
    """It holds nothing out and is done in one go, so its curve is one point."""
    import pycrfsuite

    start = time.perf_counter()
    trainer = pycrfsuite.Trainer(verbose=False, params=SETTINGS)
    for example in (*corpus.train, *corpus.held):
        trainer.append(features(example, pos=pos), example.tags[1])
    trainer.train(str(folder / "crfsuite"))
    seconds = time.perf_counter() - start
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "crfsuite"))

    def predict(examples: Sequence[TaggerExample]) -> Any:
        return [tagger.tag(features(example, pos=pos)) for example in examples]

    f1 = corpus.f1([*map(tags_to_spans, predict(corpus.test))])
    name = "crfsuite" if pos else "crfsuite, no POS"
    return TrainedTagger(name, [Point(seconds, f1)], predict, lambda tags: [*map(tags_to_spans, tags)])


def features(example: TaggerExample, *, pos: bool) -> list[list[str]]:
    """For each word, what is to be seen of it and its neighbours."""
    alone = [_shape(word) for word in example.words]
    columns = [("w", [word.lower() for word in example.words])]
    if pos:
        columns.append(("p", list(example.tags[0])))
    return [
        ["bias", *alone[i], *(f for name, column in columns for f in _around(name, column, i))]
        for i in range(len(example.words))
    ]


def _shape(word: str) -> list[str]:
    flags = f"{word.isupper():d}{word.istitle():d}{word.isdigit():d}"
    return [f"word={word}", f"-3={word[-3:]}", f"-2={word[-2:]}", f"is={flags}"]


def _around(name: str, column: list[str], place: int) -> Iterator[str]:
    """The values in a window of two to each side, and the pairs with the next to the left and right."""
    near = {k: column[place + k] for k in WINDOW if 0 <= place + k < len(column)}
    for k, value in near.items():
        yield f"{name}{k}={value}"
    for k in (-1, 0):
        if k in near and k + 1 in near:
            yield f"{name}{k},{k + 1}={near[k]} {near[k + 1]}"
    if -1 not in near:
        yield "first"
    if 1 not in near:
        yield "last"
