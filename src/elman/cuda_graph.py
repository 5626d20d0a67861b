"""Is the work under way recorded as a CUDA graph, or rehearsed for it?

What is worthwhile only without Python between kernels (layers on streams of their own, kernels made of
several) depends on it. `elman.scan` asks when a run begins and hands the answer on as a value: autograd goes
back on threads of its own, which no context of this one reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

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
