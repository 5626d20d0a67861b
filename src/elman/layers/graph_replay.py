"""Reading as a CUDA graph: windows of one shape, without Python between the kernels.

A cell that PyTorch has no kernel for is read step by step, and launching a step takes longer than computing it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from elman.cuda_graph import on_stream, recording
from elman.layers.rnn import RNN
from elman.scan.executors.wavefront import runs_stepwise
from elman.shapes import Float, Int, Tensor
from elman.state import map_state

Read = Callable[[Any, Tensor], tuple[Any, Tensor]]  # a state and ids to a state and outputs

WINDOW = 128  # steps of a recording
# Steps of a text that is worth one: to record a step takes some ten milliseconds, to read it less than one.
_WORTH = 64 * WINDOW


def worthwhile(net: nn.Module, steps: int) -> bool:
    """Does it read so long a text step by step, on a GPU?"""
    layers = (layer for layer in net.modules() if isinstance(layer, RNN))
    on_gpu = next(net.parameters()).is_cuda
    return on_gpu and steps >= _WORTH and any(runs_stepwise(layer.cell) for layer in layers)


class GraphReplay:
    """``read``: the first window rehearsed, the second recorded, all others replayed.

    The weights are those of the recording, where they lie; nothing may take their place.
    """

    def __init__(self, read: Read) -> None:
        self.read, self.windows = read, 0
        self.side: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self.graph = torch.cuda.CUDAGraph()

    def __call__(self, state: Any, ids: Int[Tensor, "B T"]) -> tuple[Any, Float[Tensor, "B T H"]]:
        self.windows += 1
        if self.windows == 1:
            with recording(), on_stream(self.side):  # kernels are compiled here
                return self.read(state, ids)
        if self.windows == 2:
            self._record(state, ids)
        map_state(Tensor.copy_, self.inputs, (state, ids))
        self.graph.replay()
        # Out of the recording's memory, where the next replay would write over it.
        after, hs = map_state(torch.clone, self.outputs)
        return after, hs

    def _record(self, state: Any, ids: Tensor) -> None:
        self.inputs = map_state(torch.clone, (state, ids))
        with recording(), torch.cuda.graph(self.graph, stream=self.side):
            self.outputs = self.read(*self.inputs)
