"""A network that would be too large is refused while it is built, before memory is taken for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from elman.errors import ConfigError
from elman.free_memory import check_memory, free_memory

_SHAPED = {torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn, torch.full, torch.eye}
_TENSORS, _ELEMENTS = 100, 1_000_000  # what building may take beyond what the weights say
_PER_TENSOR, _PER_ELEMENT = 10, 4
_BYTES = 4  # of an element
_DRAWS: set[Any] = {torch.Tensor.normal_, torch.Tensor.uniform_}
_DRAWS |= {nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_}


class BuildingLimit(TorchFunctionMode):
    """While it is entered, ``check`` sees how many tensors and elements were asked for before each is made.

    Without ``draw`` weights are not initialized: of a large network that takes longer than to read them.
    """

    def __init__(self, check: Callable[[int, int], None], *, draw: bool = True) -> None:
        super().__init__()
        self.check, self.draw = check, draw
        self.tensors = self.elements = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _SHAPED:
            self.tensors += 1
            self.elements += _count_elements(args, kwargs or {})
            self.check(self.tensors, self.elements)
        if not self.draw:
            if func in _DRAWS:
                return args[0] if args else (kwargs or {})["tensor"]
            if func in (torch.rand, torch.randn):
                func = torch.empty
            if func is torch.linalg.qr:  # of an orthogonal matrix: any of the right shape will do
                return args[0], args[0]
        return func(*args, **(kwargs or {}))


def limit_to_weights(weights: Mapping[str, Tensor]) -> BuildingLimit:
    """Only as many tensors, and as large, as a network of these weights takes.

    So a thousand layers, or layers of 100,000 units, beside the weights of a small network are refused,
    whatever the network is made of. All of its weights are to be read: none is initialized.
    """
    tensors = _TENSORS + _PER_TENSOR * len(weights)
    elements = _ELEMENTS + _PER_ELEMENT * sum(weight.numel() for weight in weights.values())

    def check(count: int, size: int) -> None:
        if count > tensors or size > elements:
            raise ConfigError("a network larger than its weights is asked for")

    return BuildingLimit(check, draw=False)


def limit_to_memory() -> BuildingLimit:
    """Only what fits in memory."""
    free = free_memory()

    def check(_: int, size: int) -> None:
        if _BYTES * size > free:
            advice = "take a smaller model.hidden, or fewer model.layers"
            check_memory(_BYTES * size, "the weights of the model", advice)

    return BuildingLimit(check)


def _count_elements(args: Any, kwargs: Mapping[str, Any]) -> int:
    """Of the tensor that is asked for: sizes one by one, or in a sequence."""
    given = kwargs.get("size", args)
    sizes = given[0] if given and isinstance(given[0], list | tuple) else given
    return prod(int(size) for size in sizes if isinstance(size, int) and size > 0)
