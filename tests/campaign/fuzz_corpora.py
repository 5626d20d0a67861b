"""Corpora of all kinds, well-formed or damaged: read, learnt from by a tiny model, judged by it."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from elman.tasks.config import TokenizerConfig
from elman.tasks.registry import TASKS
from elman.text.tables import read_rows
from elman.text.vectors import read_vectors
from tests.campaign.harness import Target, main

WORDS = [
    *"abcdefgh",
    "the",
    "Dog",
    "B-PER",
    "O",
    "NOUN",
    "_",
    "é",
    "日本",
    "a\u0301",
    "1",
    "-1",
    "nan",
    "0.5",
    "#",
]
STRANGE = [
    "",
    " ",
    "\u2028",
    '"',
    "'",
    "null",
    "{",
    "[]",
    "\ufeff",
    "\t",
    "\x00",
    "\\n",
    "<s>",
    "\u200d",
    "a" * 99,
]
BYTES = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b",",
    b";",
    b'"',
    b"\0",
    b"\x1c",
    b"\xff\xfe",
    b"\xe9",
    b"\xf0\x9f",
    b"PK",
]
SMALL = {"hidden": 4, "embedding": 4}


def word(rng: Random) -> str:
    return rng.choice(STRANGE if rng.random() < 0.02 else WORDS)


def text(rng: Random, most: int = 6) -> str:
    return " ".join(word(rng) for _ in range(rng.randint(1, most)))


def damage(rng: Random, content: bytes) -> bytes:
    """The content with a few bytes replaced, inserted, repeated or cut away; mostly as it was."""
    for _ in range(rng.choice((0, 0, 0, 0, 1, 3))):
        at, to = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        piece = rng.choice([b"", rng.choice(BYTES), rng.randbytes(rng.randrange(4)), content[at:to] * 2])
        content = content[:at] + piece + content[rng.choice((at, to)) :]
    return content


def write(rng: Random, name: str, lines: list[str]) -> str:
    """A file of lines, perhaps damaged; its name."""
    content = "".join(line + rng.choice(("\n", "\n", "\n", "\r\n")) for line in lines)
    encoding = "utf-8" if rng.random() < 0.9 else rng.choice(("utf-16", "latin-1", "utf-8-sig"))
    Path(name).write_bytes(damage(rng, content.encode(encoding, "replace")))
    return name


def write_table(rng: Random, columns: tuple[str, ...], cells: Any) -> str:
    """A table of a random format, with a header or without."""
    rows = [[cell(rng) for cell in cells] for _ in range(rng.randrange(30))]
    kind = rng.choice(("tsv", "csv", "txt", "jsonl", "json"))
    if kind in ("jsonl", "json"):
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        whole = [json.dumps(records)] if kind == "json" else [*map(json.dumps, records)]
        return write(rng, f"a.{kind}", whole)
    if rng.random() < 0.7:
        rows.insert(0, [*columns])
    if kind != "csv":
        return write(rng, f"a.{kind}", ["\t".join(row) for row in rows])
    made = io.StringIO()
    csv.writer(made, delimiter=rng.choice(",;|"), lineterminator="\n").writerows(rows)
    return write(rng, "a.csv", made.getvalue().split("\n"))


def label(rng: Random) -> str:
    return rng.choice(("yes", "no", "maybe", "yes ")) if rng.random() < 0.98 else word(rng)


def learn(task: str, source: Any, rng: Random, **options: Any) -> None:
    """Split, build, encode, one loss and one evaluation: finite numbers, or a refusal."""
    kind = TASKS[task].load()
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8", "latin-1", "utf-16"))
    common = {"train": source, "encoding": encoding, "holdout": rng.choice((0.1, 0.5))}
    data = kind.resolve_data(replace(kind.defaults.data, **common, **options))
    training, held = kind.split(data)
    config = replace(kind.defaults.model, **SMALL)
    tokens = kind.defaults.tokens
    if isinstance(tokens, TokenizerConfig) and task != "tagger":
        tokens = replace(tokens, kind=rng.choice(("words", "whitespace", "chars", "bytes")))
    model = kind.from_examples(config, tokens, training)
    dataset, valid = model.encode(training), model.encode_valid(data, held)
    model.fit_statistics(dataset)
    if task != "lm":  # whose loss carries a state
        first = next(model.build_batches(dataset, data, 0)(0, 0))
        assert math.isfinite(float(model.loss(first, 0.0)))
    scores = model.validate(valid)
    assert all(math.isfinite(score) for score in scores.values()), scores


def classifier(rng: Random) -> None:
    if rng.random() < 0.2:
        texts = [text(rng) for _ in range(rng.randrange(30))]
        labels = [label(rng) for _ in texts]
        learn("classifier", (write(rng, "a.txt", texts), write(rng, "b.txt", labels)), rng)
        return
    multi, skip = rng.random() < 0.2, rng.random() < 0.3
    learn("classifier", write_table(rng, ("text", "label"), (text, label)), rng, multi=multi, skip_bad=skip)


def pairs(rng: Random) -> None:
    source = write_table(rng, ("first", "second", "label"), (text, text, label))
    learn("pairs", source, rng, skip_bad=rng.random() < 0.3)


def lm(rng: Random) -> None:
    shutil.rmtree("cache", ignore_errors=True)
    source = write(rng, "a.txt", [text(rng, 12) for _ in range(rng.randrange(40))])
    learn("lm", source, rng, cache="cache")


def tagger(rng: Random) -> None:
    """CoNLL-U, columns apart by tabs or blanks, JSON lines, or two files."""
    tags = rng.choice((("B-X", "I-X", "O"), ("NOUN", "VERB"), ("S-A", "B-A", "E-A", "O"), ("_",)))
    sentences = [
        [(word(rng), rng.choice(tags)) for _ in range(rng.randint(1, 5))] for _ in range(rng.randrange(20))
    ]
    kind = rng.choice(("conllu", "conll", "txt", "jsonl", "two"))
    if kind == "jsonl":
        rows = [json.dumps({"words": [w for w, _ in s], "tags": [t for _, t in s]}) for s in sentences]
        learn("tagger", write(rng, "a.jsonl", rows), rng)
    elif kind == "two":
        sides = ([" ".join(pair[i] for pair in s) for s in sentences] for i in range(2))
        learn("tagger", tuple(write(rng, f"{i}.txt", side) for i, side in enumerate(sides)), rng)
    else:
        lines: list[str] = []
        apart = rng.choice("\t ")
        for s in sentences:
            for i, (form, tag) in enumerate(s, 1):
                cells = [str(i), form, "_", tag, *"______"] if kind == "conllu" else [form, "_", tag]
                lines.append(("\t" if kind == "conllu" else apart).join(cells))
            lines.append("")
        learn("tagger", write(rng, f"a.{kind}", lines), rng, skip_bad=rng.random() < 0.3)


def seq2seq(rng: Random) -> None:
    from elman.tasks.seq2seq.data import TokenizerPairConfig
    from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig

    lines = [text(rng) for _ in range(rng.randrange(20))]
    source: Any = (write(rng, "a.txt", lines), write(rng, "b.txt", [*map(str.upper, lines)]))
    if rng.random() < 0.5:
        source = write_table(rng, ("source", "target"), (text, text))
    examples = list(Seq2Seq.read(Seq2Seq.defaults.data, source, train=True))
    kinds = rng.choice((("chars", "words"), ("words", "words"), ("bytes", "chars")))
    tokens = TokenizerPairConfig(*map(TokenizerConfig, kinds))
    model = Seq2Seq.from_examples(Seq2SeqConfig(hidden=4, embedding=4), tokens, examples)
    assert math.isfinite(float(model.loss(model.encode(examples).pick(range(min(8, len(examples)))), 0.0)))


def tables(rng: Random) -> None:
    """Rows are read or refused, and have as many cells as were asked for."""
    source = write_table(rng, ("text", "label"), (text, label))
    columns = rng.choice((("text", "label"), {"text": "1", "label": "2"}, {"text": "2", "label": "1"}))
    for _, cells in read_rows(source, columns, skip_bad=rng.random() < 0.5):
        assert len(cells) == 2
        assert all(cell.strip() for cell in cells)


def vectors(rng: Random) -> None:
    """A file of word vectors, as text or binary."""
    size, known = rng.randint(1, 4), ["a", "the", "b"]
    rows = [
        f"{word(rng)} {' '.join(str(rng.gauss(0, 1)) for _ in range(size))}" for _ in range(rng.randrange(9))
    ]
    if rng.random() < 0.5:
        rows.insert(0, f"{len(rows)} {size}")
    source = write(rng, rng.choice(("v.txt", "v.bin")), rows)
    found = read_vectors(source, known)
    assert found.matrix.shape[0] == len(known)
    assert math.isfinite(float(found.matrix.sum()))


TARGETS: dict[str, Target] = {
    f"corpus-{target.__name__}": target for target in (tables, classifier, pairs, lm, tagger, seq2seq, vectors)
}

if __name__ == "__main__":
    main(TARGETS)
