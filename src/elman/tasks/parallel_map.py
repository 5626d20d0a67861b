"""Parts of a work side by side, each by a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

import torch

P = TypeVar("P")
R = TypeVar("R")

_MOST = 4  # parts at a time: Python itself does one thing at a time, and each part takes memory
_free = Lock()  # a second work at the same time goes part by part


def parallel_map(work: Callable[[P], R], parts: Sequence[P]) -> list[R]:
    """``work`` of each part, in order, on a CPU.

    The threads that torch has are divided among parts rather than among the numbers of each operation: none
    waits for another, and what only one thread can do, such as keeping the books of a search, is done for
    several parts at once. ``work`` begins without what torch keeps for a thread, such as ``no_grad``.
    """
    threads = torch.get_num_threads()
    hands = min(threads, len(parts), _MOST)
    if hands < 2 or not _free.acquire(blocking=False):
        return [work(part) for part in parts]
    try:
        with ThreadPoolExecutor(hands, initializer=torch.set_num_threads, initargs=(threads // hands,)) as pool:
            return list(pool.map(work, parts))
    finally:
        torch.set_num_threads(threads)  # what a thread is told becomes that of all threads to come
        _free.release()
