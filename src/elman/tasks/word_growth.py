"""A featurizer with the words of further data: their ids, their spelling, the values of further columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from elman.tasks.config import TokenizerConfig
from elman.tasks.growth import NewTokens, count_normalized, new_tokens, token_unit
from elman.tasks.word_batch import WordFeaturesConfig
from elman.tasks.word_features import InputColumn, WordFeaturizer
from elman.text.spelling import Spelling
from elman.text.vocab import find_new


class GrownWords(NamedTuple):
    """A featurizer, the very one it was if nothing is new; how much is, by its kind; what had no room."""

    featurizer: WordFeaturizer
    tokens: Mapping[str, int]
    left: int


def grow_words(
    featurizer: WordFeaturizer,
    config: WordFeaturesConfig,
    tokens: TokenizerConfig,
    words: Iterable[str],
    inputs: Sequence[Iterable[str]] = (),
) -> GrownWords:
    """Words as they are written; ``inputs`` are the values of each further column."""
    counts, tokenizer, known = Counter(words), featurizer.tokenizer, featurizer.known
    read = count_normalized(tokenizer, counts) if tokenizer.level in ("word", "char") else {}
    new = new_tokens(tokenizer, tokens, read, known=known, fixed=config.fixed_vocabulary)
    spelling = featurizer.spelling and featurizer.spelling.extend(counts)
    columns = tuple(map(_grow_input, featurizer.inputs, inputs))
    added = {token_unit(tokenizer): len(new.taken), **_count_spelling(featurizer.spelling, spelling)}
    added["values"] = _count_values(columns) - _count_values(featurizer.inputs)
    if not any(added.values()):
        return GrownWords(featurizer, added, new.left)
    grown = replace(_grow_ids(featurizer, new), spelling=spelling, inputs=columns)
    return GrownWords(grown, added, new.left)


def _grow_ids(featurizer: WordFeaturizer, new: NewTokens) -> WordFeaturizer:
    """New words come before those that only the file of vectors has, whose ids are always the last."""
    known, further = featurizer.known, featurizer.tokenizer.items[featurizer.known :]
    if not new.taken:
        return featurizer
    tokenizer = featurizer.tokenizer.truncate(known).extend((*new.taken, *further))
    vectors = featurizer.vectors and featurizer.vectors.extend(len(new.taken), at=known)
    return replace(featurizer, tokenizer=tokenizer, vectors=vectors)


def _grow_input(column: InputColumn, values: Iterable[str]) -> InputColumn:
    return column._replace(values=column.values.extend(find_new(column.values.items, Counter(values))))


def _count_values(columns: Iterable[InputColumn]) -> int:
    return sum(len(column.values) for column in columns)


def _count_spelling(before: Spelling | None, after: Spelling | None) -> dict[str, int]:
    if before is None or after is None:
        return {}
    affixes = sum(after.sizes) - sum(before.sizes)
    return {"characters": len(after.alphabet) - len(before.alphabet), "affixes": affixes}
