"""Pairs of texts for the text-to-text tasks of the lectures: found in corpora, or made up by a few rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from texts.synthetic import facts, stories

Pair = tuple[str, str]


def dialogue(corpora: Path) -> Iterator[Pair]:
    """tiny Shakespeare: the last line of a speech, and the first line of who speaks next."""
    speeches = (corpora / "tinyshakespeare" / "input.txt").read_text().split("\n\n")
    said = [speech.strip().split("\n")[1:] for speech in speeches]
    for one, next_one in pairwise(said):
        if one and next_one:
            yield one[-1], next_one[0]


def headlines(corpora: Path) -> Iterator[Pair]:
    """WikiText-2: the first sentence below a heading, and the heading."""
    heading = ""
    for line in (corpora / "wikitext-2" / "train.txt").read_text().split("\n"):
        words = line.split()
        if words and words[0] == words[-1] == "=":
            heading = " ".join(word for word in words if word != "=")
        elif words and heading:
            first = words[: words.index(".") + 1] if "." in words else words
            if len(first) <= 40 and "<unk>" not in heading:
                yield " ".join(first), heading
            heading = ""


def corrections(corpora: Path) -> Iterator[Pair]:
    """Multi30k's English sentences with a mistake or two in most of them, and as they were."""
    draw = random.Random(0)
    file = corpora / "multi30k-en-de" / "tok" / "train.lc.norm.tok.en"
    for line in file.read_text().split("\n")[:7000]:
        words = line.split()
        if 4 <= len(words) <= 14:
            wrong = words
            for _ in range(draw.choice((0, 1, 1, 2))):
                wrong = _corrupt(wrong, draw)
            yield " ".join(wrong), line.strip()


_CONFUSED = {"a": "an", "an": "a", "is": "are", "are": "is", "in": "at", "on": "in", "his": "her"}


def _corrupt(words: list[str], draw: random.Random) -> list[str]:
    """A word is confused with another, left out, said twice, cut short, or changes places with the next."""
    i = draw.randrange(len(words) - 1)
    before, word, after = words[:i], words[i], words[i + 1 :]
    confused = [j for j, w in enumerate(words) if w in _CONFUSED]
    if confused and draw.random() < 0.5:
        j = draw.choice(confused)
        return [*words[:j], _CONFUSED[words[j]], *words[j + 1 :]]
    if word in ("a", "an", "the"):
        return before + after
    if word.endswith("ing"):
        return [*before, word.removesuffix("ing"), *after]
    if draw.random() < 0.5:
        return [*before, word, word, *after]
    return [*before, after[0], word, *after[1:]]


TASKS: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "dialogue": dialogue,
    "facts": facts,
    "headline": headlines,
    "grammar": corrections,
    "story": stories,
}
"""Makers of pairs by the name of their task."""
