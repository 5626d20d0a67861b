"""Where PyTorch has a kernel for a formula too: which of the two is faster, measured once for each shape.

Launched by Python and replayed as a CUDA graph are measured apart: where Python is slower than the GPU, the one
with fewer kernels is faster launched, and may be slower recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from elman.cells import Formulaic
from elman.cells.formulaic import GivenWeights
from elman.scan.execution import Execution
from elman.scan.executors.cuda.kernel_recurrence import run_program
from elman.scan.executors.cuda.notes import Note
from elman.scan.executors.cuda.program import Shape, find_program
from elman.scan.executors.cuda.timing import time_graph, time_in_turns
from elman.scan.executors.cuda.tuning import choose_tilings, find_bucket
from elman.scan.executors.torch_kernels import TORCH
from elman.shapes import Tensor

_STEPS = (32, 128, 512)
_found: dict[tuple[Shape, torch.device, Work], dict[str, bool]] = {}
_RECORDED, _LAUNCHED = "recorded", "launched"


class Work(NamedTuple):
    """What is measured: a layer on so many rows and steps."""

    rows: int
    steps: int
    input_size: int


def is_torch_faster(cell: Formulaic, shape: Shape, execution: Execution) -> bool:
    """Forward and backward of the whole layer; shapes that are near each other are measured once."""
    if TORCH.unsupported_reason(cell) is not None:
        return False
    device, rows = cell.affine()[0].device, find_bucket(int(execution.rows))
    long = int(execution.places) // max(1, int(execution.rows))
    steps = next((bucket for bucket in _STEPS if bucket >= long), _STEPS[-1])
    work = Work(rows, steps, cell.input_size)
    key, capturing = (shape, device, work), torch.cuda.is_current_stream_capturing()
    if key not in _found:
        note = Note(device, shape.formula, ("contest", *shape.details, work))
        known = note.read()
        if known is None and capturing:  # nothing can be measured now
            return False
        _found[key] = known or note.write(_measure(cell, shape, work))
    return _found[key][_RECORDED if capturing or execution.recorded else _LAUNCHED] is True


def _measure(cell: Formulaic, shape: Shape, work: Work) -> dict[str, bool]:
    """Is PyTorch's kernel the faster one, either way?"""
    tilings = choose_tilings(shape, work.rows, cell.affine()[0].device)
    assert tilings is not None, "asked before"
    program = find_program(shape, *tilings)
    runs = (TORCH.run, partial(run_program, program=program))
    updates = [_make_update(cell, shape, work, run) for run in runs]
    launched = time_in_turns(updates)
    recorded = [*map(time_graph, updates)]
    return {_LAUNCHED: launched[0] < launched[1], _RECORDED: recorded[0] < recorded[1]}


def _make_update(
    cell: Formulaic, shape: Shape, work: Work, run: Callable[..., tuple[Tensor, object]]
) -> Callable[[], None]:
    """A layer, forward and backward, with the gradients of its input and recurrent weights."""
    W, _ = cell.affine()
    draw = torch.Generator(W.device).manual_seed(0)
    size = (work.steps, work.rows, work.input_size)
    xs = torch.randn(size, generator=draw, device=W.device).transpose(0, 1).to(shape.dtype).requires_grad_()
    # Leaves of its own: those of the cell may belong to a graph on the usual stream, which a recording spoils.
    given = GivenWeights(cell, [U.detach().requires_grad_() for U in cell.matrices()])

    def update() -> None:
        with torch.enable_grad(), torch.autocast("cuda", shape.dtype):
            execution = Execution.begin(xs, None)
            ys, _ = run(given, xs, given.initial(xs), execution)
            torch.autograd.grad(ys, [xs, *given.matrices()], torch.ones_like(ys))

    return update
