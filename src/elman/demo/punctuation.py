"""demo tagger: capitals and punctuation for text that has none, as tags of lower-cased words.

A tag is ``x`` for a word in small letters, ``X`` for a capital, ``XX`` for capitals only, and then the mark
that follows the word, if any: "Yes, NASA did." is yes/X, nasa/XX did/x. with the last full stop in its tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elman.demo.demonstration import Demo, ResultTable
from elman.demo.docstring_sentences import collect_sentences, require_enough
from elman.demo.label_baselines import Labelled, most_common_label, most_common_label_by_text
from elman.demo.source_files import source_files
from elman.metrics import accuracy

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

OWN = (
    "python is a programming language it was made by guido van rossum and it is free",
    "if the file does not exist it is created otherwise it is overwritten",
    "first the text is read then it is cut into words and finally each word gets a number",
)
"""Text that stands in no documentation."""
_WORD = re.compile(r"([A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*)([.,;:?!]?)")
PLAIN = "x"
"""The tag of a word that stays as it is."""


class Passage(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[str, ...]


class PunctuationDemo(Demo[list[Passage]]):
    """A tagger of lower-cased words, whose passages stand under the name of their file."""

    extension = "conll"
    ask = "type without capitals and punctuation, and see them put in"
    next_commands = (f'echo "{OWN[1]}" | elman predict {{model}}', "elman evaluate {model} {test}")

    @property
    def about(self) -> str:
        words = sum(len(one.words) for some in self.data.values() for one in some)
        return (
            f"A tagger on {words:,} lower-cased words from the docstrings and comments of Python, NumPy and\n"
            "PyTorch: each word's tag says its capitals and the mark behind it. Whole files are held out."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        return {
            "task": "tagger",
            "data": {**self.write_files(folder), "batch_tokens": 1024},
            "tokens": {"kind": "whitespace", "lower": True, "digits": True},
            "model": {"hidden": 128, "output": "crf", "casing": False, "characters": "", "dropout": 0.3},
            "training": {"epochs": 4, "patience": 0, "minutes": self.minutes},
        }

    def results(self, model: Tagger) -> ResultTable:
        known, held = _pairs(self._passages("train")), self._passages("test")
        words, gold = zip(*_pairs(held), strict=True)
        ways = {
            "leave all as it is": [most_common_label(known)] * len(words),
            "the word's commonest": [*map(most_common_label_by_text(known), words)],
            "LSTM": [*chain.from_iterable(model.tag([one.words for one in held]))],
        }
        return ResultTable(
            (f"{len(words):,} held-out words", "accuracy %", "F1 of changes %"),
            [(way, f"{accuracy(gold, it):.1f}", f"{f1_of_changes(gold, it):.1f}") for way, it in ways.items()],
            "a change: a word with a capital or a mark; more is better",
        )

    def examples(self, model: Tagger) -> Iterator[str]:
        yield "Passages from files that it has not seen, first without:"
        for one in self._passages("test")[:40:14]:
            yield f"  {' '.join(one.words)}"
            yield f"  {self.answer(model, ' '.join(one.words))}"
            yield ""
        yield "And text that is from no such file:"
        for text in OWN:
            yield f"  {self.answer(model, text)}"

    def answer(self, model: Tagger, text: str) -> str:
        words = strip_marks(text)
        return restore_text(Passage(tuple(words), tuple(model.tag([words])[0]))) if words else ""

    def file_text(self, part: str) -> str:
        passages = (_pairs([one]) for one in self._passages(part))
        return "".join("".join(f"{word} {tag}\n" for word, tag in pairs) + "\n" for pairs in passages)

    def _passages(self, part: str) -> list[Passage]:
        return [one for name in self.keys(part) for one in self.data[name]]


def f1_of_changes(gold: Sequence[str], guess: Sequence[str]) -> float:
    """F1, in percent, of the tags that change a word."""
    right = sum(a == b != PLAIN for a, b in zip(gold, guess, strict=True))
    asked, made = (sum(tag != PLAIN for tag in tags) for tags in (gold, guess))
    return 200 * right / (asked + made) if right else 0.0


def _pairs(some: list[Passage]) -> Labelled:
    return [pair for one in some for pair in zip(one.words, one.tags, strict=True)]


def tag_passage(text: str) -> Passage | None:
    """The words of a text and their tags; None where they could not be put together again."""
    words, tags = [], []
    for piece in text.split():
        found = _WORD.fullmatch(piece)
        if found is None:
            return None
        word, mark = found.groups()
        words.append(word.lower())
        tags.append(_case(word) + mark)
    made = Passage(tuple(words), tuple(tags))
    return made if restore_text(made) == " ".join(text.split()) else None  # iPhone: no tag says so


def _case(word: str) -> str:
    if word == word.lower():
        return PLAIN
    return "XX" if word == word.upper() and len(word) > 1 else "X"


def restore_text(passage: Passage) -> str:
    """The text with its capitals and marks."""
    pieces = []
    for word, tag in zip(passage.words, passage.tags, strict=True):
        case = tag.rstrip(".,;:?!")
        cased = {"x": word, "X": word[:1].upper() + word[1:], "XX": word.upper()}[case]
        pieces.append(cased + tag[len(case) :])
    return " ".join(pieces)


def strip_marks(text: str) -> list[str]:
    """The words of any text in small letters, without marks."""
    words = (piece.strip(".,;:?!()\"'").lower() for piece in text.split())
    return [word for word in words if word]


def build_passages(sentences: Mapping[str, Sequence[str]], together: int = 3) -> dict[str, list[Passage]]:
    """Sentences of a file that stand near each other, so many in a passage, under the file's name."""
    found: dict[str, list[Passage]] = {}
    for name, some in sentences.items():
        fitting = [sentence for sentence in some if tag_passage(sentence)]
        joined = (tag_passage(" ".join(fitting[i : i + together])) for i in range(0, len(fitting), together))
        if made := [one for one in joined if one]:
            found[name] = made
    return found


def prepare(minutes: float) -> PunctuationDemo:
    """The demo on what is installed here."""
    sentences = require_enough(collect_sentences(source_files(("", "numpy", "torch"), inner=True)))
    return PunctuationDemo(build_passages(sentences), minutes)
