"""The weights of a network in one that knows more tokens or labels."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn


@runtime_checkable
class Growing(Protocol):
    """A layer whose further rows do not begin at random, or do not stand at the end."""

    def grow_from(self, small: Any) -> None:
        """Set what a smaller layer of the same kind, whose weights this one has already, says nothing of."""


@torch.no_grad()
def copy_weights(small: nn.Module, large: nn.Module) -> None:
    """Give a network the weights of one that is alike, but knows fewer tokens or labels.

    Ids stay as they were, so what the smaller one has is the first part of what the larger one has, in every
    dimension. Further tokens begin as `<unk>`: whatever is read, the old logits are what they were. The
    weights of further labels stay as they were made.
    """
    large.to(next(small.parameters()))  # where that one is, in its precision
    for name, weight in small.named_parameters():
        large.get_parameter(name)[tuple(map(slice, weight.shape))] = weight
    for name, buffer in small.named_buffers():
        if buffer.shape == large.get_buffer(name).shape:  # others say what is allowed, which is known already
            large.get_buffer(name).copy_(buffer)
    for before, after in zip(small.modules(), large.modules(), strict=True):
        if isinstance(after, Growing):
            after.grow_from(before)
