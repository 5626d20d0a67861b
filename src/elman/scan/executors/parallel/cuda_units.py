"""The CUDA kernels of a recurrence of single units, chosen and launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import torch

from elman.formula import Formula
from elman.formula.structure import LINEAR
from elman.scan.executors.cuda.launch import load_driver, load_kernel
from elman.scan.executors.cuda.nvrtc import CudaError, load_nvrtc
from elman.scan.executors.parallel.kernel_text import KernelShape, KernelSource
from elman.scan.executors.parallel.loop_kernel import print_backward_loop, print_forward_loop
from elman.scan.executors.parallel.scan_kernel import list_levels, print_backward_scan, print_forward_scan
from elman.scan.executors.parallel.unit_plan import UnitPlan
from elman.scan.executors.parallel.unit_values import UnitGradients, UnitInputs, UnitResults
from elman.shapes import Tensor

_OLDEST = (8, 0)  # the first processor that rounds to bfloat16 by an instruction
_MOST_CHUNKS = 16  # a block of 512 threads leaves each 128 registers
_SHARED = 48 * 1024  # bytes that a block has without asking
_WARPS = 32  # that a processor is to have at work
_SHORT = 16  # steps that one thread has done before others could help


class CudaUnits:
    """Forward and backward of a formula by kernels; what is linear in the state runs over time at once."""

    def __init__(self, formula: Formula) -> None:
        self.plan = UnitPlan(formula)

    def read(self, given: UnitInputs, *, keep: bool) -> UnitResults:
        """All new states of the output, those that the way back needs, and the last ones."""
        formula, (tokens, width) = self.plan.formula, (len(given.X), given.state[0].shape[1])
        Y = given.X.new_empty(tokens, width)
        kept = {n: Y.new_empty(Y.shape, dtype=torch.float32) for n in self.plan.kept} if keep else {}
        final = [torch.empty_like(s, memory_format=torch.contiguous_format) for s in given.state]
        buffers: dict[str, Tensor | None] = {f"H {n}": kept.get(n) for n in self.plan.kept}
        buffers["Y"] = Y
        buffers |= {f"final {n}": t for n, t in zip(formula.states, final, strict=True)}
        self._launch(given, buffers, backward=False)
        return UnitResults(Y, final, kept)

    def give_back(
        self, given: UnitInputs, results: UnitResults, dY: Tensor, dS: Sequence[Tensor]
    ) -> UnitGradients:
        """The gradients of everything that was given."""
        formula, dX = self.plan.formula, torch.empty_like(given.X)
        d0 = [torch.empty_like(s, memory_format=torch.contiguous_format) for s in given.state]
        dp = [torch.empty_like(d0[0]) for _ in formula.parameters]
        buffers: dict[str, Tensor | None] = {"Y": results.Y, "dX": dX, "dY": dY.to(dX.dtype).contiguous()}
        buffers |= {f"H {n}": t for n, t in results.kept.items()}
        buffers |= {f"d0 {n}": t for n, t in zip(formula.states, d0, strict=True)}
        buffers |= {f"d {n}": t.float().contiguous() for n, t in zip(formula.states, dS, strict=True)}
        buffers |= {f"dp {n}": t for n, t in zip(formula.parameters, dp, strict=True)}
        self._launch(given, buffers, backward=True)
        return UnitGradients(dX, d0, [t.sum(0) for t in dp])

    def _launch(self, given: UnitInputs, buffers: Mapping[str, Tensor | None], *, backward: bool) -> None:
        formula, (rows, width) = self.plan.formula, given.state[0].shape
        shape = self.choose_shape(given, backward=backward)
        source = self.print_kernel(shape, backward)
        named = {f"s0 {n}": t.contiguous() for n, t in zip(formula.states, given.state, strict=True)}
        named |= {f"p {n}": t.contiguous() for n, t in zip(formula.parameters, given.units, strict=True)}
        named |= {f"m {n}": t.contiguous() for n, t in zip(formula.masks, given.masks, strict=True)}
        known = {**named, **buffers}
        arguments = [given.X, given.starts, width, int(given.reverse), *(known[n] for n in source.arguments)]
        kernel = load_kernel(source.text, source.name, given.X.device)
        kernel.launch(rows * -(-width // shape.units), shape.block, arguments)

    def print_kernel(self, shape: KernelShape, backward: bool) -> KernelSource:
        return print_kernel(self.plan.formula, shape, backward)

    def choose_shape(self, given: UnitInputs, *, backward: bool) -> KernelShape:
        """How many tokens a thread and a block have at a time, so that the processors have enough to do."""
        rows, width = given.state[0].shape
        return find_shape(
            self.plan, (rows, given.steps, width), given.X.dtype, count_processors(given.X.device)
        )


class FixedUnits(CudaUnits):
    """With kernels of one shape."""

    def __init__(self, formula: Formula, shape: KernelShape) -> None:
        super().__init__(formula)
        self.shape = shape

    def choose_shape(self, given: UnitInputs, *, backward: bool) -> KernelShape:
        return self.shape


def find_shape(
    plan: UnitPlan, size: tuple[int, int, int], element: torch.dtype, processors: int
) -> KernelShape:
    rows, steps, width = size
    levels = list_levels(plan) if plan.structure.kind == LINEAR else []
    states = sum(len(level) for level in levels)
    span = 16 if len(plan.formula.gates) + states <= 4 else 8
    if not levels or steps <= _SHORT:
        return KernelShape(element, 8, loop=True)
    blocks = rows * -(-width // 32)
    wanted = min(-(-_WARPS * processors // blocks), -(-steps // span))
    return max(
        (KernelShape(element, span, n) for n in list_chunks(plan) if n < 2 * wanted), key=lambda s: s.chunks
    )


def list_chunks(plan: UnitPlan) -> list[int]:
    """The numbers of pieces that the registers and the shared memory of a block have room for."""
    states = sum(len(level) for level in list_levels(plan))
    most = _SHARED // (states * 4 * 32 * 4 + len(plan.formula.parameters) * 32 * 4)
    return [n for n in (1, 2, 4, 8, 16) if n == 1 or n <= min(most, _MOST_CHUNKS)]


@cache
def print_kernel(formula: Formula, shape: KernelShape, backward: bool) -> KernelSource:
    plan = UnitPlan(formula)
    scans, loops = (print_forward_scan, print_backward_scan), (print_forward_loop, print_backward_loop)
    is_loop = shape.loop or plan.structure.kind != LINEAR
    return (loops if is_loop else scans)[backward](plan, shape)


@cache
def count_processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


@cache
def why_no_kernels(device: torch.device) -> str | None:
    """Why nothing can be compiled for a GPU; None where it can."""
    if torch.cuda.get_device_capability(device) < _OLDEST:
        return "kernels are printed for GPUs of compute capability 8.0 and later"
    try:
        load_driver(), load_nvrtc()
    except CudaError as error:
        return str(error)
    return None
