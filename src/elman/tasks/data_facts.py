"""What is known of training data before a model is built: how much there is, how long, of how many classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SAMPLE = 2**22  # characters whose words are counted: more cost time and tell little


@dataclass(frozen=True)
class DataFacts:
    """The measures of what is trained on. Words stand between blanks, however the task cuts its text."""

    noun: str = "examples"  # what the examples are
    running: bool = False  # whether they are the lines of a text that goes on
    examples: int = 0
    words: int = 0
    characters: int = 0
    types: int = 0  # different words; of a large text those of a sample
    longest: int = 0  # words of the longest example
    classes: Mapping[str, int] = field(default_factory=dict)  # how many examples (tagger: words) each label has
    target_words: int = 0  # of what is to be written
    target_characters: int = 0
    target_types: int = 0  # different words of what is to be written
    features: bool = False  # whether the last word of nearly every source is features: ``walk V;PST``
    shared: float = 0.0  # share of the symbols to be written that stand in the source, too
    kind: str = "words"  # how the recipe cuts the text that is read
    target_kind: str = ""  # how it cuts what is to be written

    @property
    def mean(self) -> float:
        """Words of an example."""
        return self.words / max(1, self.examples)

    @property
    def target_mean(self) -> float:
        """Words of what is to be written about an example."""
        return self.target_words / max(1, self.examples)

    @property
    def reads_characters(self) -> bool:
        return self.kind in ("chars", "chars+features", "bytes")

    @property
    def tokens(self) -> int:
        """About how many tokens the model reads in an epoch."""
        return self.characters if self.reads_characters else self.words

    @property
    def rarest(self) -> int:
        """How many examples the rarest class has; 0 where there are no classes."""
        return min(self.classes.values(), default=0)

    @property
    def most_frequent(self) -> int:
        return max(self.classes.values(), default=0)


def measure_texts(texts: Sequence[str]) -> dict[str, Any]:
    """How many examples, words, characters and types there are, and the words of the longest text."""
    characters = sum(map(len, texts))
    step = 1 + characters // SAMPLE
    lengths, types = count_words(texts[::step])
    words = sum(lengths) * len(texts) // max(1, len(lengths))
    numbers = {"examples": len(texts), "words": words, "characters": characters}
    return numbers | {"types": len(types), "longest": max(lengths, default=0)}


def count_words(texts: Iterable[str]) -> tuple[list[int], set[str]]:
    """The words of each text, and the different ones among all."""
    types: set[str] = set()
    lengths = []
    for text in texts:
        words = text.split()
        types.update(words)
        lengths.append(len(words))
    return lengths, types


def count_classes(examples: Iterable[Any], labels: Callable[[Any], Iterable[str]]) -> Counter[str]:
    """How often each label occurs."""
    return Counter(label for example in examples for label in labels(example))
