"""Input that is answered while it comes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from elman.cli.terminal import say

T = TypeVar("T")


def chunks(stream: Iterable[T], file: str, most: int) -> Iterator[list[T]]:
    """What is read from a file, so many at a time; what a person types, one by one."""
    typed = file == "-" and sys.stdin.isatty()
    if typed:
        say("type a line and Enter; Ctrl-D ends")
    iterator, size = iter(stream), 1 if typed else most
    while chunk := list(islice(iterator, size)):
        yield chunk
