"""Any formula in C++: printed from its trace for the lanes of the processor, the way back derived.

The whole time loop runs in C++ over packed rows; threads share the rows and never wait for each other. The
large products, of the input and of the matrix gradients, stay with torch.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import torch

from elman.cells import Cell, Formulaic
from elman.errors import ModelError
from elman.formula import Formula
from elman.kernels import large_products
from elman.native.library import NativeError
from elman.scan.execution import ELSEWHERE, Execution, Executor
from elman.scan.executors.cpu.native_program import NativeProgram
from elman.scan.executors.cpu.program_layout import ProgramLayout, find_layout
from elman.scan.executors.cpu.recurrence_source import NativeSource
from elman.scan.executors.recurrence import run_program
from elman.scan.executors.torch_kernels import is_onednn
from elman.shapes import Float, Tensor
from elman.state import State

SMALLEST = 32  # units: what is narrower would not win back the time of building a library
FEWEST = 50  # tokens: fewer would not win back the time of laying out the matrices


def unsupported_reason(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    like = cell.affine()[0]
    if like.device.type != "cpu":
        return ELSEWHERE
    if like.dtype != torch.float32:
        return f"it computes in float32, and this cell in {str(like.dtype).removeprefix('torch.')}"
    if cell.heads > 1:
        return "it multiplies by whole matrices, and this cell has heads"
    return _why_not_printed(cell.formula)


@cache
def _why_not_printed(formula: Formula) -> str | None:
    whole = next((a.op for a in formula.trace.nodes if a.op == "softmax"), None)
    return None if whole is None else f"{whole} takes all units at once"


def find_drawback(cell: Cell[Any], execution: Execution) -> str | None:
    """Why another executor is to be taken; builds the library where there is no other reason."""
    cell = cast(Formulaic, cell)
    if execution.autocast is not None:
        return "it computes in float32, and autocast asks for another precision"
    if min(cell.widths.values()) < SMALLEST:
        return f"a cell of fewer than {SMALLEST} units is not worth a library"
    if is_onednn(cell.formula) and not execution.has_padding and _is_slower_than_onednn(execution):
        return "on one thread PyTorch's LSTM is faster without padding"
    if execution.places < FEWEST:
        return f"fewer than {FEWEST} tokens are not worth laying out the matrices"
    try:
        source_of(cell).library  # noqa: B018
    except NativeError as error:
        return str(error)
    return None


def _is_slower_than_onednn(execution: Execution) -> bool:
    """oneDNN computes its large products better than torch's library does on some processors; not than ours."""
    one = torch.get_num_threads() == 1
    return one and execution.lookup is None and large_products.unsupported_reason() is not None


def source_of(cell: Formulaic) -> NativeSource:
    """The C++ of a cell, to read."""
    return _layout_of(cell).source


def _layout_of(cell: Formulaic) -> ProgramLayout:
    return find_layout(cell.formula, tuple(cell.widths.items()))


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    if execution.autocast is not None:
        raise ModelError("the cpu executor computes in float32: not under autocast")
    if not sum(execution.packing(xs).sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    program = NativeProgram(_layout_of(cell), torch.is_grad_enabled()).program
    return run_program(cell, xs, state, execution, program)


CPU = Executor("cpu", run, unsupported_reason, find_drawback, reads_rows=lambda *_: True)
