"""What a tagger got wrong: single tags, or spans with all that overlap them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.tasks.judgement import Mistake
from elman.tasks.tagger.analysis import Tagging
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.tagset import UNKNOWN, Tagset
from elman.text.spans import Span, tags_to_spans

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

AROUND = 6  # words of context on either side


class WrongTag(NamedTuple):
    """The first wrong tag of a mistake, as ids; ``path`` are all tags that were answered."""

    column: int
    place: int
    gold: int
    path: list[int]


@dataclass(frozen=True)
class WrongPart:
    """Words from ``start`` to ``end``: what they should be, what was said, and how sure it was."""

    start: int
    end: int
    gold: str
    answer: str
    confidence: float

    @property
    def record(self) -> dict[str, Any]:
        return {"gold": self.gold, "predicted": self.answer, "confidence": self.confidence}


def find_mistakes(task: Tagger, data: TaggerDataset, wrong: Sequence[int]) -> list[Mistake]:
    """Every wrong part of the sentences of these numbers."""
    some = data.pick(wrong)
    answers = task.analyse_rows(some.rows, some.forms)
    found = []
    for number, example, tags, columns in zip(wrong, some.examples, some.tags, answers, strict=True):
        for column, (tagset, tagging) in enumerate(zip(task.tagsets, columns, strict=True)):
            path = tagset.encode(tagging.tags)
            for part in _wrong_parts(tagset, example.words, example.tags[column], tagging):
                named = {"column": tagset.column} if len(task.tagsets) > 1 else {}
                record = {"where": example.where, "word": part.start + 1, **named, **part.record}
                record["context"] = show_words(example.words, part.start, part.end)
                about = _first_wrong(column, tags[column], path, part)
                found.append(Mistake(number, record, part.confidence, about))
    return found


def _first_wrong(
    column: int, gold: npt.NDArray[np.int64], path: npt.NDArray[np.int64], part: WrongPart
) -> WrongTag | None:
    """The first tag that differs; None where it is one that the model does not know."""
    for i in range(part.start, part.end):
        if gold[i] != path[i] and UNKNOWN not in (gold[i], path[i]):
            return WrongTag(column, i, int(gold[i]), path.tolist())
    return None


def _wrong_parts(
    tagset: Tagset, words: Sequence[str], gold: Sequence[str], tagging: Tagging
) -> Iterator[WrongPart]:
    """Single tags where they mark no spans."""
    if tagset.written:
        yield from _wrong_spans(words, gold, tagging)
        return
    for i, (right, said) in enumerate(zip(gold, tagging.tags, strict=True)):
        if right != said:
            yield WrongPart(i, i + 1, right, said, tagging.confidence[i])


def _wrong_spans(words: Sequence[str], gold: Sequence[str], tagging: Tagging) -> Iterator[WrongPart]:
    right, said = set(tags_to_spans(gold)), dict(tagging.spans)
    for group in _overlapping(right ^ said.keys()):
        start, end = group[0].start, max(span.end for span in group)
        chances = [said[span] for span in group if span in said]
        # Where nothing was said, as sure as the least sure of its words.
        sure = max(chances) if chances else min(tagging.confidence[start:end])
        missed, wrong = [s for s in group if s in right], [s for s in group if s in said]
        yield WrongPart(start, end, _spell(words, missed), _spell(words, wrong), sure)


def _overlapping(spans: set[Span]) -> Iterator[list[Span]]:
    """Groups of spans that share words, in the order of the sentence."""
    group: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if group and span.start >= max(one.end for one in group):
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _spell(words: Sequence[str], spans: Sequence[Span]) -> str:
    return " | ".join(f"{s.label}: {' '.join(words[s.start : s.end])}" for s in spans) or "O"


def show_words(words: Sequence[str], start: int, end: int) -> str:
    """Words in brackets, with a few before and after them."""
    before, after = max(0, start - AROUND), end + AROUND
    inside = f"[{' '.join(words[start:end])}]"
    shown = [*words[before:start], inside, *words[end:after]]
    return f"{'… ' * (before > 0)}{' '.join(shown)}{' …' * (after < len(words))}"
