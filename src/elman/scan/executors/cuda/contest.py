"""Where PyTorch has a kernel for a formula too: which of the two is faster, measured once for each shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from elman.cells import Formulaic
from elman.cells.formulaic import GivenWeights
from elman.scan.execution import Execution
from elman.scan.executors.cuda.program import CudaProgram, Shape
from elman.scan.executors.cuda.recurrence import run_program
from elman.scan.executors.cuda.timing import time_graph
from elman.scan.executors.cuda.tuning import Note, choose_tilings, find_bucket
from elman.scan.executors.torch_kernels import TORCH
from elman.shapes import Tensor

_STEPS = 48
_found: dict[tuple[Shape, int, int, torch.device], bool] = {}


def is_torch_faster(cell: Formulaic, shape: Shape, rows: int) -> bool:
    """Forward and backward of the whole layer, each as a CUDA graph: without Python between kernels."""
    if TORCH.unsupported_reason(cell) is not None:
        return False
    device, rows = cell.affine()[0].device, find_bucket(rows)
    key = (shape, rows, cell.input_size, device)
    if key not in _found:
        if torch.cuda.is_current_stream_capturing():  # nothing can be measured now
            return False
        note = Note(shape, rows, device, f"contest {cell.input_size}")
        _found[key] = (note.read() or note.write(_measure(cell, shape, rows)))["torch"] is True
    return _found[key]


def _measure(cell: Formulaic, shape: Shape, rows: int) -> dict[str, bool]:
    tilings = choose_tilings(shape, rows, cell.affine()[0].device)
    assert tilings is not None, "asked before"
    program = CudaProgram(shape, *tilings)
    ours = _time_layer(cell, shape, rows, partial(run_program, program=program))
    return {"torch": _time_layer(cell, shape, rows, TORCH.run) < ours}


def _time_layer(cell: Formulaic, shape: Shape, rows: int, run: Callable[..., tuple[Tensor, object]]) -> float:
    """Milliseconds of a layer, with the gradients of its input and weights."""
    like = cell.affine()[0]
    draw = torch.Generator(like.device).manual_seed(0)
    size = (_STEPS, rows, cell.input_size)
    xs = torch.randn(size, generator=draw, device=like.device).transpose(0, 1).to(shape.dtype).requires_grad_()
    given = GivenWeights(cell, [U.detach().requires_grad_() for U in cell.matrices()])

    def update() -> None:
        with torch.enable_grad(), torch.autocast("cuda", shape.dtype):
            execution = Execution.begin(xs, None)
            ys, _ = run(given, xs, given.initial(xs), execution)
            torch.autograd.grad(ys, [xs, *given.matrices()], torch.ones_like(ys))

    return time_graph(update)
