"""The systems that bench/tag.py compares: each is trained by its own file and becomes a ``TrainedTagger``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elman.metrics import span_scores
from elman.tasks.tagger.task import Tagger, TaggerDataConfig, TaggerExample, read_examples
from elman.text.spans import Span, tags_to_spans

Words = Sequence[str]


@dataclass(frozen=True)
class Corpus:
    """CoNLL-2000: the tags of an example are its parts of speech and its chunks."""

    path: Path  # all of the training data as one file of columns
    train: list[TaggerExample]  # without the tenth that our command holds out
    held: list[TaggerExample]  # that tenth: it chooses Flair's weights, too
    test: list[TaggerExample]

    def f1(self, found: Sequence[Sequence[Span]]) -> float:
        """Chunk F1 on the test set."""
        return span_scores([tags_to_spans(e.tags[1]) for e in self.test], found).overall.f1


@dataclass(frozen=True)
class Point:
    """What would have been delivered had training ended after so many seconds."""

    seconds: float
    f1: float


@dataclass(frozen=True)
class TrainedTagger:
    """A system with its test F1 over time; ``predict`` is the call that a user makes and that is timed."""

    name: str
    curve: list[Point]  # the last is the finished model
    predict: Callable[[Sequence[TaggerExample]], Any]
    found: Callable[[Any], list[list[Span]]]  # from what ``predict`` returns

    def seconds_to(self, f1: float) -> float | None:
        """How long it took to be as good; None if it never was."""
        return next((point.seconds for point in self.curve if point.f1 >= f1), None)


def conll2000(source: Path, folder: Path, sentences: int | None) -> Corpus:
    """The corpus, or only the first so many sentences of its training and of its test data."""
    columns = TaggerDataConfig(column="2,3")
    files = (str(source / f"{name}.txt.gz") for name in ("train", "test"))
    train, test = (list(read_examples(columns, file))[:sentences] for file in files)
    path = folder / "train.txt"
    rows = ("\n".join(map(" ".join, zip(e.words, *e.tags, strict=True))) for e in train)
    path.write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    part, held = Tagger.split(TaggerDataConfig(column="2,3", train=str(path)))
    return Corpus(path, part, held, test)
