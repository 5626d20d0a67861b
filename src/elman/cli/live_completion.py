"""A line on a terminal that is completed while it is typed."""

from __future__ import annotations

import os
import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elman.errors import ConfigError
from elman.number_format import format_percent

if TYPE_CHECKING:
    from elman.generation import Completion

Find = Callable[[str], Sequence["Completion"]]
Enter = Callable[[str], None]

_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1b.?|.", re.DOTALL)
_TAKE = ("\t", "\x1b[C")  # Tab, arrow to the right
_ERASE = ("\x7f", "\b")
_CLEAR_LINE, _OVER = "\x15", "\x04"  # Ctrl-U, Ctrl-D


def complete_live(find: Find, enter: Enter) -> None:
    """Show completions at each key until Ctrl-D or Ctrl-C; the terminal is left as it was.

    ``enter`` is told each line that is over.
    """
    line = ""
    with _keys() as keys:
        found = _draw(line, find)
        for key in keys:
            if key == _OVER:
                break
            if key in ("\n", "\r"):
                _write(f"\r\x1b[J{line}\n")
                enter(line)
            line = _apply_key(line, key, found)
            found = _draw(line, find)


def _apply_key(line: str, key: str, found: Sequence[Completion]) -> str:
    """The line after a key."""
    if key in ("\n", "\r", _CLEAR_LINE):
        return ""
    if key in _ERASE:
        return line[:-1]
    if key in _TAKE:
        return f"{line}{found[0].rest} " if found else line
    return line + key if key.isprintable() else line


def _draw(line: str, find: Find) -> Sequence[Completion]:
    """The line, the rest of the best completion behind it, and all of them below."""
    from rich.cells import cell_len

    found = find(line)
    columns = os.get_terminal_size(sys.stdout.fileno()).columns
    below = "  ".join(f"{one.text} {format_percent(one.probability)}" for one in found)[: columns - 1]
    seen = line[-max(1, columns - 20) :]  # the end of a line that is too long to be shown
    ghost = ""
    if found and "NO_COLOR" not in os.environ:
        ghost = f"\x1b[2m{found[0].rest[: max(0, columns - 1 - cell_len(seen))]}\x1b[0m"
    right = f"\x1b[{cell_len(seen)}C" if seen else ""
    _write(f"\r\x1b[J{seen}{ghost}\n{below}\x1b[1A\r{right}")
    return found


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """Keys as they are pressed, not line by line."""
    try:
        import termios
        import tty
    except ImportError:
        raise ConfigError("this terminal gives no single keys; say the text: complete DIR TEXT") from None
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield _read_keys(fd)
    except KeyboardInterrupt:
        pass  # a way to leave
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        _write("\r\x1b[J")


def _read_keys(fd: int) -> Iterator[str]:
    decoder = getincrementaldecoder("utf-8")("replace")
    while data := os.read(fd, 1024):
        yield from _KEY.findall(decoder.decode(data))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
