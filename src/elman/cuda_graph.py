"""Is the work under way recorded as a CUDA graph, or rehearsed for it?

What is worthwhile only without Python between kernels (layers on streams of their own, kernels made of
several) depends on it. `elman.scan` asks when a run begins and hands the answer on as a value: autograd goes
back on threads of its own, which no context of this one reaches.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any

import torch
from torch import Tensor

_anchors: list[torch.cuda.CUDAGraph] = []
# Recordings share a stream and memory: no thread replays one while another thread rehearses or records.
_turn = Lock()
_recording: ContextVar[bool] = ContextVar("recording", default=False)


@contextmanager
def recording() -> Iterator[None]:
    """What is begun within is recorded, or rehearsed to be recorded."""
    token = _recording.set(True)
    try:
        yield
    finally:
        _recording.reset(token)


def is_recording() -> bool:
    # A compiler asks nothing: what it takes as a whole asks when it runs.
    return not torch.compiler.is_compiling() and _recording.get()


@contextmanager
def on_stream(stream: torch.cuda.Stream) -> Iterator[None]:
    """On the stream of a recording, as PyTorch asks for what is recorded later."""
    here = torch.cuda.current_stream()
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        yield
    here.wait_stream(stream)


class Recording:
    """Work on tensors that stay where they are, done again and again: on a GPU a CUDA graph.

    It is rehearsed once, in which kernels are compiled and libraries choose theirs; what that changed in the
    ``buffers`` is put back. Then ``times`` of it are recorded as one graph. On a CPU a replay is the work.
    """

    def __init__(self, work: Callable[[], None], buffers: Sequence[Tensor], *, times: int = 1) -> None:
        self.work, self.times = work, times
        self.graph = self._record(buffers) if buffers[0].is_cuda else None

    def replay(self) -> None:
        """The work, ``times`` times."""
        if self.graph is not None:
            with _turn:
                self.graph.replay()
            return
        for _ in range(self.times):
            self.work()

    def _record(self, buffers: Sequence[Tensor]) -> torch.cuda.CUDAGraph:
        with _turn:
            return self._record_alone(buffers)

    def _record_alone(self, buffers: Sequence[Tensor]) -> torch.cuda.CUDAGraph:
        side, pool = _side_stream(buffers[0].device)
        before = [buffer.clone() for buffer in buffers]
        with recording(), on_stream(side):
            self.work()
            for buffer, old in zip(buffers, before, strict=True):
                buffer.copy_(old)
        graph = torch.cuda.CUDAGraph()
        # Unlike `torch.cuda.graph` this neither waits for the device nor gives memory back to it: both would
        # cost more than a short text. What the collector frees within a recording would spoil it.
        collects = gc.isenabled()
        gc.disable()
        try:
            with recording(), on_stream(side):
                graph.capture_begin(pool, capture_error_mode="thread_local")
                try:
                    for _ in range(self.times):
                        self.work()
                finally:
                    graph.capture_end()
        finally:
            if collects:
                gc.enable()
        return graph


@cache
def _side_stream(device: torch.device) -> tuple[torch.cuda.Stream, Any]:
    """The stream of recordings, and the memory that they share: one at a time is recorded and replayed."""
    side = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    first = torch.cuda.CUDAGraph()
    with on_stream(side):
        first.capture_begin(capture_error_mode="thread_local")
        torch.zeros(1, device=device)
        first.capture_end()
    _anchors.append(first)  # memory that no graph holds any more is no longer shared
    return side, first.pool()
