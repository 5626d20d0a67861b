"""Training in several processes, which torchrun starts; one process is a world of its own.

gloo between CPUs, NCCL between GPUs. Every process sees the same global batches and takes its share
of each; rank 0 alone evaluates and writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from elman.errors import ConfigError, ModelError, check_option
from elman.interruption import interruptible
from elman.training.rendezvous import get_agent, has_agent, meet

T = TypeVar("T")

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

    def interruptible(self) -> AbstractContextManager[None]:
        """Where a signal may raise at once: in one process; several must stop at the same point."""
        return interruptible() if self.size == 1 else nullcontext()

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
    with interruptible():
        store = meet(rank, size, attempts=get_agent() if has_agent() else None)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    try:
        yield get_world()
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and "gloo" not in str(error):
            raise
        raise ModelError(f"another process of this run was lost ({str(error).splitlines()[0]})") from None
    finally:
        dist.destroy_process_group()
        # DDP keeps the group's threads alive even so. One of them may still wait for the interpreter,
        # to let go of the last tensor; if it is shut down first, the process aborts.
        time.sleep(0.1)


def is_main_process() -> bool:
    """Whether this process is the one that writes."""
    return _rank_and_size()[0] == 0


def count_processes() -> int:
    """How many processes torchrun started; one without it."""
    return _rank_and_size()[1]


def _rank_and_size() -> tuple[int, int]:
    """Of the processes that torchrun started. ``RANK`` alone, which other programs set too, says nothing."""
    given = {name: os.environ.get(name, "") for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT")}
    if given["WORLD_SIZE"] in ("", "1"):
        return 0, 1
    for name, value in given.items():
        if not value or (name != "MASTER_ADDR" and not value.isdecimal()):
            said = f"{name} is {value!r}" if value else f"{name} is not set"
            several = "" if name == "WORLD_SIZE" else f"WORLD_SIZE is {given['WORLD_SIZE']!r}, but "
            remedy = "start several processes with torchrun, or unset WORLD_SIZE to train in one"
            raise ConfigError(f"{several}{said}; {remedy}")
    rank, size, port = (int(given[name]) for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"))
    if rank >= size:
        raise ConfigError(f"RANK is {rank}, but of WORLD_SIZE {size} processes the last is {size - 1}")
    check_option("MASTER_PORT", port, 0 < port < 2**16, "between 1 and 65535")
    return rank, size


def was_restarted() -> bool:
    """Whether torchrun started this process again after one was lost, here or on another host."""
    if has_agent() and "RANK" in os.environ:
        return _starts(os.environ["RANK"]) > 1
    starts = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return starts.isdecimal() and int(starts) > 0


@cache
def _starts(rank: str) -> int:
    """How often a process of this rank was started; torchrun's own count is of one host's losses."""
    return get_agent().add(f"elman starts {rank}", 1)


def local_device(device: str) -> torch.device:
    """The device of that name for this process: of several GPUs, each process has its own."""
    if device == "cuda" and "LOCAL_RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return torch.device(device)
