"""A tagger with the tags and words of further sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from elman.errors import ConfigError, DataError
from elman.layers.weight_transfer import copy_weights
from elman.tasks.config import TokenizerConfig
from elman.tasks.growth import Growth, count_idle
from elman.tasks.tagger.data import TaggerExample
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.word_growth import grow_words
from elman.text.vocab import find_new

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def grow_tagger(
    task: Tagger, tokens: TokenizerConfig, examples: Sequence[TaggerExample]
) -> tuple[Tagger, Growth]:
    """See `Task.grow`."""
    known, words = task.featurizer, (word for e in examples for word in e.words)
    inputs = [[value for e in examples for value in e.inputs[i.column]] for i in known.inputs]
    grown = grow_words(known, task.config, tokens, words, inputs)
    counted = [*zip(task.tagsets, _count_tags(task.tagsets, examples), strict=True)]
    new = [find_new(tagset.labels.items, counts) for tagset, counts in counted]
    idle = sum(count_idle({*tagset.labels.items} - {"O"}, counts) for tagset, counts in counted)
    growth = Growth(tuple(tag for some in new for tag in some), idle, grown.tokens, grown.left)
    if grown.featurizer is known and not growth.labels:
        return task, growth
    tagsets = [tagset.extend(some) for tagset, some in zip(task.tagsets, new, strict=True)]
    large = type(task)(task.config, grown.featurizer, tagsets)
    copy_weights(task.net, large.net)
    for before, after in zip(task.heads, large.heads, strict=True):
        after.calibration = before.calibration
    return large, growth


def add_tagger_words(task: Tagger, tokens: TokenizerConfig, texts: Iterable[str]) -> Tagger:
    """See `Task.add_words`."""
    if task.featurizer.inputs:
        names = ", ".join(given.column for given in task.featurizer.inputs)
        raise ConfigError(f"the tagger reads column {names}, too, which unlabelled text does not have")
    split = task.featurizer.tokenizer.split
    grown = grow_words(task.featurizer, task.config, tokens, (w for text in texts for w in split(text)))
    return type(task)(task.config, grown.featurizer, task.tagsets)


def require_columns(example: TaggerExample, columns: int) -> None:
    """Refuse a sentence that has more or fewer columns of tags."""
    if len(example.tags) != columns:
        raise DataError(f"{example.where}: {len(example.tags)} columns of tags, the tagger has {columns}")


def _count_tags(tagsets: Sequence[Tagset], examples: Iterable[TaggerExample]) -> list[Counter[str]]:
    """How often each tag of each column occurs."""
    counts = [Counter[str]() for _ in tagsets]
    for e in examples:
        require_columns(e, len(tagsets))
        for tagset, tags, seen in zip(tagsets, e.tags, counts, strict=True):
            seen.update(tagset.count(tags, e.where))
    return counts
