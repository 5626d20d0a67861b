"""Which tilings a cell runs with on this GPU: the promising ones are measured once, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

import torch

from elman.scan.executors.cuda.estimate import Chip, list_candidates
from elman.scan.executors.cuda.launch import find_architecture
from elman.scan.executors.cuda.notes import Note
from elman.scan.executors.cuda.nvrtc import CudaError, compile_kernel
from elman.scan.executors.cuda.program import CudaProgram, Shape, StepTable, print_kernel
from elman.scan.executors.cuda.tiling import Tiling
from elman.scan.executors.cuda.timing import time_graph
from elman.scan.packing import Packing

_BUCKETS = (8, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024)
_STEPS = 64  # of a measurement


class TilingChoice(NamedTuple):
    forward: Tiling
    backward: Tiling


_choices: dict[tuple[Shape, int, torch.device], TilingChoice | None] = {}


def choose_tilings(shape: Shape, rows: int, device: torch.device) -> TilingChoice | None:
    """The fastest of the promising ones for about so many rows; None where the weights do not fit the chip."""
    rows = find_bucket(rows)
    key = (shape, rows, device)
    if key not in _choices:
        chip = find_chip(device)
        tried = [list_candidates(shape, rows, chip, backward=backward) for backward in (False, True)]
        note = Note(device, shape.formula, ("tilings", *shape.details, rows))
        if not all(tried):
            _choices[key] = None
        elif torch.cuda.is_current_stream_capturing() and not note.read():  # nothing can be measured now
            return TilingChoice(tried[0][0], tried[1][0])
        else:
            found = note.read() or note.write(_measure_choice(shape, rows, device, *tried))
            _choices[key] = TilingChoice(*(Tiling(**found[name]) for name in TilingChoice._fields))
    return _choices[key]


def find_bucket(rows: int) -> int:
    """Numbers of rows that are near each other are measured once."""
    return next((bucket for bucket in _BUCKETS if bucket >= rows), rows)


@cache
def find_chip(device: torch.device) -> Chip:
    found: Any = torch.cuda.get_device_properties(device)
    return Chip(found.multi_processor_count, found.shared_memory_per_block_optin, found.major >= 9)


def _measure_choice(
    shape: Shape, rows: int, device: torch.device, forward: Sequence[Tiling], backward: Sequence[Tiling]
) -> dict[str, Any]:
    compile_all(shape, [(t, False) for t in forward] + [(t, True) for t in backward], device)
    trial = _Trial(shape, rows, device)
    best = min(forward, key=trial.time_forward)
    return {
        "forward": asdict(best),
        "backward": asdict(min(backward, key=lambda t: trial.time_backward(best, t))),
    }


def compile_all(shape: Shape, wanted: Sequence[tuple[Tiling, bool]], device: torch.device) -> None:
    """Into the cache, on all cores: NVRTC lets other threads go on."""
    texts = [print_kernel(shape, tiling, backward=back, ragged=False).text for tiling, back in wanted]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda text: compile_kernel(text, find_architecture(device)), texts))


class _Trial:
    """Both kernels on made-up numbers."""

    def __init__(self, shape: Shape, rows: int, device: torch.device) -> None:
        self.shape, self.table = (
            shape,
            StepTable(Packing(rows, _STEPS, [rows] * _STEPS, None, None, False), device),
        )
        draw = torch.Generator(device).manual_seed(0)
        widths, formula, plan = dict(shape.widths), shape.formula, shape.plan(Tiling(1, 8, False))

        def make(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.randn(size, generator=draw, device=device).mul_(0.1).to(dtype)

        tokens, heads = rows * _STEPS, shape.heads
        self.X = make(tokens, sum(widths[gate] for gate in formula.gates), dtype=shape.dtype)
        self.dY = make(tokens, widths[formula.output], dtype=shape.dtype)
        self.state = [make(rows, widths[name]) for name in formula.states]
        products = formula.trace.products
        sizes = [(sum(plan.size[n] for n in q.names), plan.operand_size(k)) for k, q in enumerate(products)]
        self.U = [make(*size) if heads == 1 else make(heads, *size) for size in sizes]
        self.p = [make(widths[formula.gates[0]]) for _ in formula.parameters]
        self.m = [make(tokens, widths[name], dtype=shape.dtype) for name in formula.masks]

    def time_forward(self, tiling: Tiling) -> float:
        return _time(lambda: self._run_forward(CudaProgram(self.shape, tiling, tiling)))

    def time_backward(self, forward: Tiling, tiling: Tiling) -> float:
        program = CudaProgram(self.shape, forward, tiling)
        kept = self._run_forward(program)[2]
        given = (self.X, self.dY, [None] * len(self.state), kept, self.U, self.p, self.m)
        return _time(lambda: program.run_backward(self.table, *given))

    def _run_forward(self, program: CudaProgram) -> Any:
        return program.run_forward(self.table, self.X, self.state, self.U, self.p, self.m, keep=True)


def _time(run: Callable[[], object]) -> float:
    """Milliseconds; endless where it cannot run here."""
    try:
        run()
    except CudaError:
        return float("inf")
    return time_graph(run)
