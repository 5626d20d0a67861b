"""Where PyTorch has a kernel for a formula too: which of the two is faster, measured once for each shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from elman.cells import Formulaic
from elman.cells.formulaic import GivenWeights
from elman.scan.execution import Execution
from elman.scan.executors.cuda.kernel_recurrence import run_program
from elman.scan.executors.cuda.program import CudaProgram, Shape
from elman.scan.executors.cuda.timing import time_graph, time_launched
from elman.scan.executors.cuda.tuning import Note, choose_tilings, find_bucket
from elman.scan.executors.torch_kernels import TORCH
from elman.shapes import Tensor

_STEPS = (32, 128, 512)
_found: dict[tuple[Shape, torch.device, Work], bool] = {}


class Work(NamedTuple):
    """What is measured: a layer on so many rows and steps, recorded as a CUDA graph or launched by Python."""

    rows: int
    steps: int
    input_size: int
    recorded: bool


def is_torch_faster(cell: Formulaic, shape: Shape, execution: Execution) -> bool:
    """Forward and backward of the whole layer; shapes that are near each other are measured once."""
    if TORCH.unsupported_reason(cell) is not None:
        return False
    device, rows = cell.affine()[0].device, find_bucket(int(execution.rows))
    long = int(execution.places) // max(1, int(execution.rows))
    steps = next((bucket for bucket in _STEPS if bucket >= long), _STEPS[-1])
    work = Work(rows, steps, cell.input_size, execution.recorded)
    key = (shape, device, work)
    if key not in _found:
        if torch.cuda.is_current_stream_capturing():  # nothing can be measured now
            return False
        note = Note(shape, rows, device, f"contest {work}")
        _found[key] = (note.read() or note.write(_measure(cell, shape, work)))["torch"] is True
    return _found[key]


def _measure(cell: Formulaic, shape: Shape, work: Work) -> dict[str, bool]:
    tilings = choose_tilings(shape, work.rows, cell.affine()[0].device)
    assert tilings is not None, "asked before"
    program = CudaProgram(shape, *tilings)
    ours = _time_layer(cell, shape, work, partial(run_program, program=program))
    return {"torch": _time_layer(cell, shape, work, TORCH.run) < ours}


def _time_layer(cell: Formulaic, shape: Shape, work: Work, run: Callable[..., tuple[Tensor, object]]) -> float:
    """Milliseconds of a layer, with the gradients of its input and weights."""
    like = cell.affine()[0]
    draw = torch.Generator(like.device).manual_seed(0)
    size = (work.steps, work.rows, work.input_size)
    xs = torch.randn(size, generator=draw, device=like.device).transpose(0, 1).to(shape.dtype).requires_grad_()
    given = GivenWeights(cell, [U.detach().requires_grad_() for U in cell.matrices()])

    def update() -> None:
        with torch.enable_grad(), torch.autocast("cuda", shape.dtype):
            execution = Execution.begin(xs, None)
            ys, _ = run(given, xs, given.initial(xs), execution)
            torch.autograd.grad(ys, [xs, *given.matrices()], torch.ones_like(ys))

    return time_graph(update) if work.recorded else time_launched(update)
