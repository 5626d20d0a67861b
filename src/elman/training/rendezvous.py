"""Where the processes of a run find each other. Whoever waits for the others can be interrupted."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import count

from torch.distributed import TCPStore  # type: ignore[attr-defined]

from elman.errors import ConfigError
from elman.number_format import format_duration

PATIENCE = 600.0  # seconds that a process waits for the others to start
NOTICE = 10.0  # seconds after which it says so

_LOG = logging.getLogger(__name__)

# A process may train several times; all count alike.
_MEETINGS = count()


def meet(rank: int, size: int, attempts: TCPStore | None) -> TCPStore:
    """A store that all processes of this attempt have come to.

    ``attempts`` is a store that torchrun offers, but that lives through all attempts: after a restart the
    addresses of the dead are still in it (PyTorch issue 135712). Here it only tells where rank 0 of this
    attempt has opened another, which the dead cannot have left open.
    """
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    meeting = next(_MEETINGS)
    key, place = f"elman store {meeting}", f"{host}:{port}"
    if rank == 0:
        store = _open_store(host, 0 if attempts else port)
        if attempts:
            attempts.set(key, str(store.port))
    else:

        def find_port() -> int:
            if attempts is None:
                return port
            return int(attempts.get(key)) if attempts.check([key]) else 0

        _wait(lambda: _answers(host, find_port()), f"process 0 has not come to {place}")
        store = TCPStore(host, find_port(), is_master=False)
    here = f"elman processes {meeting}"
    store.add(here, 1)
    _wait(lambda: store.add(here, 0) >= size, f"not all of {size} processes have come to {place}")
    return store


def _open_store(host: str, port: int) -> TCPStore:
    try:
        return TCPStore(host, port, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=30))
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"MASTER_ADDR {host}, MASTER_PORT {port}: process 0 cannot be reached there ({reason})"
        ) from None


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _wait(is_over: Callable[[], bool], problem: str) -> None:
    """Wait in Python, a little at a time: inside PyTorch no signal would be heard."""
    begun, told = time.monotonic(), False
    while not is_over():
        waited = time.monotonic() - begun
        if waited > PATIENCE:
            remedy = "start them all with torchrun, or unset WORLD_SIZE to train in one"
            raise ConfigError(f"{problem} within {format_duration(PATIENCE)}; {remedy}")
        if waited > NOTICE and not told:
            told = True
            _LOG.info("%s yet; waiting up to %s", problem, format_duration(PATIENCE))
        time.sleep(0.05)


def has_agent() -> bool:
    """Whether torchrun started this process."""
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def get_agent() -> TCPStore:
    """The store that torchrun keeps from its start to its end."""
    return TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
