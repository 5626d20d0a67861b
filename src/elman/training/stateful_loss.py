"""Losses with a memory: truncated backpropagation carries the state from one batch to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from elman.state import from_bytes, map_state, shard_slice, to_bytes
from elman.training.distributed import World

B = TypeVar("B")
B_in = TypeVar("B_in", contravariant=True)


@runtime_checkable
class StatefulLoss(Protocol[B_in]):
    """A loss that goes on from the state in which the batch before left it; states are trees of tensors.

    Rows of a state belong to rows of a batch, and among processes both are shared in blocks.
    """

    def begin(self, batch: B_in) -> Any:
        """The state before the first batch of an epoch."""

    def __call__(self, batch: B_in, progress: float, state: Any) -> tuple[Tensor, Any]:
        """The loss, a mean, and the state after the batch."""


class StatelessLoss(Generic[B]):
    """A loss of the batch alone."""

    def __init__(self, loss: Callable[[B, float], Tensor]) -> None:
        self.loss = loss

    def begin(self, batch: B) -> tuple[()]:
        return ()

    def __call__(self, batch: B, progress: float, state: Any) -> tuple[Tensor, Any]:
        return self.loss(batch, progress), state


AnyLoss = Callable[[B, float], Tensor] | StatefulLoss[B]


def pack_state(state: Any, world: World) -> dict[str, Tensor]:
    """The states of all processes as one tensor of bytes; nothing where there is none.

    A state is named by its place in a tree, which safetensors as such would forget.
    """
    if not state:
        return {}
    every = [from_bytes(part) for part in world.gather(to_bytes(state))]
    whole = map_state(lambda *parts: torch.cat(parts), *every)
    return {"bytes": torch.frombuffer(bytearray(to_bytes(whole)), dtype=torch.uint8)}


def unpack_state(stored: dict[str, Tensor], world: World, device: torch.device) -> Any:
    """This process's block of the state that was packed, in however many processes."""
    if not stored:
        return ()
    state = from_bytes(stored["bytes"].numpy().tobytes())
    return map_state(lambda t: t[shard_slice(len(t), world.rank, world.size)].to(device), state)
