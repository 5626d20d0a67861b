"""Texts and labels as tables: TREC, R8, SST-2, SNIPS and ATIS intents, and parts of them.

``trec-400`` has 400 of the training examples and nothing to validate by; ``r8-tenth`` has a tenth of them, and
``r8-tenth-text`` the same and the texts of the others without their labels.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from baselines import BenchSet
from baselines.two_columns import read_table, write_table
from elman.text.files import read_lines

FEW = 400  # examples of the small sets
TENTH, WITH_TEXT = "tenth", "tenth-text"

Row = tuple[str, str]  # text, label
Parts = dict[str, list[Row]]  # by train, valid, test; valid only where the corpus has one


def prepare_classifier(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name."""
    corpus, _, part = name.partition("-")
    parts, options = READERS[corpus](data), ()
    if part:
        count = FEW if part == str(FEW) else len(parts["train"]) // 10
        drawn = random.Random(0).sample(range(len(parts["train"])), count)
        if part == WITH_TEXT:
            others = (row for i, row in enumerate(parts["train"]) if i not in {*drawn})
            options = ("--unlabelled", str(_write_texts(folder / f"{name}.txt", others)))
        parts = {"train": [parts["train"][i] for i in drawn], "test": parts["test"]}
    known = {label for _, label in parts["train"]}
    if "valid" in parts:  # nothing can be chosen by what nobody can know
        parts["valid"] = [row for row in parts["valid"] if row[1] in known]
    files = {
        part: write_table(folder / f"{name}.{part}.tsv", ("text", "label"), rows)
        for part, rows in parts.items()
    }
    found = (files["train"], files["test"], files.get("valid"))
    return BenchSet(name, "classifier", "accuracy", *found, options)


def _write_texts(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(f"{text}\n" for text, _ in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[Row]:
    """The rows of a file that was prepared here."""
    return [(text, label) for text, label in read_table(path)]


def _trec(data: Path) -> Parts:
    def rows(part: str) -> Iterable[Row]:
        for line in (data / f"trec/TREC.{part}").read_text(encoding="latin-1").splitlines():
            label, _, text = line.partition(" ")
            yield text, label.partition(":")[0]

    return {part: list(rows(part)) for part in ("train", "test")}


def _r8(data: Path) -> Parts:
    def rows(part: str) -> Iterable[Row]:
        for _, line in read_lines(str(data / f"reuters-r8/{part}.txt.gz")):
            label, _, text = line.partition("\t")
            yield text, label

    return {part: list(rows(part)) for part in ("train", "test")}


def _sst2(data: Path) -> Parts:
    def rows(part: str) -> Iterable[Row]:
        for _, line in read_lines(str(data / f"sst/stsa.binary.{part}")):
            label, _, text = line.partition(" ")
            yield text, label

    return {part: list(rows(name)) for part, name in (("train", "train"), ("valid", "dev"), ("test", "test"))}


def _intents(data: Path) -> Parts:
    def column(part: str, name: str) -> list[str]:
        return (data / part / name).read_text(encoding="utf-8").splitlines()

    parts = ("train", "valid", "test")
    return {p: list(zip(column(p, "seq.in"), column(p, "label"), strict=True)) for p in parts}


READERS = {
    "trec": _trec,
    "r8": _r8,
    "sst2": _sst2,
    "snips": lambda data: _intents(data / "snips"),
    "atis": lambda data: _intents(data / "atis"),
}
NAMES = (
    *READERS,
    *(f"{name}-{FEW}" for name in READERS),
    *(f"{name}-{part}" for name in ("r8", "sst2") for part in (TENTH, WITH_TEXT)),
)
