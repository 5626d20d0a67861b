"""Running text: 900,000 tokens of WikiText-2 with 10,000 words, and tiny Shakespeare by characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from baselines import BenchSet
from elman.text.files import read_lines

TOKENS = 900_000  # the end of a line is one, too
WORDS = 10_000  # <unk> is one of them
UNKNOWN = "<unk>"


def prepare_text(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name."""
    return READERS[name](data, folder)


def _wikitext(data: Path, folder: Path) -> BenchSet:
    lines = {part: _lines(data / f"wikitext-2/{part}.txt") for part in ("train", "valid", "test")}
    lines["train"] = list(first_lines(lines["train"], TOKENS))
    counts = Counter(word for line in lines["train"] for word in line if word != UNKNOWN)
    known = {UNKNOWN, *(word for word, _ in counts.most_common(WORDS - 1))}
    files = {}
    for part, some in lines.items():
        files[part] = folder / f"wikitext-900k.{part}.txt"
        texts = (" ".join(word if word in known else UNKNOWN for word in line) for line in some)
        files[part].write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    options = ("--tokens", "whitespace")
    return BenchSet("wikitext-900k", "lm", "perplexity", files["train"], files["test"], files["valid"], options)


def _shakespeare(data: Path, folder: Path) -> BenchSet:
    """The last tenth is the test data; validation data is for each system to hold out."""
    text = (data / "tinyshakespeare/input.txt").read_text(encoding="utf-8")
    end = text.rindex("\n", 0, len(text) * 9 // 10) + 1
    files = [folder / f"shakespeare.{part}.txt" for part in ("train", "test")]
    for path, part in zip(files, (text[:end], text[end:]), strict=True):
        path.write_text(part, encoding="utf-8")
    return BenchSet("shakespeare", "lm", "bits_per_character", *files, options=("--tokens", "chars"))


READERS = {"wikitext-900k": _wikitext, "shakespeare": _shakespeare}
NAMES = tuple(READERS)


def first_lines(lines: Iterable[list[str]], tokens: int) -> Iterable[list[str]]:
    """The lines that begin within the first so many tokens."""
    seen = 0
    for line in lines:
        if seen >= tokens:
            return
        yield line
        seen += len(line) + 1


def read_tokens(corpus: BenchSet, path: Path, lines: int | None = None) -> list[str]:
    """A prepared file as the tokens that are predicted: words and ends of lines, or characters."""
    if corpus.options[1] == "chars":
        return list(path.read_text(encoding="utf-8"))
    return [word for line in islice(_lines(path), lines) for word in (*line, "</s>")]


def _lines(path: Path) -> list[list[str]]:
    return [line.split() for _, line in read_lines(str(path))]
