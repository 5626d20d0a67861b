"""Pairs of texts: 1,000, 3,600 and 10,000 words of CMUdict with their sounds, and 20,000 pairs of Tatoeba."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from translators.corpus import FILE, pairs_of, split

from baselines import BenchSet
from baselines.two_columns import read_table, write_table
from elman.metrics import corpus_bleu, exact_match, tokenize_13a
from elman.text.files import read_lines

WORDS = (1000, 3600, 10_000)
PAIRS = 20_000
HELD = 2000  # English sentences: half to validate by, half to test

Group = tuple[str, Sequence[str]]  # a source and its right answers


def prepare_pairs(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name."""
    corpus, _, words = name.partition("-")
    parts = _cmudict(data, int(words)) if corpus == "cmudict" else _tatoeba(data)
    files = {}
    for part, groups in parts.items():
        rows = ((source, target) for source, targets in groups for target in targets)
        files[part] = write_table(folder / f"{name}.{part}.tsv", ("source", "target"), rows)
    metric = "exact" if corpus == "cmudict" else "bleu"
    return BenchSet(name, "seq2seq", metric, files["train"], files["test"], files["valid"])


NAMES = (*(f"cmudict-{words}" for words in WORDS), "tatoeba-20k")


def read_groups(path: Path) -> list[Group]:
    """The sources of a prepared file, each with all its targets."""
    groups: dict[str, list[str]] = {}
    for source, target in read_table(path):
        groups.setdefault(source, []).append(target)
    return list(groups.items())


def score_texts(corpus: BenchSet, answers: Sequence[str]) -> float:
    """The answers to the sources of the test data, in their order: share of right ones, or BLEU (13a)."""
    right = [targets for _, targets in read_groups(corpus.test)]
    texts = [" ".join(answer.split()) for answer in answers]
    if corpus.metric == "exact":
        return exact_match(texts, right)
    return corpus_bleu(texts, right, tokenize=tokenize_13a)


def _cmudict(data: Path, words: int) -> dict[str, list[Group]]:
    """So many words to train on and an eighth as many to validate by, with their first pronunciation."""

    def groups(part: str) -> list[Group]:
        found: dict[str, list[str]] = {}
        for _, line in read_lines(str(data / f"g2p-cmudict-0.7b/cmudict-0.7b.{part}")):
            word, *sounds = line.split()
            found.setdefault(word, []).append(" ".join(sounds))
        return list(found.items())

    def draw(some: list[Group], count: int) -> list[Group]:
        return [(word, sounds[:1]) for word, sounds in random.Random(0).sample(some, count)]

    train = draw(groups("train"), words)
    seen = {word for word, _ in train}
    valid = draw([group for group in groups("dev") if group[0] not in seen], words // 8)
    return {"train": train, "valid": valid, "test": groups("test")}


def _tatoeba(data: Path) -> dict[str, list[Group]]:
    pairs, held = split(pairs_of(data / FILE), count=PAIRS, held=HELD)
    groups = [(item.source, item.targets) for item in held]
    valid = [(source, targets[:1]) for source, targets in groups[: HELD // 2]]
    return {"train": [(one, [other]) for one, other in pairs], "valid": valid, "test": groups[HELD // 2 :]}
