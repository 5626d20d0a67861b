"""Tokens packed once a batch: the parts of a stack hand each other rows without padding.

All rows lie in one order, that of the direction in which the run began. A part that reads the other way turns
them, which is one move of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from elman.operators import is_opaque
from elman.scan.execution import Execution, check_mask
from elman.second_derivatives import needs_plain_form
from elman.shapes import Float, Tensor


def can_pack(xs: Tensor, execution: Execution) -> bool:
    """Is there padding to leave out, and nobody who has to see it?"""
    if execution.packed is not None or execution.executor == "loop" or not xs.is_cpu:
        return False
    if is_opaque() or needs_plain_form():
        return False
    check_mask(xs, execution.mask)
    return execution.has_padding and sum(execution.packing(xs).sizes) > 0


def run_packed(
    run: Callable[[Tensor, Execution], tuple[Tensor, Any]], xs: Float[Tensor, "B T D"], execution: Execution
) -> tuple[Float[Tensor, "B T H"], Any]:
    """y_{1:n} and s_n of a run whose parts take and give packed rows."""
    packed = execution.packing(xs)
    rows = packed.pack(xs)
    lookup = execution.find_lookup(xs)
    known = None if lookup is None else lookup.pack(rows, packed)
    ys, end = run(rows, replace(execution, packed=packed, lookup=known))
    return packed.unpack(ys), end
