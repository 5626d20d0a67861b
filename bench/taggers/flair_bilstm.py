"""Flair's BiLSTM-CRF with its default settings, on embeddings that it trains: nothing is downloaded."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elman.tasks.tagger.task import TaggerExample
from elman.text.spans import Span, tags_to_spans
from taggers import Corpus, Point, TrainedTagger

GOLD, GUESS = "chunk", "guess"


def train(corpus: Corpus, folder: Path, minutes: float) -> TrainedTagger:
    """It ends with the epoch in which the minutes are over; the best weights on the held-out tenth count."""
    start = time.perf_counter()
    import flair
    from flair.data import Corpus as Data
    from flair.datasets import FlairDatapointDataset
    from flair.trainers import ModelTrainer

    logging.getLogger("flair").setLevel(logging.ERROR)
    flair.set_seed(0)
    parts = ([_sentence(e, gold=True) for e in part] for part in (corpus.train, corpus.held))
    data: Any = Data(*map(FlairDatapointDataset, parts), sample_missing_splits=False)
    tagger = _tagger(data)

    def predict(examples: Sequence[TaggerExample]) -> Any:
        sentences = [_sentence(e, gold=False) for e in examples]
        tagger.predict(sentences, label_name=GUESS)
        return sentences

    watch = _watch(lambda: corpus.f1(_predicted_spans(predict(corpus.test))), start, minutes)
    ModelTrainer(tagger, data).train(folder, max_epochs=1000, plugins=[watch])
    if not watch.curve:
        raise SystemExit("Flair found no chunk in any epoch: give it more --minutes or --sentences")
    # What is done after the last epoch, loading the best weights, is no training.
    curve = [*watch.curve, Point(watch.seconds, watch.curve[-1].f1)]
    return TrainedTagger("Flair", curve, predict, _predicted_spans)


def _tagger(data: Any) -> Any:
    from flair.data import Dictionary
    from flair.embeddings import CharacterEmbeddings, OneHotEmbeddings, StackedEmbeddings
    from flair.models import SequenceTagger

    # Its own list of characters is a download.
    characters = Dictionary()
    for character in sorted({c for s in data.train for token in s for c in token.text}):
        characters.add_item(character)
    embeddings = [OneHotEmbeddings.from_corpus(data), CharacterEmbeddings(characters)]
    return SequenceTagger(
        StackedEmbeddings(embeddings),
        data.make_label_dictionary(GOLD, add_unk=False),
        GOLD,
        hidden_size=256,
        use_crf=True,
    )


def _watch(f1: Any, start: float, minutes: float) -> Any:
    """A plugin that ends training in time and notes the F1 of each best epoch, its own time not counted."""
    from flair.trainers.plugins import TrainerPlugin, TrainingInterrupt

    class Watch(TrainerPlugin):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.curve: list[Point] = []
            self.own = self.seconds = 0.0

        @TrainerPlugin.hook  # type: ignore[untyped-decorator]
        def before_training_epoch(self, **_: Any) -> None:
            if self.seconds > 60 * minutes:
                raise TrainingInterrupt(f"{minutes} minutes are over")

        @TrainerPlugin.hook  # type: ignore[untyped-decorator]
        def after_evaluation(self, current_model_is_best: bool, **_: Any) -> None:
            now = time.perf_counter()
            self.seconds = now - start - self.own
            if current_model_is_best:
                self.curve.append(Point(self.seconds, f1()))
                self.own += time.perf_counter() - now

    return Watch()


def _sentence(example: TaggerExample, *, gold: bool) -> Any:
    from flair.data import Sentence

    sentence = Sentence(list(example.words))
    if gold:
        for label, start, end in tags_to_spans(example.tags[1]):
            sentence[start:end].add_label(GOLD, label)
    return sentence


def _predicted_spans(sentences: Any) -> list[list[Span]]:
    return [
        [Span(s.get_label(GUESS).value, s[0].idx - 1, s[-1].idx) for s in one.get_spans(GUESS)]
        for one in sentences
    ]
