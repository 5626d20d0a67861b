"""Any formula in plain torch: the loop runs once without autograd, the way back is derived.

What is known before a loop is computed before it, what can wait is computed after it: the coefficients of the
derivative for all steps at once, one product for each matrix gradient. The two programs are printed as torch
source from the trace of the formula (``sources`` shows them) and compiled once for each formula and width.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from elman.cells import Cell, Formulaic
from elman.cells.formulaic import join_heads, split_heads
from elman.formula import Formula
from elman.scan.execution import Execution, Executor
from elman.scan.executors.codegen.backward import backward_source
from elman.scan.executors.codegen.forward import forward_source
from elman.scan.executors.codegen.fusion_check import fusion_works
from elman.scan.executors.codegen.plan import Plan
from elman.scan.executors.recurrence import Program, run_program
from elman.shapes import Float, Tensor
from elman.state import State


def unsupported_reason(cell: Cell[Any]) -> str | None:
    return None if isinstance(cell, Formulaic) else f"{type(cell).__name__} has no formula"


def sources(formula: Formula, widths: Mapping[str, int], heads: int = 1) -> tuple[str, str]:
    """The forward and the backward program, as source code to read."""
    plan = Plan(formula, widths, heads)
    return forward_source(plan), backward_source(plan)


@cache
def _program(formula: Formula, widths: tuple[tuple[str, int], ...], heads: int) -> Program:
    scope: dict[str, Any] = {"split_heads": split_heads, "join_heads": join_heads}
    for text in sources(formula, dict(widths), heads):
        exec(compile(text, f"<{formula.name}>", "exec"), scope)
    return scope["forward"], scope["backward"]


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    if not sum(execution.packing(xs).sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    program = _program(cell.formula, tuple(cell.widths.items()), cell.heads)
    fused = execution.recorded and xs.is_cuda and fusion_works(xs.device)
    return run_program(cell, xs, state, execution, program, fused=fused)


CODEGEN = Executor("codegen", run, unsupported_reason, reads_rows=lambda *_: True)
