"""Whatever a command is doing, a signal ends it within two seconds, with the code that shells have for it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")

# A command; `work` is what it does.
COMMAND = """
import ctypes, os, signal, sys, time
from elman.cli import stop_signals
from elman.interruption import defer_signals, exit_code, unhurried
{work}
sys.exit(stop_signals.run_stoppable(work))
"""
# A lock that is taken twice, inside a library: no signal ends the waiting.
STUCK = """
def work():
    mutex, lock = (ctypes.c_char * 64)(), ctypes.CDLL(None).pthread_mutex_lock
    print("ready", flush=True)
    lock(mutex)
    lock(mutex)
"""
BUSY = """
def work():
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("cleared away", flush=True)
"""
SWALLOWING = """
def work():
    while True:
        try:
            print("ready", flush=True)
            time.sleep(60)
        except BaseException:
            pass
"""
SAVING = """
stop_signals.PATIENCE = 0.1
def work():
    with defer_signals() as asked:
        print("ready", flush=True)
        while not asked:
            time.sleep(0.01)
        with unhurried():
            time.sleep(0.5)
            print("saved", flush=True)
    return exit_code()
"""
STUCK_IN_SAVING = """
def work():
    mutex, lock = (ctypes.c_char * 64)(), ctypes.CDLL(None).pthread_mutex_lock
    with unhurried():
        print("ready", flush=True)
        lock(mutex)
        lock(mutex)
"""
FORKING = """
stop_signals.PATIENCE = 0.1
def work():
    child = os.fork()
    if not child:
        time.sleep(60)
    os.kill(child, signal.SIGTERM)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    time.sleep(0.5)
    print("child", code, flush=True)
    return 0
"""


def start(work: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND.format(work=work)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stop(process: subprocess.Popen[str], signals: Sequence[signal.Signals]) -> tuple[int, str, float]:
    """Send signals when it is ready: its exit code, what it printed then, and how long it took to end."""
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    begun = time.monotonic()
    for number in signals:
        process.send_signal(number)
        time.sleep(0.05)
    out, _ = process.communicate(timeout=10)
    return process.returncode, out, time.monotonic() - begun


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_waits_inside_a_library_ends_all_the_same(how: signal.Signals) -> None:
    code, _, seconds = stop(start(STUCK), [how])
    assert code == 128 + how
    assert seconds < 2


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_clears_away_what_it_began(how: signal.Signals) -> None:
    assert stop(start(BUSY), [how])[:2] == (128 + how, "cleared away\n")


def test_an_interruption_that_gets_lost_ends_the_command_all_the_same() -> None:
    assert stop(start(SWALLOWING), [signal.SIGTERM])[0] == 143


def test_saving_takes_its_time_unless_a_second_signal_comes() -> None:
    assert stop(start(SAVING), [signal.SIGINT])[:2] == (130, "saved\n")
    assert stop(start(SAVING), [signal.SIGINT, signal.SIGINT])[:2] == (130, "")


def test_a_second_signal_ends_a_saving_that_never_comes_back() -> None:
    code, _, seconds = stop(start(STUCK_IN_SAVING), [signal.SIGTERM, signal.SIGTERM])
    assert code == 143
    assert seconds < 2


def test_a_signal_to_a_forked_process_is_its_own() -> None:
    process = start(FORKING)
    assert process.communicate(timeout=10)[0] == "child -15\n"
    assert process.returncode == 0


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # children inherit it
    try:
        process = start(BUSY)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 143
