"""Is the work under way recorded as a CUDA graph, or rehearsed for it?

What pays only without Python between kernels (streams side by side, kernels made of several) asks here.
Autograd goes back on threads of its own, so this is a fact of the process, not of a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_depth = 0


@contextmanager
def recording() -> Iterator[None]:
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def recorded() -> bool:
    return _depth > 0


@contextmanager
def aside(stream: torch.cuda.Stream) -> Iterator[None]:
    """On the stream of a recording, as PyTorch asks for what is recorded later."""
    here = torch.cuda.current_stream()
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        yield
    here.wait_stream(stream)
