"""The command ends within two seconds of Ctrl-C, SIGTERM or SIGHUP, whatever it is doing."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from types import FrameType
from typing import Any

from elman import interruption
from elman.interruption import SIGNALS, Interrupted

PATIENCE = 1.0  # seconds for the main thread to end the command by itself


_before: dict[signal.Signals, Any] = {}  # the handlers that ours took the place of


def run_stoppable(command: Callable[[], int]) -> int:
    """The exit code of a command, within which a signal raises `Interrupted` in the main thread.

    A command that goes on all the same is ended. Signals that whoever started it told it to ignore, as nohup
    does, stay ignored.
    """
    interruption.received.clear()
    if threading.current_thread() is not threading.main_thread() or os.name != "posix":
        return command()
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            _before[number] = signal.signal(number, _interrupt)
    _guard_forks()
    watchdog = Watchdog()
    try:
        code = command()
        if interruption.received:
            _leave(code)
    except KeyboardInterrupt:
        if interruption.received:
            end_process()
        raise
    finally:
        watchdog.close()
        _restore_handlers()
    return code


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop: at once while modules are imported, where an exception may get lost; nothing is there to save."""
    interruption.received.append(number)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            end_process()
        frame = frame.f_back
    raise Interrupted(number)


@cache
def _guard_forks() -> None:
    """A forked process must not write into the pipe of its parent's watchdog, not even at its first moment."""
    block, unblock = (partial(signal.pthread_sigmask, how) for how in (signal.SIG_BLOCK, signal.SIG_UNBLOCK))
    os.register_at_fork(
        before=lambda: block(_before),
        after_in_parent=lambda: unblock(_before),
        after_in_child=lambda: unblock(_restore_handlers()),
    )


def _restore_handlers() -> list[signal.Signals]:
    """Take our handlers away: the signals that they were for."""
    ours = [*_before]
    with suppress(ValueError):  # a process that another thread than the main one forked
        for number in ours:
            signal.signal(number, _before.pop(number))
        signal.set_wakeup_fd(-1)
    return ours


def _leave(code: int) -> None:
    """End now: threads of a library may still be at work, and Python cannot end beside them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, full, or never there
            stream.flush()
    os._exit(code if interruption.received[0] == signal.SIGINT else interruption.exit_code())


def end_process() -> None:
    """End without waiting for anything or anyone."""
    with suppress(OSError):
        if select.select([], [2], [], 0)[1]:  # a full pipe would keep us
            os.write(2, b"\nstopped\n")
    os._exit(interruption.exit_code())


class Watchdog:
    """A thread that ends the process where the main thread does not: it may wait inside a library for long.

    Python runs handlers of signals in the main thread, between two of its instructions. The system tells
    the watchdog of a signal at once, by a byte in a pipe.
    """

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.writer, False)
        signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        os.close(self.writer)

    def _watch(self) -> None:
        asked = 0
        while byte := os.read(self.reader, 1):
            if byte[0] in SIGNALS:
                asked = byte[0]
                break
        if asked and self._wait():
            interruption.received[:] = interruption.received or [asked]
            end_process()
        os.close(self.reader)

    def _wait(self) -> bool:
        """Let the main thread end the command; whether it did not, and was not busy saving.

        A second signal ends the saving, too.
        """
        end, again = time.monotonic() + PATIENCE, False
        while time.monotonic() < end or (interruption.is_unhurried() and not again):
            if select.select([self.reader], [], [], 0.05)[0]:
                byte = os.read(self.reader, 1)
                if not byte:
                    return False
                if byte[0] in SIGNALS:
                    end, again = time.monotonic() + PATIENCE, True
        return True
