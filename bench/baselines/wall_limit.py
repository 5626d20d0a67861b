"""When the bench has to be at its end, by the clock on the wall."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Timer

_end = [TIMEOUT_MAX]  # by the clock that never goes back


def set_limit(minutes: float) -> None:
    """Processes are to end in so many minutes from now."""
    _end[0] = time.monotonic() + 60 * minutes


def time_left() -> float:
    """Seconds until then."""
    return _end[0] - time.monotonic()


@contextmanager
def end_in_time(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Within it a process is killed after so many seconds: its result would come too late."""
    timer = Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
