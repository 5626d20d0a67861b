"""Processes that wait for each other: they meet, give up in one sentence, and hear signals."""

from __future__ import annotations

import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Timer

import pytest
import torch
from torch.distributed import TCPStore

from elman.errors import ConfigError
from elman.interruption import Interrupted, defer_signals
from elman.training import rendezvous
from elman.training.distributed import is_main_process, process_group
from elman.training.rendezvous import meet


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """A port that nobody uses, in the variables of two processes of which this one is the first."""
    monkeypatch.setattr(rendezvous, "PATIENCE", 20.0)  # so that none waits for minutes for one that failed
    with socket.socket() as free:
        free.bind(("localhost", 0))
        number = int(free.getsockname()[1])
    values = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(number)}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return number


def test_two_processes_meet(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendezvous, "_MEETINGS", iter([0, 0]))  # as each process counts for itself
    with ThreadPoolExecutor(2) as pool:
        stores = list(pool.map(lambda rank: meet(rank, 2, None), [0, 1]))
    stores[0].set("a", "b")
    assert stores[1].get("a") == b"b"


def test_after_a_restart_they_meet_where_the_first_of_them_is_now(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of torchrun still has the address of a process that is dead."""
    monkeypatch.setattr(rendezvous, "_MEETINGS", iter([0, 0]))
    agent = TCPStore("localhost", port, is_master=True, wait_for_workers=False)
    agent.set("elman store 0", "1")
    with ThreadPoolExecutor(2) as pool:
        stores = list(pool.map(lambda rank: meet(rank, 2, agent), [0, 1]))
    stores[0].set("a", "b")
    assert stores[1].get("a") == b"b"
    assert stores[0].port == stores[1].port == int(agent.get("elman store 0")) != port


def test_a_port_that_another_program_has_is_one_sentence(port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("", port))
        taken.listen()
        said = f"^MASTER_ADDR localhost, MASTER_PORT {port}: process 0 cannot be reached there "
        with pytest.raises(ConfigError, match=said):
            meet(0, 2, None)


def test_who_waits_in_vain_is_told_what_to_do(
    port: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rendezvous, "PATIENCE", 0.2)
    monkeypatch.setattr(rendezvous, "NOTICE", 0.0)
    said = f"not all of 2 processes have come to localhost:{port}"
    with caplog.at_level("INFO"), pytest.raises(ConfigError, match=f"{said} within 0.2 s; start them all"):
        meet(0, 2, None)
    assert caplog.messages == [f"{said} yet; waiting up to 0.2 s"]
    with pytest.raises(ConfigError, match=f"process 0 has not come to localhost:{port} within"):
        meet(1, 2, None)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_a_signal_ends_the_waiting(port: int) -> None:
    Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with defer_signals(), pytest.raises(Interrupted):
        process_group(torch.device("cpu")).__enter__()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RANK", "2", "RANK is 2, but of WORLD_SIZE 2 processes the last is 1"),
        ("RANK", "foo", "RANK is 'foo'"),
        ("MASTER_ADDR", "", "MASTER_ADDR is not set"),
        ("MASTER_PORT", "99999", "MASTER_PORT is 99999; it must be between 1 and 65535"),
    ],
)
def test_variables_that_no_torchrun_sets_are_refused(
    port: int, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=said):
        is_main_process()
