"""Memory for large temporaries of a CPU, used again instead of given back to the system after each use.

The system hands out new memory page by page, cleared, when it is first touched: for buffers of megabytes that
takes as long as computing what they hold. Here a buffer that nobody refers to any more waits for the next of
its size, in large pages where the system has them.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections import deque
from contextlib import suppress
from functools import cache
from math import prod

import torch

from elman.shapes import Tensor

_SMALLEST = 2**18  # numbers: of fewer, the allocator of the process keeps its own
_PAGE = 2**21  # bytes
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of malloc.h
_MOST_WAITING = 2**29  # bytes that wait for their next use


class _Waiting:
    """Buffers by size, the last given back last."""

    def __init__(self) -> None:
        self.buffers: deque[mmap.mmap] = deque()

    def take(self, size: int) -> mmap.mmap | None:
        for _ in range(len(self.buffers)):
            try:
                buffer = self.buffers.pop()
            except IndexError:  # another thread took it
                return None
            if len(buffer) == size:
                return buffer
            self.buffers.appendleft(buffer)
        return None

    def give_back(self, buffer: mmap.mmap) -> None:
        self.buffers.append(buffer)
        while sum(map(len, tuple(self.buffers))) > _MOST_WAITING:
            with suppress(IndexError):
                self.buffers.popleft()


_waiting = _Waiting()


def reuse_empty(*shape: int) -> Tensor:
    """A tensor of float32 on the CPU with anything in it, as `torch.empty` makes it."""
    count = prod(shape)
    if count < _SMALLEST or not hasattr(mmap, "MAP_PRIVATE"):  # Windows has another way to map memory
        return torch.empty(shape)
    size = _round_size(4 * count)
    buffer = _waiting.take(size) or _map_memory(size)
    lease = _array_type(size).from_buffer(buffer)
    weakref.finalize(lease, _waiting.give_back, buffer).atexit = False
    return torch.frombuffer(lease, dtype=torch.float32, count=count).resize_(shape)


@cache
def _array_type(size: int) -> type[ctypes.Array[ctypes.c_char]]:
    """To make a type takes longer than all else here."""
    return ctypes.c_char * size


def keep_freed_memory() -> None:
    """Let this process keep what it frees, whoever asked for it: for programs that are all our own.

    glibc gives every large block back to the system at once, and training asks for the same blocks again at
    every update. Where there is another C library, nothing happens.
    """
    with suppress(AttributeError, OSError, TypeError):
        tune = ctypes.CDLL(None).mallopt
        for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1)):
            tune(option, value)


def _round_size(size: int) -> int:
    """Whole pages; of large sizes eighths of a power of two, so that batches of like size share buffers."""
    step = max(_PAGE, 1 << (size.bit_length() - 3))
    return -(-size // step) * step


def _map_memory(size: int) -> mmap.mmap:
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer
