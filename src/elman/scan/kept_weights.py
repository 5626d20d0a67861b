"""Addresses of a network's weights that were noted, and whether they are still what it computes with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elman.native.step_program import Matrix, WeightSample, pack_bfloat16, sum_numbers
from elman.shapes import Tensor

_SAMPLES = 256  # numbers of a matrix that are looked at before each use of what was made of it
_ALL = 2**14  # numbers that are all looked at


class KeptWeights:
    """The weights of some modules by address; it refers to their parts, and not to the modules themselves.

    Weights in float32 are read where they lie, so only another tensor, or one that moved, is news. Where
    something was made of a weight (a packed matrix, a table), torch's own count of changes decides, and its
    numbers, since nobody counts what is written through ``.data``: a sample of them before each use, a
    checksum of all of them before each text.
    """

    def __init__(self, *modules: nn.Module) -> None:
        every = [part for module in modules for part in module.modules()]
        self._parts = [(m._modules, name, part) for m in every for name, part in m._modules.items()]
        self._owners = {id(t): (m._parameters, name) for m in every for name, t in m._parameters.items()}
        self._weights: dict[int, tuple[Any, str, Tensor, int, bool]] = {}
        self._versions: list[tuple[Tensor, int]] = []
        self.samples: list[WeightSample] = []
        self._memory: list[Tensor] = []

    def find(self, t: Tensor) -> int | None:
        """Where a parameter of the modules lies; None if it is none, or not plain numbers without gaps."""
        owner = self._owners.get(id(t))
        if owner is None:
            return None
        at, whole = t.data_ptr(), t.is_contiguous()
        self._weights[id(t)] = (*owner, t, at, whole)
        return at if whole and t.is_cpu and t.dtype == torch.float32 else None

    def find_matrix(self, t: Tensor, columns: range) -> Matrix | None:
        """Some columns of a matrix, packed if that loses nothing."""
        at = self.find(t)
        if at is None:
            return None
        lying = Matrix(at + 4 * columns.start, len(t), len(columns), t.shape[1])
        return self._pack(t, lying) or lying

    def watch(self, t: Tensor) -> None:
        """Something is made of this weight, which must not be an inference tensor: they count no changes."""
        self._versions.append((t, t._version))
        step = 1 if t.numel() <= _ALL else t.numel() // _SAMPLES
        values = t.detach().view(-1)[::step].clone()
        self._memory.append(values)
        whole = t.numel(), sum_numbers(t.data_ptr(), t.numel())
        self.samples.append(WeightSample(t.data_ptr(), values.data_ptr(), len(values), step, *whole))

    def allocate(self, *shape: int, dtype: torch.dtype = torch.float32) -> int:
        """Memory that lasts as long as this; zeros where it is of bytes."""
        make = torch.zeros if dtype == torch.uint8 else torch.empty
        self._memory.append(make(shape, dtype=dtype, device="cpu"))
        return self._memory[-1].data_ptr()

    def _pack(self, t: Tensor, lying: Matrix) -> Matrix | None:
        if t.is_inference() or _looks_wide(t):
            return None
        packed = pack_bfloat16(lying, lambda count: self.allocate(count, dtype=torch.int8))
        if packed is None:
            self._memory.pop()
        else:
            self.watch(t)
        return packed

    def is_current(self) -> bool:
        """Whether nothing has to be noted anew, as far as can be told before a program runs."""
        for parts, name, part in self._parts:
            if parts.get(name) is not part:
                return False
        for weights, name, t, at, whole in self._weights.values():
            if weights.get(name) is not t or t.data_ptr() != at or t.is_contiguous() != whole:
                return False
        return all(t._version == version for t, version in self._versions)


def _looks_wide(t: Tensor) -> bool:
    """Are the first numbers more than bfloat16, so that there is nothing to pack?"""
    some = t.detach().reshape(-1)[:64]
    return not torch.equal(some.bfloat16().float(), some)
