"""Typeset equations of a traced formula: LaTeX for pages, plain Unicode for terminals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from elman.formula.operation import OPS
from elman.formula.symbols import Node, is_input, symbol
from elman.formula.traversal import topological

if TYPE_CHECKING:  # a formula shows its equations
    from elman.formula.formula import Formula, Trace


def values(formula: Formula) -> dict[str, Node]:
    """The values people speak of, by name: every gate after its activation function, every new state.

    A gate's value is the first activation of its input that no other gate's input enters on the way; a gate
    without one is its pre-activation. A further matrix names a gate where an activation takes its result alone.
    """
    trace = formula.trace
    sums = {g: symbol("x", g) + symbol("r", g) for g in formula.gates}
    every = {g: a if a in trace.uses else symbol("x", g) for g, a in sums.items()} | _activations(trace)
    named = {g: a for g, a in every.items() if g not in formula.states}
    for matrix in formula.matrices:
        readers = trace.uses.get(symbol("r", matrix), ())
        alone = next((a for a in readers if OPS[a.op].has("activation")), None)
        if alone is not None and matrix not in named:
            named[matrix] = alone
    return named | dict(trace.new)


def _activations(trace: Trace) -> dict[str, Node]:
    """Of each gate, the first activation that takes it without mixing it with another gate's input."""
    found: dict[str, Node] = {}
    raw: dict[Node, set[str]] = {}  # the gates whose inputs reach a value without an activation of their own
    for a in trace.nodes:
        raw[a] = {a.args[1]} if is_input(a, "x") else set().union(*(raw[o] for o in a.operands))
        if a.operands and len(raw[a]) == 1 and OPS[a.op].has("activation"):
            found.setdefault(raw[a].pop(), a)
    return found


@dataclass(frozen=True)
class Notation:
    """How the pieces of an equation are written."""

    old: str
    new: str
    input: str
    bias: str
    matrix: str
    unit: str
    mask: str
    times: str
    column: Literal["text", "latex"]  # of the table of operations


# fmt: off
UNICODE = Notation(old="{0}", new="{0}'", input="W_{0} x", bias="b_{0}", matrix="U_{0} {1}", unit="p_{0}",
                   mask="m_{0}", times=" ⊙ ", column="text")
"""Equations as plain text: ``h' = z ⊙ h``."""

LATEX = Notation(old="{0}_{{t-1}}", new="{0}_t", input="W_{{{0}}} x_t", bias="b_{{{0}}}",
                 matrix="U_{{{0}}} {1}", unit="p_{{{0}}}", mask="m_{{{0}}}", times=r" \odot ", column="latex")
"""Equations for LaTeX."""
# fmt: on


def equations(formula: Formula, notation: Notation = UNICODE, *, bias: bool = True) -> list[str]:
    """One equation a value of ``values``: gates as declared, but nothing before what it needs."""
    waiting = values(formula)
    needs = {name: _needs(formula.trace, a) for name, a in waiting.items()}
    letters: dict[Node, str] = {}
    lines = []
    while waiting:
        unwritten = set(waiting.values()).difference(letters)
        name = next(n for n, a in waiting.items() if not unwritten & needs[n] - {a})
        a = waiting.pop(name)
        letter = (notation.new if a is formula.trace.new.get(name) else "{0}").format(name)
        lines.append(f"{letter} = {_Writer(formula, notation, letters, bias).sum(a)}")
        letters.setdefault(a, letter)
    return lines


def typeset(formula: Formula, *, bias: bool = True) -> str:
    """All equations as one LaTeX display, aligned at their equals signs, as notebooks show it."""
    lines = (line.replace(" = ", " &= ", 1) for line in equations(formula, LATEX, bias=bias))
    return r"$$\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}$$"


def _needs(trace: Trace, a: Node) -> set[Node]:
    """All values ``a`` is made of, through matrix products too."""
    found = set(topological([a]))
    for product in reversed(trace.products):
        if any(symbol("r", name) in found for name in product.names):
            found.update(topological([product.operand]))
    return found


