"""Training in several processes, which torchrun starts; one process is a world of its own.

gloo between CPUs, NCCL between GPUs. Every process sees the same global batches and takes its share
of each; rank 0 alone evaluates and writes.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import count
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.nn.parallel import DistributedDataParallel

from elman.errors import ConfigError

T = TypeVar("T")

# A process may train several times; all count alike.
_JOINED = count()

# The others wait as long as rank 0 evaluates; a lost process is noticed by torchrun, not by this.
_PATIENCE = timedelta(hours=6)


@dataclass(frozen=True)
class World:
    """The processes that train one net together."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"

    def first(self, value: T) -> T:
        """Rank 0's value, everywhere."""
        if self.size == 1:
            return value
        box = [value if self.rank == 0 else None]
        dist.broadcast_object_list(box, src=0, device=torch.device(self.device))
        return cast(T, box[0])

    def sum(self, *values: float) -> list[float]:
        """Each value's sum over all ranks."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return cast(list[float], total.tolist())

    def gather(self, value: T) -> list[T]:
        """The values of all ranks, everywhere."""
        if self.size == 1:
            return [value]
        values: list[T | None] = [None] * self.size
        dist.all_gather_object(values, value)
        return cast(list[T], values)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any rank."""
        return self.sum(float(flag))[0] > 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with its gradients averaged over all ranks."""
        if self.size == 1:
            return module
        # What a batch or a policy leaves out has no gradient; without this, the others would wait.
        return DistributedDataParallel(module, find_unused_parameters=True)


def get_world() -> World:
    """The world this process has joined, or that of one."""
    if not dist.is_available() or not dist.is_initialized():
        return World()
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    return World(dist.get_rank(), dist.get_world_size(), device)


@contextmanager
def process_group(device: torch.device) -> Iterator[World]:
    """Within it the processes that torchrun started know each other."""
    rank, size = _rank_and_size()
    if size == 1 or dist.is_initialized():
        yield get_world()
        return
    backend = "nccl" if device.type == "cuda" else "gloo"
    store = _store(rank) if _has_agent() else None
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    try:
        yield get_world()
    finally:
        dist.destroy_process_group()
        # DDP keeps the group's threads alive even so. One of them may still wait for the interpreter,
        # to let go of the last tensor; if it is shut down first, the process aborts.
        time.sleep(0.1)


def _store(rank: int) -> TCPStore:
    """Where the processes of this attempt find each other.

    torchrun offers a store of its own, but that lives through all attempts: after a restart the
    addresses of the dead are still in it (PyTorch issue 135712). Here it only tells where rank 0
    of this attempt has opened another, which the dead cannot have left open.
    """
    host, lasting = os.environ["MASTER_ADDR"], _agent()
    key = f"elman store {next(_JOINED)}"
    if rank == 0:
        store = TCPStore(host, 0, is_master=True, wait_for_workers=False)
        lasting.set(key, str(store.port))
        return store
    while True:
        port = int(lasting.get(key))
        try:
            socket.create_connection((host, port), timeout=10).close()
            return TCPStore(host, port, is_master=False)
        except OSError:
            time.sleep(0.1)


def is_main_process() -> bool:
    """Whether this process is the one that writes."""
    return _rank_and_size()[0] == 0


def _rank_and_size() -> tuple[int, int]:
    """Of the processes that torchrun started. ``RANK`` alone, which other programs set too, says nothing."""
    given = {name: os.environ.get(name, "") for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT")}
    if given["WORLD_SIZE"] in ("", "1"):
        return 0, 1
    for name, value in given.items():
        if not value or (name != "MASTER_ADDR" and not value.isdecimal()):
            said = f"{name} is {value!r}" if value else f"{name} is not set"
            raise ConfigError(
                f"WORLD_SIZE is {given['WORLD_SIZE']!r}, but {said}; start several processes with torchrun, "
                "or unset WORLD_SIZE to train in one"
            )
    return int(given["RANK"]), int(given["WORLD_SIZE"])


def was_restarted() -> bool:
    """Whether torchrun started this process again after one was lost, here or on another host."""
    if _has_agent():
        return _starts(os.environ["RANK"]) > 1
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0


@cache
def _starts(rank: str) -> int:
    """How often a process of this rank was started; torchrun's own count is of one host's losses."""
    return _agent().add(f"elman starts {rank}", 1)


def _has_agent() -> bool:
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"


def _agent() -> TCPStore:
    """The store that torchrun keeps from its start to its end."""
    return TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)


def local_device(device: str) -> torch.device:
    """The device of that name for this process: of several GPUs, each process has its own."""
    if device == "cuda" and "LOCAL_RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return torch.device(device)
