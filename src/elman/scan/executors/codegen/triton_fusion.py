"""Programs of `kernel_fusion` as Triton kernels."""

from __future__ import annotations

import linecache
from functools import cache
from typing import Any

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

from elman.scan.executors.codegen.kernel_fusion import KernelProgram
from elman.scan.executors.codegen.torch_source import indent

_BLOCK = 256  # columns that a program of Triton computes


def launch(program: KernelProgram) -> None:
    """Compute the program: a grid of rows and of blocks of columns."""
    rows, width = program.blocks[0].shape
    steps = [step for block in program.blocks for step in block.stride()]
    grid = rows, triton.cdiv(width, _BLOCK)
    _compile(_source(program))[grid](*program.blocks, *steps, width, _BLOCK, num_warps=2)


def _source(program: KernelProgram) -> str:
    count = range(len(program.blocks))
    wide = any(block.dtype == torch.float64 for block in program.blocks)
    at = [f"p{i} + row * r{i} + column * c{i}" for i in count]
    loads = [
        f"{name} = tl.load({at[i]}, inside).to({'tl.float64' if wide else 'tl.float32'})"
        for name, i in program.loads.items()
    ]
    stores = [f"tl.store({at[i]}, {name}, inside)" for i, name in program.stores.items()]
    pointers = [f"p{i}" for i in count]
    steps = [f"{name}{i}" for i in count for name in "rc"]
    body = [
        "row = tl.program_id(0).to(tl.int64)",
        "column = tl.program_id(1) * block + tl.arange(0, block)",
        "inside = column < width",
    ]
    arguments = ", ".join((*pointers, *steps, "width", "block: tl.constexpr"))
    return "\n".join([f"def fused({arguments}):", *indent([*body, *loads, *program.lines, *stores]), ""])


@cache
def _compile(source: str) -> Any:
    """The kernel; Triton reads its source, so Python must know where it is."""
    name = f"<fused {len(linecache.cache)}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    scope: dict[str, Any] = {"tl": tl}
    exec(compile(source, name, "exec"), scope)
    return triton.jit(scope["fused"])
