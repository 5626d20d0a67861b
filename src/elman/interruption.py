"""Ctrl-C, SIGTERM and SIGHUP: which one came, and how work that must not be torn meets it.

A signal raises `Interrupted` wherever the main thread is. A training run defers that to the next point at which
it can be saved, and opens windows (`interruptible`) for what takes long and changes nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


class Interrupted(KeyboardInterrupt):
    """A signal asked this process to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


received: list[int] = []
"""The signals that asked this process to stop; handlers add to it."""


def exit_code() -> int:
    """That of a process that was asked to stop, as shells have it: 128 and the number of the signal."""
    return 128 + (received[0] if received else signal.SIGINT)


class Deferral:
    """Signals while work goes on that stops by itself as soon as it can be saved."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.before: dict[int, Any] = {}
        self.window = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; a second one does what it did before."""
        self.asked.append(number)
        received.append(number)
        signal.signal(number, self.before[number])
        if self.window:
            raise Interrupted(number)


_deferrals: list[Deferral] = []


@contextmanager
def defer_signals() -> Iterator[list[int]]:
    """Those that came within; each of them is only noted, unless `interruptible` work is going on."""
    deferral = Deferral()
    if threading.current_thread() is threading.main_thread():
        for which in SIGNALS:
            if signal.getsignal(which) is not signal.SIG_IGN:  # as nohup and a shell's background have it
                deferral.before[which] = signal.signal(which, deferral.handle)
    _deferrals.append(deferral)
    try:
        yield deferral.asked
    finally:
        _deferrals.remove(deferral)
        for number, handler in deferral.before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within it a deferred signal raises `Interrupted` at once: for work that may be done again."""
    if not _deferrals:
        yield
        return
    deferral = _deferrals[-1]
    deferral.window = True
    try:
        if deferral.asked:
            raise Interrupted(deferral.asked[0])
        yield
    finally:
        deferral.window = False


_savings: list[None] = []


@contextmanager
def unhurried() -> Iterator[None]:
    """Within it the process may take longer to stop than it usually may: it saves what was done."""
    _savings.append(None)
    try:
        yield
    finally:
        _savings.pop()


def is_unhurried() -> bool:
    """Whether something is being saved."""
    return bool(_savings)
