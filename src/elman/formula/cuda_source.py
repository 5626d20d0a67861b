"""Traced values as CUDA C, in float32: statements, and the functions that they call.

The text is plain C++ as well, so that the host's compiler can check its numerics where there is no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from elman.errors import FormulaError
from elman.formula.operation import OPS, Op
from elman.formula.symbols import Node
from elman.formula.traversal import order_values, sort_operands

NOTHING: Mapping[Node, str] = MappingProxyType({})
_OPERATORS = ("add", "sub", "mul", "neg")  # written as such; everything else is a function of HEADER


def print_statements(
    values: Mapping[str, Node], leaf: Callable[[Node], str], known: Mapping[Node, str] = NOTHING
) -> list[str]:
    """``const float v3 = ...;`` once for every operation, operands first, then ``name = v3;`` for each value.

    ``leaf`` says how an input is written, ``known`` how values are that were computed before. Equal values have
    equal text in every process.
    """
    names = {**known}
    lines: list[str] = []
    for a in order_values(values.values(), known):
        if a.op == "input":
            names[a] = leaf(a)
        elif a.op == "constant":
            names[a] = print_literal(a.args[0])
        else:
            names[a] = f"v{len(lines)}"
            lines.append(f"const float {names[a]} = {_print_operation(a, names)};")
    return [*lines, *(f"{name} = {names[a]};" for name, a in values.items())]


def print_literal(value: float) -> str:
    """A number of type float."""
    return f"{value!r}f" if value >= 0 else f"({value!r}f)"


def _print_operation(a: Node, names: Mapping[Node, str]) -> str:
    operands = [names[o] for o in sort_operands(a)]
    if not OPS[a.op].c:
        raise FormulaError(f"{a.op} cannot be printed here: it is not pointwise")
    return OPS[a.op].c.format(*operands) if a.op in _OPERATORS else f"{a.op}_f({', '.join(operands)})"


def _print_function(op: Op) -> str:
    """The function of an operation by its entry in the table."""
    letters = "ab"[: op.arity]
    takes = ", ".join(f"float {letter}" for letter in letters)
    value = op.c.replace("real", "float").format(*letters)
    return f"DEVICE float {op.name}_f({takes}) {{ return {value}; }}"


# FAST=1 takes the GPU's approximations of e^a, log a and 1 / a: errors of about 1e-6. FAST=2 takes its tanh,
# too, which is one instruction with errors of 5e-4: half a unit in the last place of float16.
_PRECISE = """
#ifndef FAST
#define FAST 0
#endif
#ifdef __CUDACC__
#define DEVICE static __device__ __forceinline__
#else
#include <cmath>
using namespace std;
#define DEVICE static inline
#undef FAST
#define FAST 0
#endif
#if FAST
DEVICE float exp_f(float a) { return __expf(a); }
DEVICE float log_f(float a) { return __logf(a); }
DEVICE float div_f(float a, float b) { return __fdividef(a, b); }
#else
DEVICE float exp_f(float a) { return expf(a); }
DEVICE float log_f(float a) { return logf(a); }
DEVICE float div_f(float a, float b) { return a / b; }
#endif
#if FAST == 2
DEVICE float tanh_f(float a) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
DEVICE float sigmoid_f(float a) { return 0.5f * tanh_f(0.5f * a) + 0.5f; }
#elif FAST == 1
DEVICE float sigmoid_f(float a) { return __fdividef(1.f, 1.f + __expf(-a)); }
DEVICE float tanh_f(float a) { return 1.f - __fdividef(2.f, 1.f + __expf(2.f * a)); }
#else
DEVICE float sigmoid_f(float a) { return 1.f / (1.f + expf(-a)); }
DEVICE float tanh_f(float a) {  // near zero a polynomial, where the other loses digits
  const float z = a * a, far = 1.f - 2.f / (1.f + expf(2.f * a));
  float p = (-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f;
  p = (p * z + 1.33314422036e-1f) * z - 3.33332819422e-1f;
  return z < 0.390625f ? a + a * z * p : far;
}
#endif
DEVICE float silu_f(float a) { return a * sigmoid_f(a); }
"""
_WRITTEN = ("exp", "log", "div", "tanh", "sigmoid", "silu", *_OPERATORS)

HEADER = "\n".join(
    [_PRECISE.strip(), *(_print_function(op) for name, op in OPS.items() if op.c and name not in _WRITTEN), ""]
)
"""What printed statements call; it is to stand before them. ``#define FAST 1`` or ``2`` before it for speed."""
