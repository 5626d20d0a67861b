"""Elementwise operations that follow one another, made one kernel while a CUDA graph is recorded.

The programs of this room are plain torch, where each operation is a kernel of its own. Between two products of
a step there are up to ten, and each is shorter than the pause before it. ``FusionMode`` holds them back until
something else may need their results; then one kernel computes them all and is recorded in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from elman.formula.operation import OPS
from elman.shapes import Tensor

aten = torch.ops.aten

# What each operation of torch computes from its arguments, for Triton: those of formulas, and torch's own.
_FORMULAS: dict[Any, str] = {
    getattr(aten, name): op.triton for name, op in OPS.items() if op.triton and hasattr(aten, name)
} | {
    aten.add: "{0} + {1} * {alpha}",
    aten.addcmul: "{0} + {1} * {2} * {value}",
    aten.copy_: "{0}",
    aten.reciprocal: "1 / {0}",
    aten.rsub: "{1} - {0} * {alpha}",
    aten.sigmoid_: OPS["sigmoid"].triton,
    aten.sigmoid_backward: "{0} * {1} * (1 - {1})",
    aten.sub: "{0} - {1} * {alpha}",
    aten.tanh_: OPS["tanh"].triton,
    aten.tanh_backward: "{0} * (1 - {1} * {1})",
}
_INERT = {aten.empty, aten.new_empty, aten.detach}  # read and write nothing, like views


class PendingOp(NamedTuple):
    """An operation that waits; its operands have the shape of its result."""

    formula: str
    result: Tensor
    operands: Sequence[Tensor | float]


class KernelProgram(NamedTuple):
    """What one kernel does for each element: load, compute, store; blocks are numbered."""

    blocks: list[Tensor]  # (rows, width) each
    loads: dict[str, int]  # the names of values that are read, and from which block
    lines: list[str]
    stores: dict[int, str]


class FusionMode(TorchDispatchMode):
    """Holds elementwise operations back, and gives those that go together to ``kernel`` as one program."""

    def __init__(self, kernel: Callable[[KernelProgram], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kernel = kernel
        self.segment: Segment | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        op = _pending_op(func, args, kwargs or {})
        if op is not None:
            if self.segment is None or not self.segment.takes(op):
                self.flush()
                self.segment = Segment(op)
            return op.result
        if not func.is_view and func.overloadpacket not in _INERT:
            self.flush()
        return func(*args, **(kwargs or {}))

    def flush(self) -> None:
        if self.segment is not None:
            self.kernel(self.segment.program())
        self.segment = None

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        if error[0] is None:
            self.flush()


def _pending_op(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> PendingOp | None:
    """The operation as one that can wait; None for any other."""
    operation = func.overloadpacket
    if operation not in _FORMULAS:
        return None
    given = args[1:2] if operation is aten.copy_ else args
    # PyTorch makes tensors of some numbers.
    operands = [a.item() if isinstance(a, Tensor) and a.dim() == 0 and a.is_cpu else a for a in given]
    tensors = [a for a in operands if isinstance(a, Tensor)]
    shape = torch.broadcast_shapes(*(a.shape for a in tensors))  # type: ignore[no-untyped-call]
    written = args[0] if operation.__name__.endswith("_") else None
    written = kwargs.get("out", kwargs.get("grad_input", written))
    result = tensors[0].new_empty(shape) if written is None else written
    blocks = result.shape == shape and len(shape) in (2, 3) and result.stride(-1) == 1
    if not blocks or not all(a.dtype == result.dtype and a.is_floating_point() for a in tensors):
        return None
    scalars = {name: repr(float(kwargs.get(name, 1))) for name in ("alpha", "value")}
    formula = _FORMULAS[operation].format("{0}", "{1}", "{2}", **scalars)
    shaped = [a.expand(shape) if isinstance(a, Tensor) else a for a in operands]
    return PendingOp(formula, result, shaped)


_Pieces = tuple[dict[Any, Tensor], dict[Any, Tensor]]  # blocks that are written, and that are read


class Segment:
    """Operations on blocks of one size: each element by itself."""

    def __init__(self, first: PendingOp) -> None:
        self.ops = [first]
        self.rows, self.width = len(first.result), first.result.shape[-1]
        self.cuts: dict[int, _Pieces] = {}  # of the operations so far, by the width of a block

    def takes(self, op: PendingOp) -> bool:
        """Append the operation, unless its blocks are of another size or cut across written ones."""
        width = op.result.shape[-1]
        if len(op.result) != self.rows or (width % self.width and self.width % width):
            return False
        self.width, before = min(self.width, width), self.width
        writes, reads = known = self.cuts.get(self.width) or self._pieces(self.ops)
        new_writes, new_reads = self._pieces([op])
        if _cross(writes, new_writes | new_reads) or _cross(new_writes, reads):
            self.width = before
            return False
        self.ops.append(op)
        writes.update(new_writes)
        reads.update(new_reads)
        self.cuts = {self.width: known}
        return True

    def _pieces(self, ops: Sequence[PendingOp]) -> _Pieces:
        """The blocks that are written and those that are read."""
        writes = {key(block): block for op in ops for block in self.cut(op.result)}
        operands = (a for op in ops for a in op.operands if isinstance(a, Tensor))
        return writes, {key(block): block for a in operands for block in self.cut(a)}

    def cut(self, tensor: Tensor) -> Iterator[Tensor]:
        for part in tensor.unbind(1) if tensor.dim() == 3 else (tensor,):
            yield from torch.split(part, self.width, 1)

    def program(self) -> KernelProgram:
        """Every block is loaded once and stored once, however often it is read and written."""
        program = KernelProgram([], {}, [], {})
        places: dict[Any, int] = {}
        values: dict[Any, str] = {}

        def place(block: Tensor) -> int:
            if key(block) not in places:
                places[key(block)] = len(program.blocks)
                program.blocks.append(block)
            return places[key(block)]

        def value(block: Tensor | float) -> str:
            if not isinstance(block, Tensor):
                return repr(block)
            if key(block) not in values:
                name = values[key(block)] = f"a{len(program.loads)}"
                program.loads[name] = place(block)
            return values[key(block)]

        for op in self.ops:
            parts = [self._parts(operand, op.result) for operand in op.operands]
            for block, *operands in zip(self.cut(op.result), *parts, strict=True):
                name = f"v{len(program.lines)}"
                program.lines.append(f"{name} = {op.formula.format(*map(value, operands))}")
                values[key(block)] = program.stores[place(block)] = name
        return program

    def _parts(self, operand: Tensor | float, result: Tensor) -> Iterator[Tensor | float]:
        if isinstance(operand, Tensor):
            return self.cut(operand)
        return iter([operand] * (result.shape[1:].numel() // self.width))


def key(block: Tensor) -> tuple[Any, ...]:
    """The same for blocks that are the same memory."""
    return block.data_ptr(), block.stride(), block.dtype


def _cross(some: dict[Any, Tensor], others: dict[Any, Tensor]) -> bool:
    """May blocks share a part of their memory without being the same?"""
    pairs = ((a, b) for k, a in some.items() for j, b in others.items() if j != k)
    return not all(_apart(a, b) for a, b in pairs)


def _apart(a: Tensor, b: Tensor) -> bool:
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return True
    row, width = a.stride(0), a.shape[1]
    if a.stride() != b.stride() or a.dtype != b.dtype or row < width:
        return False
    between = (b.data_ptr() - a.data_ptr()) // a.element_size()
    return abs(between) >= len(a) * row or width <= between % row <= row - width
