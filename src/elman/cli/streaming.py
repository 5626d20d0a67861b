"""Input that is answered while it comes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import click

from elman.cli.terminal import say

T = TypeVar("T")

line_buffered = click.option(
    "--line-buffered",
    is_flag=True,
    help="Answer each line when it comes, for a program that waits at the other end of a pipe; "
    "slower where many come at once.",
)


def chunks(
    stream: Iterable[T], file: str, most: int, *, line_buffered: bool = False
) -> Iterator[list[T]]:
    """What is read from a file, so many at a time; what a person types or a program waits for, one by one."""
    typed = file == "-" and sys.stdin.isatty()
    if typed:
        say("type a line and Enter; Ctrl-D ends")
    iterator, size = iter(stream), 1 if typed or line_buffered else most
    while chunk := list(islice(iterator, size)):
        yield chunk
