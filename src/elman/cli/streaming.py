"""Input that is answered while it comes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def chunks(stream: Iterable[T], file: str, most: int) -> Iterator[list[T]]:
    """What is read from a file, so many at a time; what a person types, one by one."""
    size = 1 if file == "-" and sys.stdin.isatty() else most
    iterator = iter(stream)
    while chunk := list(islice(iterator, size)):
        yield chunk
