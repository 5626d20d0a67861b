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
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            self._stream.write(text)
        except (OSError, ValueError):  # full, closed, or a reader that has left
            self._stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    def isatty(self) -> bool:
        return bool(self._stream.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def robust_streams() -> Iterator[None]:
    """Within it stdout and stderr escape what their encoding lacks, and messages never fail."""
    # A stream that was closed before we began is None, and the next file that is opened would take its number.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    before = sys.stderr
    if before is None:
        before = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, before):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = cast(TextIO, ForgivingStream(before))
    try:
        yield
    finally:
        sys.stderr = before
