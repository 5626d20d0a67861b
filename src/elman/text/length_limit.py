"""The longest text that is read at once: memory grows with its length, and no answer about it needs more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from elman.errors import DataError

MAX_TOKENS = 100_000
_REMEDY = f"the most that are read at once are {MAX_TOKENS:,}: split it, or leave it out"


class LongTextError(DataError):
    """A text has too many tokens; ``index`` is its place among those that were given."""

    def __init__(self, index: int, tokens: int) -> None:
        super().__init__(f"text {index + 1} has {tokens:,} tokens; {_REMEDY}")
        self.index, self.tokens = index, tokens


def check_lengths(lengths: Iterable[int]) -> None:
    """Refuse the first text that has more than `MAX_TOKENS` tokens."""
    for index, tokens in enumerate(lengths):
        if tokens > MAX_TOKENS:
            raise LongTextError(index, tokens)


@contextmanager
def locate_long_texts(places: Sequence[str]) -> Iterator[None]:
    """Say of a text that is too long where it is; ``places`` are those of the texts that are read."""
    try:
        yield
    except LongTextError as error:
        raise DataError(f"{places[error.index]}: the text has {error.tokens:,} tokens; {_REMEDY}") from None
