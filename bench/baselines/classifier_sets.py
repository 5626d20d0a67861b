"""Texts and labels as tables: TREC, R8, SST-2, SNIPS and ATIS intents, and a few hundred lines of each."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from baselines import BenchSet
from baselines.two_columns import read_table, write_table
from elman.text.files import read_lines

FEW = 400  # examples of the small sets

Row = tuple[str, str]  # text, label
Parts = dict[str, list[Row]]  # by train, valid, test; valid only where the corpus has one


def prepare_classifier(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name, or 400 of its training examples and nothing to validate by (``trec-400``)."""
    corpus, _, few = name.partition("-")
    parts = READERS[corpus](data)
    if few:
        parts = {"train": random.Random(0).sample(parts["train"], int(few)), "test": parts["test"]}
    known = {label for _, label in parts["train"]}
    if "valid" in parts:  # nothing can be chosen by what nobody can know
        parts["valid"] = [row for row in parts["valid"] if row[1] in known]
    files = {
        part: write_table(folder / f"{name}.{part}.tsv", ("text", "label"), rows)
        for part, rows in parts.items()
    }
    return BenchSet(name, "classifier", "accuracy", files["train"], files["test"], files.get("valid"))


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
NAMES = (*READERS, *(f"{name}-{FEW}" for name in READERS))
