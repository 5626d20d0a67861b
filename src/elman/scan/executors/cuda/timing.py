"""How long work takes on a GPU, in milliseconds: the least of some repeats."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from elman.cuda_graph import on_stream


def time_work(run: Callable[[], object], repeats: int = 4) -> float:
    found = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        run()
        end.record()
        end.synchronize()
        found.append(float(begin.elapsed_time(end)))
    return min(found)


def time_graph(run: Callable[[], object]) -> float:
    """The same for a CUDA graph of it: without Python between its kernels."""
    with on_stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
        for _ in range(3):
            run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return time_work(graph.replay)


def time_in_turns(runs: Sequence[Callable[[], object]], rounds: int = 8) -> list[float]:
    """The same of each as a program sees it that launches kernel after kernel and waits for the last."""
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(2 + rounds):
        for run, times in zip(runs, found, strict=True):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            run()
            torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - begin))
    return [min(times[2:]) for times in found]
