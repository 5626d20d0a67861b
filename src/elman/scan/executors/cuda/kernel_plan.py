"""What a kernel knows of its cell: the formula's values, and the sizes of everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch

from elman.formula import Formula, Node
from elman.formula.symbols import is_input, symbol
from elman.formula.traversal import substitute, topological
from elman.scan.executors.cpu.value_plan import ValuePlan, classify_widths
from elman.scan.executors.cuda.tiling import Tiling
from elman.shapes import Tensor


@dataclass(frozen=True)
class KernelPlan:
    """A formula, the width of each name, the heads, and how the work is divided."""

    formula: Formula
    widths: tuple[tuple[str, int], ...]
    heads: int
    tiling: Tiling
    bias: bool = False  # are the gradients of the input added up over all tokens, too?

    @cached_property
    def values(self) -> ValuePlan:
        classes, _ = classify_widths(self.formula, dict(self.widths))
        return ValuePlan(self.formula, classes, self.tiling.split and self.heads == 1)

    @cached_property
    def size(self) -> Mapping[str, int]:
        """Of each name, within a head."""
        return {name: width // self.heads for name, width in self.widths}

    @cached_property
    def class_sizes(self) -> tuple[int, ...]:
        """Of each class of equally wide names, within a head."""
        _, sizes = classify_widths(self.formula, dict(self.widths))
        return tuple(size // self.heads for size in sizes)

    def width_class(self, a: Node) -> int:
        """The class of a value; what is the same at every unit belongs anywhere."""
        if a.op == "constant":
            return 0
        found = self.values.width(a)
        assert found is not None, "reductions are refused before"
        return found

    def operand_size(self, k: int) -> int:
        return self.class_sizes[self.width_class(self.values.trace.products[k].operand)]

    def names(self, k: int) -> tuple[str, ...]:
        """The results of product k."""
        return self.values.trace.products[k].names

    @cached_property
    def padded_columns(self) -> list[dict[str, int]]:
        """Of each product, where the padded units of each result begin, side by side."""
        found = []
        for names in map(self.names, range(len(self.values.trace.products))):
            widths = [self.tiling.padded(self.size[name]) for name in names]
            found.append(dict(zip(names, accumulate(widths, initial=0), strict=False)))
        return found

    def padded_width(self, k: int) -> int:
        return sum(self.tiling.padded(self.size[name]) for name in self.names(k))

    @cached_property
    def operand_states(self) -> dict[int, str]:
        """The products that multiply an old state, and which."""
        products = enumerate(self.values.trace.products)
        return {k: product.operand.args[1] for k, product in products if is_input(product.operand, "s")}

    @cached_property
    def first_products(self) -> list[int]:
        """For each product the first one that multiplies the same: what it was sent is there for both."""
        operands = [product.operand for product in self.values.trace.products]
        return [operands.index(operand) for operand in operands]

    @cached_property
    def other_products(self) -> list[int]:
        """Those whose factor is no state, the first of each factor."""
        return [k for k in dict.fromkeys(self.first_products) if k not in self.operand_states]

    @cached_property
    def matrix_parts(self) -> list[tuple[int, int, int]]:
        """Of which matrix of the cell each product has which rows."""
        found = []
        for number, product in enumerate(self.formula.trace.products):
            row = 0
            for names in (mine.names for mine in self.values.trace.products if mine.names[0] in product.names):
                rows = sum(self.size[name] for name in names)
                found.append((number, row, row + rows))
                row += rows
        return found

    def split_matrices(self, U: Sequence[Tensor]) -> Sequence[Tensor]:
        """The rows of the cell's matrices that each product has."""
        if len(self.matrix_parts) == len(U):
            return U
        return [U[number][begin:end] for number, begin, end in self.matrix_parts]

    def join_gradients(self, dU: Sequence[Tensor]) -> Sequence[Tensor]:
        """The inverse of `split_matrices`."""
        if len(self.matrix_parts) == len(self.formula.trace.products):
            return dU
        parts: dict[int, list[Tensor]] = {}
        for (number, *_), gradient in zip(self.matrix_parts, dU, strict=True):
            parts.setdefault(number, []).append(gradient)
        return [some[0] if len(some) == 1 else torch.cat(some) for some in parts.values()]

    @cached_property
    def sent_states(self) -> list[str]:
        """The states that other blocks or the caller read, in 16 bits."""
        return [*dict.fromkeys([self.formula.output, *self.operand_states.values()])]

    @cached_property
    def float_states(self) -> list[str]:
        """The states that the way back reads in 32 bits: 1 - h² of a rounded h near 1 would be far off."""
        read = topological(map(self.read_back, self.values.gradients))
        names = {a.args[1] for a in read if is_input(a, "n") or is_input(a, "s")}
        return [name for name in self.formula.states if name != self.formula.output or name in names]

    @cached_property
    def stored_columns(self) -> dict[Node, int]:
        """Where each value lies that the forward kernel keeps for the way back, side by side, all heads."""
        columns, at = {}, 0
        for a in self.values.stored:
            columns[a] = at
            at += self.class_sizes[self.width_class(a)] * self.heads
        return columns

    @cached_property
    def stored_width(self) -> int:
        return sum(self.class_sizes[self.width_class(a)] * self.heads for a in self.values.stored)

    @cached_property
    def shared_gates(self) -> bool:
        """Are the gradients of the input those of the first product's results, as they are sent?"""
        first = self.values.shared_gradients(0)
        whole = first == 0 and len(self.names(0)) == len(self.formula.gates)
        return whole and self.heads == 1 and all(self.tiling.padded(n) == n for n in self.class_sizes)

    def read_back(self, a: Node) -> Node:
        """A gradient with all that is read from memory as inputs: ``n`` new states, ``e`` stored values,
        ``v`` what products multiplied."""
        places: dict[Node, Node] = {new: symbol("n", name) for new, name in self.values.states.items()}
        places |= {v: symbol("v", str(self.values.operands.index(v))) for v in self.values.operands}
        stored = enumerate(self.values.stored)
        places |= {kept: symbol("e", str(i)) for i, kept in stored if kept not in places}
        return substitute(a, places)

    @cached_property
    def operand_products(self) -> list[int]:
        """The first product that multiplies each value of ``values.operands``."""
        operands = [product.operand for product in self.values.trace.products]
        return [operands.index(v) for v in self.values.operands]
