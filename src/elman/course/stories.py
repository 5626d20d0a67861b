"""Little stories: sentences of a small grammar, each with its parts of speech and its exact probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from random import Random

from elman.course.story_grammar import HEROES, RULES, TAGS, TALES

_NO_BLANK_BEFORE = (".", ",")


@dataclass(frozen=True)
class Story:
    """A sentence of the grammar."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    log_probability: float  # in nats, in the grammar itself: no model can do better on average

    @property
    def text(self) -> str:
        """The sentence as people write it."""
        pieces = (word if word in _NO_BLANK_BEFORE else f" {word}" for word in self.words)
        return "".join(pieces).strip()


def tell_stories(count: int, seed: int = 0) -> list[Story]:
    """So many sentences, drawn independently; the same seed tells the same ones."""
    random = Random(seed)
    return [_tell(random) for _ in range(count)]


def _tell(random: Random) -> Story:
    """A hero and a tale, both drawn, and every symbol replaced until only words are left."""
    hero, tale = random.choice(HEROES), random.choice(TALES)
    chance = -log(len(HEROES)) - log(len(TALES))
    pending, pairs = tale.format(**hero).split()[::-1], list[tuple[str, str]]()
    while pending:
        piece = pending.pop()
        if piece in RULES:
            chance -= log(len(RULES[piece]))
            pending += random.choice(RULES[piece]).split()[::-1]
        else:
            word, _, tag = piece.partition("/")
            pairs.append((word, tag or TAGS.get(word, "NOUN")))
    words, tags = zip(*pairs, strict=True)
    return Story(words, tags, chance)
