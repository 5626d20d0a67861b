"""A slice of Tatoeba English-French in subwords, cut in two by English sentences."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elman.metrics import corpus_bleu
from elman.text.files import read_lines
from elman.text.tokenizer import Tokenizer, build_tokenizer

FILE = "tatoeba-en-fr/fra.txt.gz"


@dataclass(frozen=True)
class TestItem:
    """A sentence that nothing is trained on, with all its translations."""

    source: str
    targets: list[str]


@dataclass(frozen=True)
class Corpus:
    """Pairs to train on as subwords, and what is held out, short sentences first."""

    train: list[tuple[list[str], list[str]]]
    held: list[tuple[list[str], TestItem]]
    target: Tokenizer

    @property
    def lengths(self) -> list[tuple[int, int]]:
        """Tokens of each pair; a target has its end, too."""
        return [(len(source), len(target) + 1) for source, target in self.train]

    def store(self, folder: Path) -> None:
        """Write what a `Translator` reads."""
        sources, targets = zip(*self.train, strict=True)
        _write(folder / "train.en", sources)
        _write(folder / "train.fr", targets)
        _write(folder / "test.en", [source for source, _ in self.held])

    def bleu(self, answers: Sequence[str]) -> float:
        """BLEU of answers in subwords to what is held out."""
        ids = {item: i for i, item in enumerate(self.target.items)}
        texts = [self.target.decode([ids[piece] for piece in a.split()]) for a in answers]
        return corpus_bleu(texts, [held.targets for _, held in self.held])


def tatoeba(path: Path, *, pairs: int, held: int, subwords: int) -> Corpus:
    """So many pairs and so many held-out English sentences, none of which is in any of the pairs."""
    kept, out = split(pairs_of(path), count=pairs, held=held)
    source, target = (build_tokenizer(side, kind="bpe", size=subwords) for side in zip(*kept, strict=True))
    cut = [(source.tokens(one), target.tokens(other)) for one, other in kept]
    # Sorted for JoeyNMT, too, which decodes in the given order: less padding.
    tests = sorted(((source.tokens(one.source), one) for one in out), key=lambda t: len(t[0]))
    return Corpus(cut, tests, target)


def pairs_of(path: Path) -> list[tuple[str, str]]:
    """The pairs of a file; any blank, such as the narrow one before French punctuation, is a plain one."""
    columns = (line.split("\t") for _, line in read_lines(str(path)))
    return [(" ".join(one.split()), " ".join(other.split())) for one, other, *_ in columns]


def split(
    pairs: Iterable[tuple[str, str]], *, count: int, held: int
) -> tuple[list[tuple[str, str]], list[TestItem]]:
    """Pairs to train on and sentences to judge by, drawn at random by source."""
    groups: dict[str, list[str]] = {}
    for source, target in pairs:
        groups.setdefault(source, []).append(target)
    order = sorted(groups)
    random.Random(0).shuffle(order)
    rest = [(source, target) for source in order[held:] for target in groups[source]]
    return rest[:count], [TestItem(source, groups[source]) for source in order[:held]]


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join(f"{' '.join(row)}\n" for row in rows), encoding="utf-8")
