"""What is known of pairs before training: how much is to be written, and what of it stands in the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elman.tasks.seq2seq.data import Seq2SeqExample


def measure_targets(examples: Sequence[Seq2SeqExample]) -> dict[str, Any]:
    """How much is to be written, and which share of it stands in its source, whose features do not count.

    Where most targets are one word, its characters are looked for, else words.
    """
    sources, targets = [example.source for example in examples], [example.targets[0] for example in examples]
    features = _have_features(sources)
    if features:
        sources = [source.rsplit(None, 1)[0] for source in sources]
    split = [target.split() for target in targets]
    words = sum(map(len, split))
    cut: Callable[[str], Sequence[str]] = list if words < 1.5 * len(targets) else str.split
    found = count = 0
    for source, target in zip(sources, targets, strict=True):
        known, symbols = set(cut(source)), cut(target)
        found += sum(symbol in known for symbol in symbols)
        count += len(symbols)
    return {
        "target_words": words,
        "target_characters": sum(map(len, targets)),
        "target_types": len({word for some in split for word in some}),
        "features": features,
        "shared": found / max(1, count),
    }


def _have_features(sources: Sequence[str]) -> bool:
    """Whether the last of several words has ``;`` or ``|`` inside, in all sources but one in fifty."""
    last = [(source.split() or [""])[1:][-1:] for source in sources]
    marked = sum(any(mark in word for word in some for mark in ";|") for some in last)
    return bool(sources) and marked >= 0.98 * len(sources)
