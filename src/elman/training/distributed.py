"""Training in several processes, which torchrun starts; one process is a world of its own.

gloo between CPUs, NCCL between GPUs. Every process sees the same global batches and takes its share
of each; rank 0 alone evaluates and writes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

T = TypeVar("T")

# The others wait for as long as rank 0 evaluates. A lost process is torchrun's to notice, not a timeout's.
_PATIENCE = timedelta(hours=6)


@dataclass(frozen=True)
class World:
    """The processes that train one net together."""

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")

    def first(self, value: T) -> T:
        """Rank 0's value, everywhere."""
        if self.size == 1:
            return value
        box = [value if self.rank == 0 else None]
        dist.broadcast_object_list(box, src=0, device=self.device)
        return cast(T, box[0])

    def sum(self, *values: float) -> list[float]:
        """Each value's sum over all ranks."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return cast(list[float], total.tolist())

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any rank."""
        return self.sum(float(flag))[0] > 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with its gradients averaged over all ranks."""
        if self.size == 1:
            return module
        warnings.filterwarnings("ignore", message="find_unused_parameters=True was specified")
        # A policy or a short batch may leave parameters out; buffers are each rank's own.
        return DistributedDataParallel(
            module, broadcast_buffers=False, find_unused_parameters=True
        )


def world() -> World:
    """The world this process has joined, or that of one."""
    if not dist.is_available() or not dist.is_initialized():
        return World()
    device = torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")
    return World(dist.get_rank(), dist.get_world_size(), device)


@contextmanager
def joined(device: torch.device) -> Iterator[World]:
    """Within it the processes that torchrun started know each other."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield world()
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield world()
    finally:
        dist.destroy_process_group()


def leads() -> bool:
    """Whether this process is the one that writes."""
    return int(os.environ.get("RANK", "0")) == 0


def restarted() -> bool:
    """Whether torchrun started this process again after one was lost."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0


def place(device: str) -> torch.device:
    """The device of that name for this process: of several GPUs, each process has its own."""
    if device == "cuda" and "LOCAL_RANK" in os.environ:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return torch.device(device)
