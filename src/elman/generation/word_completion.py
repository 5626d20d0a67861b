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

from elman.argument_checks import check_arguments
from elman.errors import check_option
from elman.generation.adapted_lm import adapt
from elman.generation.cache import Cache
from elman.generation.cursor import Prompt, next_log_probs, read_prompt
from elman.generation.dynamic_eval import DynamicEval
from elman.generation.partial_prefix import PartialWord
from elman.generation.predictor import LMPredictor
from elman.generation.prefix_search import match_prefix
from elman.generation.word_search import MAX_WORD_TOKENS, Completion, WordSearch, word_fragment
from elman.ranges import PositiveInt
from elman.text.arguments import check_text
from elman.text.vocab import SPECIALS


@check_arguments
def complete(
    lm: LMPredictor,
    text: str,
    k: PositiveInt = 5,
    *,
    width: PositiveInt = 64,
    cache: Cache | None = None,
    dynamic: DynamicEval | None = None,
) -> list[Completion]:
    """The k likeliest completions of the last word of a text, or of the next one after a blank.

    There are fewer where the model knows fewer words that begin so. ``width`` is that of the search; models
    of words need none.
    """
    text = check_text(text, "complete")
    check_option("k", k, 1 <= k <= width, f"from 1 to the width of the search, {width}")
    lm = adapt(lm, text, MAX_WORD_TOKENS, cache=cache, dynamic=dynamic)
    read = read_prompt(lm, text)
    if isinstance(read.partial_prefix, PartialWord):
        return _words(lm, read, read.partial_prefix, k)
    matches = match_prefix(lm, read.cursor, read.partial_prefix, width)
    if not matches.found:
        return []
    found = WordSearch(lm, word_fragment(text), k, width).search(matches, read.partial_prefix.most)
    return heapq.nsmallest(k, found, key=lambda one: (-one.probability, one.text))


def _words(lm: LMPredictor, read: Prompt, prefix: PartialWord, k: int) -> list[Completion]:
    """The words with the largest shares of all that may follow."""
    masses: dict[str, float] = {}
    if prefix.text:
        matches = match_prefix(lm, read.cursor, prefix, width=prefix.most)
        for way in matches.found:
            rest = prefix.rest(way.ids)
            masses[rest] = masses.get(rest, 0.0) + math.exp(way.log_prob)
    else:
        _, log_probs = next_log_probs(lm, read.cursor)
        chances, words = log_probs[0].double().exp().tolist(), lm.tokenizer.items
        masses = dict(zip(words[len(SPECIALS) :], chances[len(SPECIALS) :], strict=True))
    total, fragment = math.fsum(masses.values()), _fragment(lm, read.text, prefix)
    best = heapq.nsmallest(k, masses.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Completion(fragment + rest, rest, mass / total) for rest, mass in best]


def _fragment(lm: LMPredictor, text: str, prefix: PartialWord) -> str:
    if not prefix.text:
        return ""
    run = text.split()[-1]
    if lm.tokenizer.kind == "whitespace":
        return run
    return word_fragment(run) or lm.tokenizer.tokens(run)[-1]
