"""Elementwise operations that follow one another, made one kernel while a CUDA graph is recorded.

The programs of this room are plain torch, where each operation is a kernel of its own. Between two products of
a step there are up to ten, and each is shorter than the pause before it. Within ``Fused`` they are held back
until something else may need their results; then one kernel computes them all and is recorded in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from elman.shapes import Tensor

aten = torch.ops.aten

# What each operation computes from its arguments; sigmoid and exp are Triton's.
_FORMULAS: dict[Any, str] = {
    aten.add: "{0} + {1} * {alpha}",
    aten.addcmul: "{0} + {1} * {2} * {value}",
    aten.copy_: "{0}",
    aten.exp: "tl.exp({0})",
    aten.mul: "{0} * {1}",
    aten.neg: "-{0}",
    aten.rsub: "{1} - {0} * {alpha}",
    aten.sigmoid: "tl.sigmoid({0})",
    aten.sigmoid_: "tl.sigmoid({0})",
    aten.sigmoid_backward: "{0} * {1} * (1 - {1})",
    aten.sub: "{0} - {1} * {alpha}",
    aten.tanh: "2 * tl.sigmoid(2 * {0}) - 1",
    aten.tanh_: "2 * tl.sigmoid(2 * {0}) - 1",
    aten.tanh_backward: "{0} * (1 - {1} * {1})",
}
_INERT = {aten.empty, aten.new_empty, aten.detach}  # read and write nothing, like views


class Held(NamedTuple):
    """An operation that waits; its operands have the shape of its result."""

    formula: str
    result: Tensor
    operands: Sequence[Tensor | float]


class Program(NamedTuple):
    """What one kernel does for each element: load, compute, store; blocks are numbered."""

    blocks: list[Tensor]  # (rows, width) each
    loads: dict[str, int]  # the names of values that are read, and from which block
    lines: list[str]
    stores: dict[int, str]


class Fused(TorchDispatchMode):
    """Holds elementwise operations back, and gives those that go together to ``kernel`` as one program."""

    def __init__(self, kernel: Callable[[Program], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kernel = kernel
        self.segment: Segment | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        held = _held(func, args, kwargs or {})
        if held is not None:
            self._hold(held)
            return held.result
        if not func.is_view and func.overloadpacket not in _INERT:
            self.flush()
        return func(*args, **(kwargs or {}))

    def _hold(self, held: Held) -> None:
        if self.segment is None or not self.segment.takes(held):
            self.flush()
            self.segment = Segment(held)

    def flush(self) -> None:
        if self.segment is not None:
            self.kernel(self.segment.program())
        self.segment = None

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        if error[0] is None:
            self.flush()


def _held(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Held | None:
    """The operation as one that can wait; None for any other."""
    operation = func.overloadpacket
    if operation not in _FORMULAS:
        return None
    given = args[1:2] if operation is aten.copy_ else args
    operands = [a.item() if _number(a) else a for a in given]
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
    return Held(formula, result, shaped)


def _number(a: Any) -> bool:
    """Is it a number that PyTorch made a tensor of?"""
    return isinstance(a, Tensor) and a.dim() == 0 and a.device.type == "cpu"


class Segment:
    """Operations on blocks of one size: each element by itself."""

    def __init__(self, first: Held) -> None:
        self.held = [first]
        self.rows, self.width = len(first.result), first.result.shape[-1]

    def takes(self, held: Held) -> bool:
        """Append the operation, unless its blocks are of another size or cut across written ones."""
        width = held.result.shape[-1]
        if len(held.result) != self.rows or (width % self.width and self.width % width):
            return False
        self.width, before = min(self.width, width), self.width
        writes, reads = self._pieces(self.held)
        new_writes, new_reads = self._pieces([held])
        if _cross(writes, new_writes | new_reads) or _cross(new_writes, reads):
            self.width = before
            return False
        self.held.append(held)
        return True

    def _pieces(self, held: Sequence[Held]) -> tuple[dict[Any, Tensor], dict[Any, Tensor]]:
        """The blocks that are written and those that are read."""
        writes = {key(block): block for h in held for block in self.cut(h.result)}
        operands = (a for h in held for a in h.operands if isinstance(a, Tensor))
        return writes, {key(block): block for a in operands for block in self.cut(a)}

    def cut(self, tensor: Tensor) -> Iterator[Tensor]:
        for part in tensor.unbind(1) if tensor.dim() == 3 else (tensor,):
            yield from torch.split(part, self.width, 1)

    def program(self) -> Program:
        """Every block is loaded once and stored once, however often it is read and written."""
        program = Program([], {}, [], {})
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

        for h in self.held:
            parts = [self._parts(operand, h.result) for operand in h.operands]
            for block, *operands in zip(self.cut(h.result), *parts, strict=True):
                name = f"v{len(program.lines)}"
                program.lines.append(f"{name} = {h.formula.format(*map(value, operands))}")
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
