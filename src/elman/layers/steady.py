"""Products with weights that stay as they are: laid out once in the order in which a CPU reads them.

For float32 torch asks MKL, which lays a matrix out anew at every product. oneDNN does so once and for all, and
multiplies a few hundred rows by it in three quarters of the time, but makes a kernel for each number of rows
that it meets, which takes as long as a product: it is to meet few of them.
"""

from __future__ import annotations

import torch
from torch.nn.functional import linear, pad

from elman.cells import Around, Formulaic
from elman.shapes import Float, Tensor

_FEW = 64  # rows, below which neither the layout nor a kernel is worth making
_ROUND = 16  # rows are padded to a multiple of this


class Product:
    """x ↦ W x + b, for a W that does not change as long as this is in use."""

    def __init__(self, W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None) -> None:
        self.W, self.b = W, b
        self.packs = _packs(W)
        self.packed: Tensor | None = None

    def __call__(self, x: Float[Tensor, "N D"]) -> Float[Tensor, "N H"]:
        if not self.packs or len(x) < _FEW:
            return linear(x, self.W, self.b)
        if self.packed is None:
            self.packed = torch.ops.mkldnn._reorder_linear_weight(self.W.detach(), len(x))
        missing = -len(x) % _ROUND
        rounded = pad(x, (0, 0, 0, missing)) if missing else x
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            rounded, self.packed, self.b, "none", [], ""
        )
        return product[: len(x)]


def _packs(W: Tensor) -> bool:
    """Where oneDNN was seen to be ahead: on processors with AVX-512, in the precisions they compute in."""
    there: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    # Operations that torch keeps to itself may go as they came.
    known = there and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    if W.device.type != "cpu" or not known or not wide:
        return False
    if W.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return W.dtype == torch.float32


class Steady(Around):
    """A formula cell whose matrices do not change as long as this is in use."""

    def __init__(self, cell: Formulaic) -> None:
        super().__init__(cell, cell.formula)
        self._products = [Product(U) for U in cell.matrices()]

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        return self._products[number](operand)
