"""Long calls of a library that does not listen to signals: the main thread, which waits, can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
_LISTENING = 0.2  # seconds after which the main thread looks for signals


def call_in_background(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises in a thread of its own; Ctrl-C raises here and leaves it alone there."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    while not outcome.done():  # a signal that comes right before the main thread waits does not wake it
        wait([outcome], _LISTENING)
    return outcome.result()
