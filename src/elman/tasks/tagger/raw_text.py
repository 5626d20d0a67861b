"""A tagger on raw text: sentence by sentence, with the places of words and spans in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from elman.tasks.tagger.analysis import Tagging
from elman.text.sentences import Range, locate_words, split_sentences
from elman.text.spans import Span

T = TypeVar("T")


class TextSpan(NamedTuple):
    """A span of a raw text: ``raw[start:end] == text``; how sure it is, where that was asked for."""

    text: str
    start: int
    end: int
    label: str
    confidence: float | None = None


@dataclass(frozen=True)
class RawText:
    """A text, its words sentence by sentence, and where each word stands in the text."""

    text: str
    sentences: list[list[str]]
    offsets: list[Range]

    @classmethod
    def split(cls, text: str, split_words: Callable[[str], Sequence[str]]) -> RawText:
        """A text cut into sentences, and these into words."""
        sentences, offsets = [], []
        for start, end in split_sentences(text):
            words = list(split_words(text[start:end]))
            sentences.append(words)
            offsets += [(start + a, start + b) for a, b in locate_words(words, text[start:end])]
        return cls(text, sentences, offsets)

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence]

    def locate(self, span: Span, confidence: float | None = None) -> TextSpan:
        """A span of words as one of characters."""
        start, end = self.offsets[span.start][0], self.offsets[span.end - 1][1]
        return TextSpan(self.text[start:end], start, end, span.label, confidence)


def regroup(texts: Sequence[RawText], answers: Sequence[T]) -> Iterator[list[T]]:
    """The answers to all sentences of all texts, those of each text together."""
    each = iter(answers)
    for text in texts:
        yield [next(each) for _ in text.sentences]


def merge_taggings(taggings: Sequence[Tagging], n_best: int) -> Tagging:
    """The answer for a text whose sentences have these: tags in a row, spans counted from the first word.

    Sentences are tagged by themselves, so the probability of tags for all is the product of theirs.
    """
    tags: list[str] = []
    sure: list[float] = []
    spans: list[tuple[Span, float]] = []
    best: list[tuple[tuple[list[str], ...], float]] = [((), 1.0)]
    for tagging in taggings:
        at = len(tags)
        spans += [(Span(s.label, s.start + at, s.end + at), chance) for s, chance in tagging.spans]
        both = [((*parts, more), p * q) for parts, p in best for more, q in tagging.n_best]
        best = sorted(both, key=lambda one: -one[1])[:n_best]
        tags += tagging.tags
        sure += tagging.confidence
    return Tagging(tags, sure, spans, [([tag for part in parts for tag in part], p) for parts, p in best])
