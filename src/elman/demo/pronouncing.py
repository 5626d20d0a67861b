"""demo seq2seq: from the letters of a word to its sounds."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from elman.demo.demo import Table
from elman.demo.dictionary import Pronunciations, installed
from elman.demo.sources import Parts, divided
from elman.metrics import edit_rate, exact

if TYPE_CHECKING:
    from elman.tasks.seq2seq import Seq2Seq

_SHOWN = 1000  # held-out words that are scored
_OWN = ("elman", "recurrent", "hochreiter", "gated", "blorptastic")


@dataclass(frozen=True)
class Pronouncing:
    """A sequence-to-sequence model with attention on a pronouncing dictionary."""

    words: Pronunciations
    minutes: float
    ask: str = "type a word, and read how it sounds"

    @property
    def about(self) -> str:
        return (
            f"An encoder-decoder with attention on the {len(self.words):,} words of the CMU Pronouncing\n"
            "Dictionary: from letters to sounds. Words are held out with all their pronunciations."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        paths = {}
        for part in ("train", "valid", "test"):
            path = folder / f"{part}.tsv"
            with path.open("w", encoding="utf-8") as file:
                file.write("source\ttarget\n")
                file.writelines(
                    f"{word}\t{' '.join(sounds)}\n"
                    for word in self._part(part)
                    for sounds in self.words[word]
                )
            paths[part] = str(path)
        return {
            "task": "seq2seq",
            "data": {
                "train": paths["train"],
                "valid": paths["valid"],
                "grouped": True,
                "judged": 300,
                "batch": 1024,
            },
            "tokens": {"source": {"kind": "chars"}, "target": {"kind": "whitespace"}},
            "model": {
                "layers": 1,
                "context": "current",
                "hidden": 128,
                "embedding": 64,
                "dropout": 0.05,
                "smoothing": 0.0,
                "metric": "nats_per_token",
                "bleu": "none",
            },
            "training": {
                "lr": 7e-3,
                "schedule": "one_cycle",
                "warmup": 0.1,
                "epochs": 4,
                "evaluate_every": 1000,
                "patience": 0,
                "average": 0.98,
                "minutes": self.minutes,
            },
        }

    def results(self, model: Seq2Seq) -> Table:
        held = self._part("test")[:_SHOWN]
        right = [[list(sounds) for sounds in self.words[word]] for word in held]
        known = self._part("train")
        ways = {
            "as the nearest known word": [list(self.words[near(word, known)][0]) for word in held],
            "LSTM with attention": [answer.split() for answer in model.translate(held)],
        }
        rows: list[tuple[str, ...]] = [
            (name, f"{edit_rate(guess, right):.1f}", f"{100 - exact(guess, right):.1f}")
            for name, guess in ways.items()
        ]
        header = (f"{len(held):,} held-out words", "phoneme error %", "word error %")
        return Table(header, rows, "less is better; beam of 5")

    def examples(self, model: Seq2Seq) -> Iterator[str]:
        yield "Held-out words, how they sound, and what it says:"
        held = self._part("test")
        shown = held[:: len(held) // 8][:8]
        for word, guess in zip(shown, model.translate(shown), strict=True):
            right = " ".join(self.words[word][0])
            sign = "" if tuple(guess.split()) in self.words[word] else "   ✗"
            yield f"  {word:16} {right:32} {guess}{sign}"
        yield ""
        yield "Words and names that no dictionary has:"
        unknown = [word for word in _OWN if word not in self.words]
        for word, guess in zip(unknown, model.translate(unknown), strict=True):
            yield f"  {word:16} {guess}"

    def answer(self, model: Seq2Seq, text: str) -> str:
        return "  |  ".join(model.translate(text.lower().split()))

    def pictures(self, model: Seq2Seq, folder: Path) -> Iterator[Path]:
        """Where it looks as it writes a word that it has not seen."""
        from elman.inspect.alignment import draw_alignment

        word = max(self._part("test")[:200], key=len)
        seen = model.align(word, model.translate([word])[0])
        path = folder / "attention.png"
        draw_alignment(seen.weights.numpy(), seen.source, seen.target, path)
        yield path

    def commands(self, folder: Path) -> list[str]:
        place = quote(str(folder))
        return [
            f"echo recurrence | elman translate {place} --n-best 3",
            f"echo recurrence | elman translate {place} --attention recurrence.png",
            f"elman evaluate {place} {quote(str(folder / 'data' / 'test.tsv'))}",
        ]

    def _part(self, name: str) -> list[str]:
        return list(getattr(self._parts, name))

    @cached_property
    def _parts(self) -> Parts:
        return divided(sorted(self.words))


def near(word: str, known: list[str]) -> str:
    """Of sorted words the neighbour in the alphabet that has more of a beginning in common."""
    place = bisect(known, word)
    neighbours = known[max(0, place - 1) : place + 1]
    return max(neighbours, key=lambda other: _shared(word, other))


def _shared(a: str, b: str) -> int:
    """Letters at the beginning that are the same."""
    pairs = zip(a, b, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def prepared(minutes: float) -> Pronouncing:
    """With the dictionary that is installed."""
    return Pronouncing(installed(), minutes)
