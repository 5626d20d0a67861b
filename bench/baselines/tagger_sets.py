"""Words and tags in columns: EWT's parts of speech, CoNLL-2000's chunks, WNUT-17's entities, SNIPS' slots.

Of CoNLL-2000 all systems see the words alone, as the plain command does; its parts of speech are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from baselines import BenchSet
from elman.tasks.tagger.task import TaggerDataConfig, TaggerExample, read_examples
from elman.text.files import read_lines

Sentence = tuple[Sequence[str], Sequence[str]]  # words, tags


def prepare_tagger(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name."""
    if name == "ewt":
        train, valid, test = (data / f"ud-english-ewt/en_ewt-ud-{p}.conllu" for p in ("train", "dev", "test"))
        return BenchSet(name, "tagger", "accuracy", train, test, valid, ("--column", "upos"))
    parts = READERS[name](data)
    files = {part: _write(folder / f"{name}.{part}.conll", some) for part, some in parts.items()}
    return BenchSet(name, "tagger", "f1", files["train"], files["test"], files.get("valid"))


def read_sentences(corpus: BenchSet, path: Path) -> list[TaggerExample]:
    """The sentences of a prepared file, read as the command line reads them."""
    column = corpus.options[1] if corpus.options else ""
    return list(read_examples(TaggerDataConfig(column=column), str(path)))


def _conll2000(data: Path) -> dict[str, Iterable[Sentence]]:
    return {p: _columns(data / f"conll2000-chunking/{p}.txt.gz", " ") for p in ("train", "test")}


def _wnut17(data: Path) -> dict[str, Iterable[Sentence]]:
    files = {"train": "wnut17train.conll", "valid": "emerging.dev.conll", "test": "emerging.test.annotated"}
    return {part: _columns(data / "wnut17" / file, "\t") for part, file in files.items()}


def _snips_slots(data: Path) -> dict[str, Iterable[Sentence]]:
    def sentences(part: str) -> Iterator[Sentence]:
        columns = (read_lines(str(data / f"snips/{part}/{name}")) for name in ("seq.in", "seq.out"))
        for (_, words), (_, tags) in zip(*columns, strict=True):
            yield words.split(), tags.split()

    return {part: sentences(part) for part in ("train", "valid", "test")}


READERS = {"conll2000": _conll2000, "wnut17": _wnut17, "snips-slots": _snips_slots}
NAMES = ("ewt", *READERS)


def _columns(path: Path, separator: str) -> Iterator[Sentence]:
    """Sentences between empty lines: the first column and the last."""
    words: list[str] = []
    tags: list[str] = []
    for _, line in read_lines(str(path)):
        if line.strip():
            cells = line.strip("\n").split(separator)
            words.append(cells[0])
            tags.append(cells[-1])
        elif words:
            yield words, tags
            words, tags = [], []
    if words:
        yield words, tags


def _write(path: Path, sentences: Iterable[Sentence]) -> Path:
    texts = ("".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in sentences)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path
