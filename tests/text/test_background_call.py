import os
import signal
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from elman.errors import DataError
from elman.text.background_call import call_in_background

VALUE: ContextVar[int] = ContextVar("value")


def test_what_runs_in_the_background_returns_raises_and_sees_the_same_context():
    VALUE.set(3)
    assert call_in_background(lambda: VALUE.get() + 1) == 4
    with pytest.raises(DataError, match="bad line"):
        call_in_background(lambda: _refuse("bad line"))


def signal_process() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def signal_thread() -> None:
    """The main thread is not woken, as where the signal comes right before it begins to wait."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("send", [signal_process, signal_thread])
def test_ctrl_c_is_heard_while_a_library_is_at_work(send):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    over, begun, started = threading.Event(), threading.Event(), time.monotonic()

    def interrupt() -> None:
        begun.wait()
        send()

    def work() -> None:
        begun.set()
        over.wait(10)

    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call_in_background(work)
        assert time.monotonic() - started < 5
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)


def _refuse(said: str) -> None:
    raise DataError(said)
