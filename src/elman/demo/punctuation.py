"""demo tagger: capitals and punctuation for text that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from elman.demo.counting import Labelled, commonest, commonest_of_each
from elman.demo.demo import Table
from elman.demo.marks import PLAIN, Passage, bare, passages, restored
from elman.demo.prose import enough, prose
from elman.demo.sources import divided, files
from elman.metrics import accuracy

if TYPE_CHECKING:
    from elman.tasks.tagger import Tagger

OWN = (
    "python is a programming language it was made by guido van rossum and it is free",
    "if the file does not exist it is created otherwise it is overwritten",
    "first the text is read then it is cut into words and finally each word gets a number",
)
"""Text that stands in no documentation."""


@dataclass(frozen=True)
class Punctuation:
    """A tagger of lower-cased words, whose passages stand under the name of their file."""

    passages: Mapping[str, list[Passage]]
    minutes: float
    ask: str = "type without capitals and punctuation, and see them put in"

    @property
    def about(self) -> str:
        words = sum(len(one.words) for some in self.passages.values() for one in some)
        return (
            f"A tagger on {words:,} lower-cased words from the docstrings and comments of Python, NumPy and\n"
            "PyTorch: each word's tag says its capitals and the mark behind it. Whole files are held out."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        paths = {}
        for part in ("train", "valid", "test"):
            path = folder / f"{part}.conll"
            path.write_text("".join(map(_lines, self._part(part))), encoding="utf-8")
            paths[part] = str(path)
        return {
            "task": "tagger",
            "data": {"train": paths["train"], "valid": paths["valid"], "batch": 1024},
            "tokens": {"kind": "whitespace", "lower": True, "digits": True},
            "model": {
                "hidden": 128,
                "output": "crf",
                "casing": False,
                "characters": "",
                "dropout": 0.3,
            },
            "training": {"epochs": 4, "patience": 0, "minutes": self.minutes},
        }

    def results(self, model: Tagger) -> Table:
        known, held = _pairs(self._part("train")), self._part("test")
        pairs = _pairs(held)
        gold, always, of_word = (
            [tag for _, tag in pairs],
            commonest(known),
            commonest_of_each(known),
        )
        ways = {
            "leave all as it is": [always] * len(pairs),
            "the word's commonest": [of_word(word) for word, _ in pairs],
            "LSTM": [*chain.from_iterable(model.tag([one.words for one in held]))],
        }
        return Table(
            (f"{len(pairs):,} held-out words", "accuracy %", "F1 of changes %"),
            [
                (way, f"{accuracy(gold, guess):.1f}", f"{changes(gold, guess):.1f}")
                for way, guess in ways.items()
            ],
            "a change: a word with a capital or a mark; more is better",
        )

    def examples(self, model: Tagger) -> Iterator[str]:
        yield "Passages from files that it has not seen, first without:"
        for one in self._part("test")[:40:14]:
            yield f"  {' '.join(one.words)}"
            yield f"  {self.answer(model, ' '.join(one.words))}"
            yield ""
        yield "And text that is from no such file:"
        for text in OWN:
            yield f"  {self.answer(model, text)}"

    def answer(self, model: Tagger, text: str) -> str:
        words = bare(text)
        return restored(Passage(tuple(words), tuple(model.tag([words])[0]))) if words else ""

    def pictures(self, model: Tagger, folder: Path) -> Iterator[Path]:
        return iter(())  # words say it

    def commands(self, folder: Path) -> list[str]:
        where = quote(str(folder))
        return [
            f'echo "{OWN[1]}" | elman predict {where}',
            f"elman evaluate {where} {quote(str(folder / 'data' / 'test.conll'))}",
        ]

    def _part(self, part: str) -> list[Passage]:
        chosen = getattr(divided(sorted(self.passages)), part)
        return [one for name in chosen for one in self.passages[name]]


def changes(gold: list[str], guess: list[str]) -> float:
    """F1, in percent, of the tags that change a word."""
    right = sum(a == b != PLAIN for a, b in zip(gold, guess, strict=True))
    asked, made = (sum(tag != PLAIN for tag in tags) for tags in (gold, guess))
    return 200 * right / (asked + made) if right else 0.0


def _pairs(some: list[Passage]) -> Labelled:
    return [pair for one in some for pair in zip(one.words, one.tags, strict=True)]


def _lines(one: Passage) -> str:
    return "".join(f"{word} {tag}\n" for word, tag in zip(*one, strict=True)) + "\n"


def prepared(minutes: float) -> Punctuation:
    """The demo on what is installed here."""
    return Punctuation(passages(enough(prose(files(("", "numpy", "torch"), inner=True)))), minutes)
