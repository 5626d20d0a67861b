"""The tokens that say most for or against an answer, each with what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elman.inspect.saliency import Saliency, Shares, visible_token

LONG = 40  # tokens of a text; a longer one is shown by its strongest tokens
STRONGEST = 12  # tokens of one answer
AROUND = 18  # characters on either side of a token


@dataclass(frozen=True)
class SalientToken:
    """A token of a text, what it says for an answer, and where it stands."""

    place: int  # from 1
    token: str
    share: float  # nats; below zero it speaks against the answer
    before: str
    after: str

    @property
    def context(self) -> str:
        """On one line, the token in brackets: ``you have [won] a prize``."""
        return f"{self.before}[{visible_token(self.token)}]{self.after}"


def strongest_tokens(
    tokens: Sequence[str], shares: Shares, *, blank: str, count: int = STRONGEST
) -> list[SalientToken]:
    """The tokens with the largest shares, whatever their sign, in the order of the text."""
    places = np.sort(np.argsort(-np.abs(shares), kind="stable")[:count]).tolist()
    return [SalientToken(i + 1, tokens[i], float(shares[i]), *_surroundings(tokens, i, blank)) for i in places]


def _surroundings(tokens: Sequence[str], place: int, blank: str) -> tuple[str, str]:
    """What stands before and after a token, cut to whole tokens where it is long."""
    before, after = "", ""
    for token in reversed(tokens[max(0, place - AROUND) : place]):
        if len(before) + len(token) > AROUND:
            before = f"…{before}"
            break
        before = f"{visible_token(token)}{blank}{before}"
    for token in tokens[place + 1 : place + 1 + AROUND]:
        if len(after) + len(token) > AROUND:
            after = f"{after}…"
            break
        after = f"{after}{blank}{visible_token(token)}"
    return before, after


def strongest_pairs(tokens: Sequence[str], rows: Sequence[Saliency], count: int) -> list[tuple[int, int]]:
    """Of several answers: which rows and tokens have the largest shares of all, in the order of the answers."""
    shares = np.stack([row.shares for row in rows])
    found = np.argsort(-np.abs(shares).ravel(), kind="stable")[:count]
    return sorted((int(i) // len(tokens), int(i) % len(tokens)) for i in found)