@dataclass(frozen=True)
class _Writer:
    """Writes one expression; values that have a letter already are written as that letter."""

    formula: Formula
    notation: Notation
    letters: Mapping[Node, str]
    bias: bool
    written: dict[Node, str] = field(default_factory=dict)  # what each value is as a factor

    def sum(self, a: Node) -> str:
        """Without brackets, where a sum may stand."""
        if a in self.letters:
            return self.letters[a]
        if a.op == "sub":
            return f"{self.sum(a.args[0])} - {self.factor(a.args[1])}"
        if a.op == "neg":
            return f"-{self.factor(a.args[0])}"
        terms = sorted(self._terms(a), key=self._in_sum)
        inputs = [t for t in terms if is_input(t, "x") and t not in self.letters]
        biases = [self.notation.bias.format(t.args[1]) for t in inputs]
        written = [self._input(*t.args) if t in inputs else self.factor(t) for t in terms]
        return " + ".join(written + (biases if self.bias else []))

    def _terms(self, a: Node) -> list[Node]:
        if a.op != "add" or a in self.letters:
            return [a]
        return [term for operand in a.args for term in self._terms(operand)]

    def factor(self, a: Node) -> str:
        """With brackets if it is a sum."""
        if a not in self.written:  # sorting asks for each part again
            self.written[a] = self._write_factor(a)
        return self.written[a]

    def _write_factor(self, a: Node) -> str:
        if a in self.letters:
            return self.letters[a]
        if a.op == "mul":
            return self.notation.times.join(map(self._in_times, sorted(a.args, key=self._in_product)))
        if a.op == "constant":
            return f"{a.args[0]:g}"
        if is_input(a, "x") and self.bias:
            return f"({self.sum(a)})"
        if a.op == "input":
            return self._input(*a.args)
        if a.op in ("add", "sub", "neg"):
            return f"({self.sum(a)})"
        template: str = getattr(OPS[a.op], self.notation.column)
        write = self._operand if template.startswith("{0}") else self.sum
        operands = [write(o) for o in a.operands]
        return template.format(*(sorted(operands) if OPS[a.op].has("commutative") else operands))

    def _in_times(self, a: Node) -> str:
        quotient = a.op == "div" and a not in self.letters and self.notation.column == "text"
        return f"({self.factor(a)})" if quotient else self.factor(a)

    def _input(self, kind: str, name: str) -> str:
        n = self.notation
        if kind == "r":
            operand = next(p.operand for p in self.formula.trace.products if name in p.names)
            return n.matrix.format(name, self._operand(operand))
        return {"x": n.input, "s": n.old, "p": n.unit, "m": n.mask}[kind].format(name)

    def _operand(self, operand: Node) -> str:
        """Beside an operator: a letter or a number as it is, anything else in brackets."""
        text = self.factor(operand)
        single = operand in self.letters or operand.op in ("input", "constant")
        bracketed = operand.op in ("add", "sub", "neg")  # by ``factor``
        return text if single or bracketed else f"({text})"

    def _in_sum(self, a: Node) -> tuple[int, str]:
        """Where a term stands: the input, the recurrence, what is kept of old states, the rest."""
        # Not by number: that depends on which formulas were traced before.
        if a.op == "input" and a not in self.letters:
            return {"x": 0, "r": 1}.get(a.args[0], 2), str(a.args[1])
        kept = any(is_input(o, "s") for o in a.operands)
        return 2 if kept else 3, self.factor(a)

    def _in_product(self, a: Node) -> tuple[int, int, str]:
        """Where a factor stands: numbers, brackets, parameters, letters, the rest, old states."""
        if a in self.letters:
            return 3, list(self.letters).index(a), ""
        if a.op == "input":
            return {"p": 2, "m": 2, "s": 5}.get(a.args[0], 4), 0, str(a.args[1])
        return {"constant": 0, "sub": 1, "add": 1}.get(a.op, 4), 0, self.factor(a)
