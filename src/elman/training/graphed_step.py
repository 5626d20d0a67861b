"""The update as CUDA graphs: recorded once, then replayed without Python between its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from elman.cuda_graph import on_stream, recording
from elman.errors import ConfigError
from elman.state import map_state
from elman.training.ema import load_weights, tensors_by_name
from elman.training.step import EagerStep

B = TypeVar("B")

# Updates before the recording, in which libraries choose kernels and the optimizer makes its state.
_WARM = 3


class GraphedStep(Generic[B]):
    """A graph for each half of the update; a new batch is copied to where the recorded one lay."""

    def __init__(self, eager: EagerStep[B]) -> None:
        self.eager, self.begin = eager, eager.begin
        self.done = 0
        self.side: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self.halves = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()

    def gradient(self, parts: Sequence[B], shares: Tensor, progress: float, state: Any) -> tuple[Tensor, Any]:
        if self.done < _WARM:
            with recording(), on_stream(self.side):
                return self.eager.gradient(parts, shares, progress, state)
        if self.done == _WARM:
            self._record(parts, shares, state)
        if _signature(parts) != self.signature:
            raise ConfigError(
                f"cuda_graph needs batches of one shape, but after {self.signature} came "
                f"{_signature(parts)}; turn cuda_graph off or make them alike"
            )
        for static, tensor in zip(self.inputs, _tensors((parts, shares, state)), strict=True):
            static.copy_(tensor)
        self.halves[0].replay()
        # Out of the recording's memory, where the next replay would write over it.
        return self.result, map_state(torch.clone, self.state)

    def apply(self) -> None:
        if self.done < _WARM:
            with on_stream(self.side):
                self.eager.apply()
        else:
            self.halves[1].replay()
        self.done += 1

    def _record(self, parts: Sequence[B], shares: Tensor, state: Any) -> None:
        self._refuse(parts, state)
        self.signature = _signature(parts)
        parts, shares = _clone((tuple(parts), shares))
        state = map_state(torch.clone, state)
        self.inputs = list(_tensors((parts, shares, state)))
        first, second = self.halves
        try:
            with recording(), torch.cuda.graph(first, stream=self.side):
                self.result, self.state = self.eager.gradient(parts, shares, 0.0, state)
            with torch.cuda.graph(second, pool=first.pool(), stream=self.side):
                self.eager.apply()
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(
                f"cuda_graph is on, but this update cannot be recorded: {reason}; turn cuda_graph off"
            ) from error

    def _refuse(self, parts: Sequence[B], state: Any) -> None:
        """Refuse what a recording would silently keep: data on the CPU, progress in the loss."""
        tensors = list(_tensors(parts))
        if not tensors or not all(tensor.is_cuda for tensor in tensors):
            raise ConfigError("cuda_graph needs batches of tensors on the GPU; turn cuda_graph off")
        carried = {name: value.clone() for name, value in tensors_by_name(self.eager.training.net).items()}
        losses = []
        for progress in (0.0, 1.0):
            with torch.no_grad(), torch.random.fork_rng(devices=[tensors[0].device]):
                losses.append(self.eager.loss(parts[0], progress, state)[0])
            load_weights(self.eager.training.net, carried)
        if not torch.allclose(losses[0], losses[1], rtol=1e-4, equal_nan=True):
            raise ConfigError("cuda_graph needs a loss that does not change with progress; turn cuda_graph off")


UpdateStep = EagerStep[B] | GraphedStep[B]


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, Mapping):
        tree = tuple(tree.values())
    if is_dataclass(tree):
        # What is not compared is no part of the computation, such as how much a batch weighs.
        tree = tuple(getattr(tree, f.name) for f in fields(tree) if f.compare)
    if isinstance(tree, tuple | list):
        for item in tree:
            yield from _leaves(item)
    else:
        yield tree


def _tensors(tree: Any) -> Iterator[Tensor]:
    return (leaf for leaf in _leaves(tree) if isinstance(leaf, Tensor))


def _signature(tree: Any) -> list[Any]:
    """What must be the same for a replay: the shapes of tensors, the values of all else."""
    return [tuple(leaf.shape) if isinstance(leaf, Tensor) else leaf for leaf in _leaves(tree)]


def _clone(tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return tree.clone()
    if isinstance(tree, Mapping):
        return {key: _clone(value) for key, value in tree.items()}
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{f.name: _clone(getattr(tree, f.name)) for f in fields(tree)})
    if isinstance(tree, tuple | list):
        items = [_clone(item) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree
