"""Which references an output is held against."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from elman.errors import DataError

H = TypeVar("H")
R = TypeVar("R")

Tokens = Sequence[Hashable]  # a string is one, of characters


def pair_references(hypotheses: Sequence[H], references: Sequence[Sequence[R]]) -> list[tuple[H, Sequence[R]]]:
    """Each hypothesis with its references; one or more, not everywhere equally many."""
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} hypotheses cannot be compared with the references of {len(references)}"
        )
    if not hypotheses:
        raise DataError("there are no hypotheses to score")
    for number, those in enumerate(references, 1):
        check_references(those, f"hypothesis {number}")
    return list(zip(hypotheses, references, strict=True))


def check_references(references: Sequence[object], where: str) -> None:
    """Refuse no references, and one text in the place of a list of texts."""
    if isinstance(references, str):
        raise DataError(f"the references of {where} are one string; a list with that string would be right")
    if not references:
        raise DataError(f"{where} has no reference; an empty one would be an empty text")


def pair_token_references(
    hypotheses: Sequence[Tokens], references: Sequence[Sequence[Tokens]]
) -> list[tuple[Tokens, Sequence[Tokens]]]:
    """The same for tokens; words are not taken for lists of characters where a list was left out."""
    both = pair_references(hypotheses, references)
    for number, (tokens, those) in enumerate(both, 1):
        if any(isinstance(one, str) != isinstance(tokens, str) for one in those):
            raise DataError(
                f"hypothesis {number} and its references are not alike:"
                " all strings, or all lists of tokens would be right"
            )
    return both
