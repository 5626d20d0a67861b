"""Text that arrives in pieces: which tokens are certain, whatever may follow, and what has to wait."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from elman.text.tokenizer import Tokenizer

_SIGMA = "Σ"  # whose lower case depends on what stands before and after it, as no other's does
_AHEAD = 2  # characters that decide whether a word goes on: the ' and the t of don't


class Pending(NamedTuple):
    """Text whose tokens depend on what follows."""

    text: str = ""
    read: int = 0  # its first tokens, which are certain; the text is kept for the sake of the others


def encode_chunk(tokenizer: Tokenizer, pending: Pending, piece: str) -> tuple[list[int], Pending]:
    r"""The ids that have become certain with a piece without ``\n``, and what is still pending.

    All of them, and those of `flush`, are the ids of the whole text, however it was cut into pieces.
    """
    text = pending.text + piece
    if tokenizer.level == "subword":
        cut = _before_last_blanks(text)
        return tokenizer.encode(text[:cut]), Pending(text[cut:])
    if tokenizer.level in ("char", "byte"):
        return _characters(tokenizer, text, pending.read)
    cut = next((i + 1 for i in reversed(range(len(text))) if text[i].isspace()), 0)
    if not (_lowers(tokenizer) and _SIGMA in text[cut:]):
        cut += _certain(tokenizer, text[cut:])
    return tokenizer.encode(text[:cut]), Pending(text[cut:])


def flush(tokenizer: Tokenizer, pending: Pending) -> list[int]:
    """The ids of what is pending if nothing follows."""
    return tokenizer.encode(pending.text)[pending.read :]


def unread_text(tokenizer: Tokenizer, pending: Pending) -> str:
    """What is pending, as far as no token of it was read, normalized as the tokenizer does."""
    text = tokenizer.normalize(pending.text)
    if tokenizer.level == "byte":
        return text.encode("utf-8", "replace")[pending.read :].decode("utf-8", "replace")
    return text[pending.read :]


def _characters(tokenizer: Tokenizer, text: str, read: int) -> tuple[list[int], Pending]:
    if not _lowers(tokenizer):
        return tokenizer.encode(text), Pending()
    closed = next((i + 1 for i in reversed(range(len(text))) if _parts(text[i])), 0)
    rest = text[closed:]
    certain = tokenizer.encode(rest.partition(_SIGMA)[0])
    return (tokenizer.encode(text[:closed]) + certain)[read:], Pending(rest, len(certain))


@lru_cache(maxsize=4096)
def _parts(character: str) -> bool:
    """Whether a sigma does not see what is beyond this character: Python's own rule, asked of it."""
    return f"A{character}{_SIGMA}".lower().endswith("σ")


def _lowers(tokenizer: Tokenizer) -> bool:
    return tokenizer.normalize(_SIGMA) != _SIGMA


def _before_last_blanks(text: str) -> int:
    """Where a word has ended: subwords take the blank before them, and no other, to themselves."""
    starts = (i for i in reversed(range(1, len(text))) if text[i].isspace() and not text[i - 1].isspace())
    return next((i for i in starts if text[i] in " \t\r\f\v"), 0)


def _certain(tokenizer: Tokenizer, run: str) -> int:
    """How much of a run without blanks is in tokens that nothing to come can change."""
    ends, cut = 0, 0
    for token in tokenizer.split(run):
        ends += len(token)
        if ends > len(run) - _AHEAD:
            break
        cut = ends
    return cut
