"""Pieces of CUDA C that the kernels of single units share: elements, arguments, loads, where a thread is.

A thread has one unit of one row. It reads SPAN tokens at a time into registers, so that their loads are under
way together, and computes them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from elman.formula import Node
from elman.formula.cuda_source import HEADER, print_statements
from elman.scan.executors.parallel.unit_plan import UnitPlan

_CONVERSIONS = {
    torch.float32: """typedef float Element;
DEVICE float widen(Element a) { return a; }
DEVICE Element narrow(float a) { return a; }""",
    torch.bfloat16: """typedef unsigned short Element;
DEVICE float widen(Element a) { return __uint_as_float((unsigned)a << 16); }
DEVICE Element narrow(float a) { Element y; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(a)); return y; }""",
    torch.float16: """typedef unsigned short Element;
DEVICE float widen(Element a) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(a)); return y; }
DEVICE Element narrow(float a) { Element y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(a)); return y; }""",
}
ELEMENTS = tuple(_CONVERSIONS)


@dataclass(frozen=True)
class KernelShape:
    """What a kernel is compiled for."""

    element: torch.dtype  # of X, Y and their gradients; all else is float32
    span: int  # tokens that a thread has in registers
    chunks: int = 1  # pieces of the time that a block computes together
    units: int = 32  # side by side in a block
    loop: bool = False  # does one thread go through all tokens of its row?

    @property
    def block(self) -> int:
        return self.units * self.chunks

    @property
    def head(self) -> list[str]:
        fast = int(self.element != torch.float32)
        numbers = {"FAST": fast, "SPAN": self.span, "CHUNKS": self.chunks, "UNITS": self.units}
        defined = [f"#define {name} {number}" for name, number in numbers.items()]
        return [*defined, HEADER, _CONVERSIONS[self.element], ""]


class KernelSource(NamedTuple):
    """A printed kernel, and what it is to be given after X, starts, width and backwards, in order."""

    text: str
    name: str
    arguments: tuple[str, ...]


class KernelText:
    """A kernel in the making. It reads tokens in the order of the text, or against it (``backward``)."""

    def __init__(self, plan: UnitPlan, shape: KernelShape, *, backward: bool) -> None:
        self.plan, self.shape, self.backward = plan, shape, backward
        self.arguments: dict[str, str] = {}  # name -> declaration
        values = plan.gradients if backward else [*plan.trace.new.values()]
        self.known = {a: f"hoisted{i}" for i, a in enumerate(plan.find_hoisted(values))}

    def argument(self, name: str, kind: str = "const float*") -> str:
        """What the kernel is given, by its name in the text."""
        word = f"given_{name.replace(' ', '_')}"
        self.arguments.setdefault(name, f"{kind} {word}")
        return word

    def finish(self, name: str, body: Sequence[str]) -> KernelSource:
        units = self._print_units()
        first = ["const Element* X", "const long long* starts", "int width", "int backwards"]
        takes = ", ".join([*first, *self.arguments.values()])
        begin = [
            "const int groups = (width + UNITS - 1) / UNITS, lane = threadIdx.x % UNITS;",
            "const int chunk = threadIdx.x / UNITS, unit = (blockIdx.x % groups) * UNITS + lane;",
            "const bool inside = unit < width;",
            "const long long row = blockIdx.x / groups, begin = starts[row], end = starts[row + 1];",
            "const long long length = end - begin, place = row * width + unit;",
            "const long long origin = backwards ? end - 1 : begin, way = backwards ? -1 : 1;",
        ]
        head = f'extern "C" __global__ void __launch_bounds__({self.shape.block}) {name}({takes}) {{'
        lines = [*self.shape.head, head, *indent([*begin, *units, *body]), "}", ""]
        return KernelSource("\n".join(lines), name, tuple(self.arguments))

    def _print_units(self) -> list[str]:
        """Per-unit parameters, and what is made of them alone."""
        names = self.plan.formula.parameters
        lines = [f"const float p_{n} = inside ? {self.argument(f'p {n}')}[unit] : 0.f;" for n in names]
        hoisted = {name: a for a, name in self.known.items()}
        if hoisted:
            lines.append(f"float {', '.join(hoisted)};")
            lines += ["{", *indent(print_statements(hoisted, lambda a: f"p_{a.args[1]}")), "}"]
        return lines

    def compute(self, values: Mapping[str, Node], leaf: Callable[[Node], str]) -> list[str]:
        """Variables of these names, with their values."""
        if not values:
            return []
        body = print_statements(values, leaf, self.known)
        return [f"float {', '.join(values)};", "{", *indent(body), "}"]

    def place_token(self, first: str) -> list[str]:
        """Token number ``first + i`` of the way through the row: is it there, and where does it lie?"""
        number = f"length - 1 - ({first} + i)" if self.backward else f"{first} + i"
        there = "number >= 0" if self.backward else "number < length"
        lines = [f"const long long number = {number};", f"const bool there = inside && {there};"]
        return [*lines, "const long long token = origin + way * number;"]

    def load_token(self) -> dict[str, str]:
        """What is read of a token, by the name of the registers: zero where there is no token."""
        plan, formula = self.plan, self.plan.formula
        each = {f"x_{g}": self._read_gate(g, "token") for g in formula.gates}
        each |= {f"m_{n}": f"{self.argument(f'm {n}')}[token * width + unit]" for n in formula.masks}
        if self.backward:
            each |= {f"old_{n}": self._read_old(n) for n in plan.history}
            each["dy"] = f"widen({self.argument('dY', 'const Element*')}[token * width + unit])"
        return {name: f"there ? {value} : 0.f" for name, value in each.items()}

    def _read_gate(self, gate: str, token: str) -> str:
        gates = self.plan.formula.gates
        return f"widen(X[({token} * {len(gates)} + {gates.index(gate)}) * width + unit])"

    def _read_old(self, name: str) -> str:
        """The state before a token, as the forward pass wrote it down."""
        gate = self.plan.find_source(name)
        if gate is not None:
            value = self._read_gate(gate, "(token - way)")
        elif name == self.plan.formula.output:
            value = f"widen({self.argument('Y', 'const Element*')}[(token - way) * width + unit])"
        else:
            value = f"{self.argument(f'H {name}')}[(token - way) * width + unit]"
        return f"(number > 0 ? {value} : {self.argument(f's0 {name}')}[place])"

    def store_states(self, value: Callable[[str], str]) -> list[str]:
        """The output of one token, and the states that the way back reads."""
        plan, output = self.plan, self.plan.formula.output
        lines = [f"{self.argument('Y', 'Element*')}[token * width + unit] = narrow({value(output)});"]
        for n in plan.kept:
            kept = self.argument(f"H {n}", "float*")
            lines.append(f"if ({kept}) {kept}[token * width + unit] = {value(n)};")
        return lines

    def store_gradients(self, leaf: Callable[[Node], str]) -> list[str]:
        """dX of one token, and what it adds to the gradients of per-unit parameters."""
        plan, formula = self.plan, self.plan.formula
        targets = {f"dx_{g}": plan.gradient("x", g) for g in formula.gates}
        targets |= {f"dp_{n}": plan.gradient("p", n) for n in formula.parameters}
        lines, dX = self.compute(targets, leaf), self.argument("dX", "Element*")
        for i, g in enumerate(formula.gates):
            lines.append(f"{dX}[(token * {len(formula.gates)} + {i}) * width + unit] = narrow(dx_{g});")
        return [*lines, *(f"sum_{n} += dp_{n};" for n in formula.parameters)]


def declare(names: Iterable[str]) -> str:
    """Registers, SPAN of each."""
    text = ", ".join(f"{name}[SPAN]" for name in names)
    return f"float {text};" if text else ""


def indent(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines if line]


def unroll(body: Sequence[str]) -> list[str]:
    return ["#pragma unroll", "for (int i = 0; i < SPAN; i++) {", *indent(body), "}"]
