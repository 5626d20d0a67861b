"""Work in a process of its own, which is killed: at its n-th step in the file system, or after some time."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable

Work = Callable[[], object]
STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate", "shutil.copyfile")
LIMIT = 120  # seconds: more is a hang


def kill_at_step(number: int, work: Work) -> bool:
    """Kill the process before this step; whether it came to it."""
    return _wait(*_start(work, last=number), LIMIT) is None


def kill_after(seconds: float, work: Work) -> bool:
    """Kill the process after so many seconds; whether it was at work still."""
    child, pipe = _start(work)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return _wait(child, pipe, LIMIT) is None


def count_steps(work: Work) -> int:
    """Let the process do its work; how many steps it took."""
    said = _wait(*_start(work), LIMIT)
    assert said is not None
    return int(said)


def _start(work: Work, last: int = -1) -> tuple[int, int]:
    """The number of the process, and where it will say how many steps it took, or its error."""
    pipe, end = os.pipe()
    if child := os.fork():
        os.close(end)
        return child, pipe
    steps = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        if event in STEPS:
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        steps = 0
        work()
        os.write(end, str(steps).encode())
    except BaseException:
        os.write(end, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)


def _wait(child: int, pipe: int, limit: float) -> str | None:
    """What the process said at its end; None if it was killed."""
    until = time.monotonic() + limit
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    with open(pipe) as file:
        said = file.read()
    status = os.waitstatus_to_exitcode(ended[1])
    assert time.monotonic() < until, "it hangs"
    assert status in (0, -signal.SIGKILL), said
    return None if status else said
