"""Products with weights that stay as they are: laid out once in the order in which a CPU reads them.

For float32 torch asks MKL, which lays a matrix out anew at every product. oneDNN does so once and for all, and
multiplies a few hundred rows by it in three quarters of the time, but makes a kernel for each number of rows
that it meets, which takes as long as a product: it is to meet few of them.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import torch
from torch.nn.functional import linear, pad

from elman.cells import Formulaic, WrappedCell
from elman.few_rows import linear_few
from elman.scan.single_step import step_gates
from elman.shapes import Float, Tensor
from elman.state import State

_FEW = 64  # rows, below which neither the layout nor a kernel is worth making
_ROUND = 16  # rows are padded to a multiple of this


class PackedLinear:
    """x ↦ W x + b, for a W that does not change as long as this is in use."""

    def __init__(self, W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None) -> None:
        self.W, self.b = W, b
        self.worthwhile = worthwhile(W)
        self.packed: Tensor | None = None

    def __call__(self, x: Float[Tensor, "N D"]) -> Float[Tensor, "N H"]:
        if not self.worthwhile or len(x) < _FEW:
            return linear_few(x, self.W, self.b)
        if self.packed is None:
            self.packed = _pack(self.W, len(x))
        missing = -len(x) % _ROUND
        rounded = pad(x, (0, 0, 0, missing)) if missing else x
        return _multiply(rounded, self.packed, self.b)[: len(x)]


def worthwhile(W: Tensor) -> bool:
    """Where oneDNN was seen to be ahead: on processors with AVX-512, in the precisions they compute in."""
    wide = W.device.type == "cpu" and torch.backends.cpu.get_cpu_capability() == "AVX512"
    return wide and W.dtype in (torch.float32, torch.bfloat16) and unsupported_reason(W.dtype) is None


@cache
def unsupported_reason(dtype: torch.dtype) -> str | None:
    """Why these products are not oneDNN's here: found out once, by trying them.

    torch keeps the operations to itself, so they may change or go.
    """
    W, x = (torch.linspace(-1, 1, n * 32).view(n, 32).to(dtype) for n in (48, 64))
    try:
        if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            return "this processor does not compute in bfloat16"
        found = _multiply(x, _pack(W, len(x)), W[:, 0].contiguous())
    except Exception as error:  # whatever became of them, the plain product is there
        return f"oneDNN's products failed: {error}"
    expected = linear(x.double(), W.double(), W[:, 0].double())
    near = torch.allclose(found.double(), expected, rtol=0.02, atol=0.02)
    return None if near else "oneDNN's products are not those of torch"


def _pack(W: Tensor, rows: int) -> Tensor:
    return cast(Tensor, torch.ops.mkldnn._reorder_linear_weight(W.detach(), rows))


def _multiply(x: Tensor, packed: Tensor, b: Tensor | None) -> Tensor:
    return cast(Tensor, torch.ops.mkldnn._linear_pointwise(x, packed, b, "none", [], ""))


class FrozenCell(WrappedCell):
    """A formula cell whose matrices do not change as long as this is in use."""

    def __init__(self, cell: Formulaic) -> None:
        super().__init__(cell, cell.formula)
        self._input = PackedLinear(*cell.affine())
        self._products = [PackedLinear(U) for U in cell.matrices()] if cell.heads == 1 else []

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.step_inputs(self._input(x))

    def step(self, state: State, x: tuple[Tensor, ...]) -> State:
        return step_gates(self.cell, state, x) or super().step(state, x)

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        return self._products[number](operand) if self._products else super().multiply(number, operand)
