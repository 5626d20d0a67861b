"""Pieces of C++ source: where values lie in memory, and loops over rows and lanes that compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.traversal import is_rowless, sort_operands, topological

MOST_PARTS = 6  # results that one panel may hold side by side


@dataclass(frozen=True)
class Place:
    """A block of rows: a pointer, the row of it at which a span begins, its stride and the first column."""

    pointer: str
    row: str
    stride: str
    column: str = "0"


class Pointers:
    """The variables of a step: one for each place, declared once."""

    def __init__(self) -> None:
        self._names: dict[Place, str] = {}

    def at(self, place: Place, unit: str = "j") -> str:
        """Where a unit of the current row lies."""
        name = self._names.setdefault(place, f"p{len(self._names)}")
        moving = "" if place.row == "none" else f" + row * s{name[1:]}"
        return f"{name}{moving}" + (f" + {unit}" if unit else "")

    def rows(self, place: Place) -> tuple[str, str]:
        """The first row and the stride."""
        name = self._names.setdefault(place, f"p{len(self._names)}")
        return name, f"s{name[1:]}"

    def declare(self) -> list[str]:
        lines = []
        for place, name in self._names.items():
            row = "0" if place.row in ("none", "here") else f"at.{place.row}"
            lines.append(f"const long s{name[1:]} = {place.stride};")
            lines.append(f"float* {name} = {place.pointer} + {row} * s{name[1:]} + {place.column};")
        return lines


@dataclass(frozen=True)
class LaneGroup:
    """Results of one product that one loop needs: panels of ``parts`` side by side, times ``blocks``."""

    product: int
    names: tuple[str, ...]
    blocks: int
    number: int  # of its panels among all

    @property
    def vectors(self) -> int:
        return self.blocks * len(self.names)


@dataclass
class Body:
    """The loop of one stage over the units of one width. Values are computed where they are first asked for."""

    width: int
    groups: Sequence[LaneGroup]
    leaf: Callable[[Node, Body], str | None]
    """How a value is read that is not computed here; None where it must be."""
    result: Mapping[Node, tuple[LaneGroup, int]] = field(default_factory=dict)  # of products, here
    hoisted: list[str] = field(default_factory=list)  # the same for all rows
    lines: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)  # after all rows of a block
    before: list[str] = field(default_factory=list)  # once a step
    after: list[str] = field(default_factory=list)
    names: dict[Node, str] = field(default_factory=dict)

    def value(self, a: Node) -> str:
        if a not in self.names:
            self.names[a] = self._write(a)
        return self.names[a]

    def _write(self, a: Node) -> str:
        if a.op == "constant":
            return f"spread({float(a.args[0])!r}f)"
        if a in self.result:
            group, part = self.result[a]
            parts = len(group.names)
            at = f"((row * blocks + u) * {parts} + {part}) * LANES"
            return self._name(f"load(tile{group.number} + {at})", False)
        read = self.leaf(a, self)
        if read is not None:
            return self._name(read, is_constant(a))
        operands = [self.value(o) for o in sort_operands(a)]
        return self._name(OPS[a.op].lanes.format(*operands), is_constant(a))

    def _name(self, expression: str, constant: bool) -> str:
        name = f"v{len(self.names)}"
        lines = self.hoisted if constant else self.lines
        lines.append(f"const lanes {name} = {expression};")
        return name

    def store(self, at: str, a: Node, condition: str = "") -> None:
        """Stores come last, so that whatever lay there has been read."""
        value = self.value(a)
        self.stores.append(f"{condition}store_up_to({at}, {value}, count);")

    def print(self, multiply: Callable[[LaneGroup], str]) -> list[str]:
        blocks = self.groups[0].blocks if self.groups else 1
        return [
            "{",
            *indent(self.before),
            f"  const int width = W[{self.width}];",
            f"  for (int begin = 0; begin < width; begin += {blocks} * LANES) {{",
            f"    const int blocks = count_blocks(width, begin, {blocks});",
            *indent((multiply(group) for group in self.groups), 2),
            "    for (int u = 0; u < blocks; u++) {",
            "      const int j = begin + u * LANES, count = width - j;",
            *indent(self.hoisted, 3),
            "      for (int row = 0; row < at.n; row++) {",
            *indent([*self.lines, *self.stores], 4),
            "      }",
            *indent(self.ends, 3),
            "    }",
            "  }",
            *indent(self.after),
            "}",
        ]


def add_up(terms: Iterable[str]) -> str:
    return " + ".join(terms) or "0"


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["  " * depth + line for line in lines]


def is_constant(a: Node) -> bool:
    """Is it the same for all rows, and of one unit alone?"""
    return is_rowless(a) and not any(o.operands and OPS[o.op].has("reduction") for o in topological([a]))
