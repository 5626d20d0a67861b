"""The likeliest ends of a word that is spelled by characters, bytes or subwords."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from elman.generation.cursor import Cursor, next_log_probs
from elman.generation.predictor import LMPredictor
from elman.generation.prefix_search import PrefixMatches
from elman.generation.token_bytes import decode_partial, is_word_char, token_bytes
from elman.shapes import Float, Tensor
from elman.state import pick

MAX_WORD_TOKENS = 64  # tokens of a word, after which the search gives up
_ENOUGH = 1e-4  # of the last completion asked for: what is less cannot change the ranking by much


class Completion(NamedTuple):
    """A word, how it goes on from what was typed of it, and its probability."""

    text: str
    rest: str  # of several that lead to the same word, such as with a blank and without, the likeliest
    probability: float


class OpenWord(NamedTuple):
    """A word that goes on."""

    log_prob: float
    written: bytes  # after what was typed


@dataclass
class WordSearch:
    """A beam over spellings; whatever way a word was spelled, its probability goes to the same word."""

    lm: LMPredictor
    fragment: str  # what was typed of the word; where that is nothing, blanks may come first
    k: int
    width: int
    ended: dict[str, dict[str, float]] = field(default_factory=dict)  # by word, then by its rest
    nothing: float = 0.0  # the probability that no word follows

    def search(self, matches: PrefixMatches, typed: int) -> list[Completion]:
        """The words that were found; ``typed`` bytes of the covers were there before."""
        best = matches.best(self.width)
        top = max(way.log_prob for way in matches.found)
        total = top + math.log(math.fsum(math.exp(way.log_prob - top) for way in matches.found))
        spell = token_bytes(self.lm.tokenizer).text
        ways = [OpenWord(way.log_prob - total, spell(way.ids)[typed:]) for way in best]
        live = [i for i, way in enumerate(ways) if not self._close(way)]
        cursor = matches.cursor([best[i] for i in live]) if live else matches.start
        ways = [ways[i] for i in live]
        for _ in range(MAX_WORD_TOKENS):
            if not ways or self._enough(ways):
                break
            ways, cursor = self._advance(ways, cursor)
        return [
            Completion(word, max(rests, key=rests.__getitem__), min(p / (1 - self.nothing), 1.0))
            for word, rests in self.ended.items()
            if (p := sum(rests.values())) > 0
        ]

    def _advance(self, ways: list[OpenWord], cursor: Cursor) -> tuple[list[OpenWord], Cursor]:
        state, log_probs = next_log_probs(self.lm, cursor)
        scores = torch.tensor([way.log_prob for way in ways], dtype=torch.float64)
        joint = self._finish(ways, log_probs.double().cpu() + scores[:, None])
        values, cells = joint.flatten().topk(min(self.width, joint.numel()))
        spell, size = token_bytes(self.lm.tokenizer), joint.shape[1]
        grown, kept = [], []
        for value, cell in zip(values.tolist(), cells.tolist(), strict=True):
            way = OpenWord(value, ways[cell // size].written + spell[cell % size])
            if value > -math.inf and not self._close(way):
                grown.append(way)
                kept.append(cell)
        chosen = torch.tensor(kept, dtype=torch.long, device=cursor.token.device)
        return grown, Cursor(pick(state, chosen // size), chosen % size)

    def _finish(self, ways: list[OpenWord], joint: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
        """Book all ends at once that are a single token away; what remains are ways to go on."""
        word_enders, end = torch.tensor(token_bytes(self.lm.tokenizer).word_enders), self.lm.end
        last = joint[:, end].exp().tolist()
        joint[:, end] = -math.inf
        other = joint[:, word_enders].exp().sum(1).tolist()
        closed = []
        for row, way in enumerate(ways):
            text, whole = decode_partial(way.written)
            if not self.fragment and not text.strip():
                self.nothing += last[row]
            else:
                self._book(text, last[row] + whole * other[row])
                closed += [row] * whole
        joint[torch.tensor(closed, dtype=torch.long)[:, None], word_enders] = -math.inf
        return joint

    def _close(self, way: OpenWord) -> bool:
        """Book a way that has come to the end of its word."""
        text, _ = decode_partial(way.written)
        begin = 0 if self.fragment else len(text) - len(text.lstrip())
        stop = next((i for i in range(begin, len(text)) if not is_word_char(text[i])), None)
        if stop is None:
            return False
        symbol = not self.fragment and stop == begin  # a symbol where a word might be is one itself
        self._book(text[: stop + symbol], math.exp(way.log_prob))
        return True

    def _book(self, rest: str, probability: float) -> None:
        rests = self.ended.setdefault((self.fragment + rest).lstrip(), {})
        rests[rest] = rests.get(rest, 0.0) + probability

    def _enough(self, ways: list[OpenWord]) -> bool:
        if len(self.ended) < self.k:
            return False
        masses = (sum(rests.values()) for rests in self.ended.values())
        last = sorted(masses, reverse=True)[self.k - 1]
        return sum(math.exp(way.log_prob) for way in ways) < _ENOUGH * last


def word_fragment(line: str) -> str:
    """The part of a word at the end of a line."""
    start = next((i + 1 for i in reversed(range(len(line))) if not is_word_char(line[i])), 0)
    return line[start:]
