"""Standard streams that no run ends by: a character that cannot be printed, a stderr that nobody reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, TextIO, cast


class ForgivingStream:
    """A stream of messages: where they cannot be written, they are lost, and the work goes on."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        try:
            self.stream.write(text)
        except (OSError, ValueError):  # full, closed, or a reader that has left
            self.stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        return len(text)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except (OSError, ValueError):
            self.stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    def isatty(self) -> bool:
        return bool(self.stream.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def release_stdout() -> bool:
    """Whether results can be written; where not, those that wait are let go, or Python fails at its end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


@contextmanager
def robust_streams() -> Iterator[None]:
    """Within it stdout and stderr escape what their encoding lacks, and messages never fail."""
    # A stream that was closed before we began is None, and the next file that is opened would take its number.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    before = sys.stderr
    if before is None:
        before = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, before):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    forgiving = ForgivingStream(before)
    sys.stderr = cast(TextIO, forgiving)
    try:
        yield
    finally:
        forgiving.flush()  # or Python would do so at its end, and fail
        sys.stderr = forgiving.stream
