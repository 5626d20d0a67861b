"""Ranked completions of what was typed, also in mid-word: "Once upo" may go on to "upon".

The probability of a completion is that of the word, given the text before it, that it begins with what was
typed of it, and that a word follows which the model can write. So those of all completions sum to one. For
words this is a sum over the vocabulary, and exact. Characters, bytes and subwords are searched for the
likeliest ends of the word; a word has ended where something follows that is no part of a word, or the end
of the text. What the search finds is exact for characters; ways to cut a word into subwords that are left
out of the search are left out of its probability.
"""

from __future__ import annotations

import heapq
import math

from elman.errors import ConfigError
from elman.tasks.writing.covers import cover
from elman.tasks.writing.predictor import Predictor, reading, writable_log_probs
from elman.tasks.writing.prompt import Prompt, prompt
from elman.tasks.writing.spelled import kind
from elman.tasks.writing.typed import TypedWord
from elman.tasks.writing.word_ends import Completion, WordEnds, fragment_of
from elman.text.vocab import SPECIALS

__all__ = ["Completion", "complete"]


def complete(lm: Predictor, text: str, k: int = 5, *, width: int = 64) -> list[Completion]:
    """The k likeliest completions of the last word of a text, or of the next one after a blank.

    There are fewer where the model knows fewer words that begin so. ``width`` is that of the search; models
    of words need none.
    """
    if not 1 <= k <= width:
        raise ConfigError(f"k is {k}; it must be from 1 to the width of the search, {width}")
    read = prompt(lm, text)
    if isinstance(read.typed, TypedWord):
        return _words(lm, read, read.typed, k)
    covers = cover(lm, read.place, read.typed, width)
    if not covers.found:
        return []
    found = WordEnds(lm, fragment_of(text), k, width).search(covers, read.typed.most)
    return heapq.nsmallest(k, found, key=lambda one: (-one.probability, one.text))


def _words(lm: Predictor, read: Prompt, typed: TypedWord, k: int) -> list[Completion]:
    """The words with the largest shares of all that may follow."""
    masses: dict[str, float] = {}
    if typed.text:
        covers = cover(lm, read.place, typed, width=typed.most)
        for way in covers.found:
            rest = typed.rest(way.ids)
            masses[rest] = masses.get(rest, 0.0) + math.exp(way.log_prob)
    else:
        with reading(lm) as net:
            _, logits = net.step(*read.place)
            chances = writable_log_probs(lm, logits)[0].double().exp().tolist()
        masses = dict(zip(lm.codec.items[len(SPECIALS) :], chances[len(SPECIALS) :], strict=True))
    total, fragment = math.fsum(masses.values()), _fragment(lm, read.text, typed)
    best = heapq.nsmallest(k, masses.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Completion(fragment + rest, rest, mass / total) for rest, mass in best]


def _fragment(lm: Predictor, text: str, typed: TypedWord) -> str:
    if not typed.text:
        return ""
    run = text.split()[-1]
    return run if kind(lm.codec) == "whitespace" else fragment_of(run) or lm.codec.tokens(run)[-1]
