"""The CUDA text of formulas, compiled by the host's compiler, computes each formula and its derivative."""

import ctypes
import shutil
import subprocess

import pytest
import torch

from elman.errors import FormulaError
from elman.formula import derivative, mean, sigmoid, tanh
from elman.formula.cuda_source import HEADER, print_statements
from elman.formula.operation import OPS
from elman.formula.symbols import Node, constant, node, symbol
from elman.native.library import find_compiler
from tests.formula.points import at_random
from tests.zoo import FORMULAS, cell_of

POINTWISE = [name for name in FORMULAS if name not in ("layer-norm-lstm", "scaled", "wordy")]
SINGLE = [name for name, op in OPS.items() if op.c]
FUNCTION = """
extern "C" void {name}(long points, const float *in, float *out) {{
  for (long i = 0; i < points; i++, in += {takes}, out += {gives}) {{
    {body}
  }}
}}
"""
x, h = symbol("x", "a"), symbol("s", "h")


def print_function(name: str, takes: list[Node], gives: list[Node]) -> str:
    places = {a: f"in[{i}]" for i, a in enumerate(takes)}
    body = print_statements({f"out[{j}]": a for j, a in enumerate(gives)}, places.__getitem__)
    return FUNCTION.format(name=name, takes=len(takes), gives=len(gives), body="\n    ".join(body))


def gradients(formula) -> dict[Node, Node]:
    found = derivative(formula.trace)
    return {symbol(kind, name): a for kind in "xrsp" for name, a in getattr(found, kind).items()}


def list_values(formula) -> list[Node]:
    operands = (product.operand for product in formula.trace.products)
    return [*formula.trace.new.values(), *operands, *gradients(formula).values()]


def apply(name: str) -> Node:
    return node(name, *(x, h)[: OPS[name].arity])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All formulas and all operations in one library: the compiler runs once."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    folder = tmp_path_factory.mktemp("cuda")
    formulas = [cell_of(name).formula for name in POINTWISE]
    parts = [print_function(f"cell{k}", [*at_random(f).inputs], list_values(f)) for k, f in enumerate(formulas)]
    parts += [print_function(f"single_{name}", [x, h], [apply(name)]) for name in SINGLE]
    (folder / "cells.cpp").write_text("\n".join([HEADER, *parts]))
    flags = ["-Wall", "-Werror", "-Wno-unused-function", "-Wdouble-promotion", "-shared", "-fPIC", "-O1"]
    command = [find_compiler(), *flags, str(folder / "cells.cpp"), "-o", str(folder / "cells.so")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "cells.so"))


def run(function, given: list[torch.Tensor], count: int) -> list[torch.Tensor]:
    table = torch.stack([a.flatten().float() for a in given], 1).contiguous()
    results = torch.full((len(table), count), float("nan"))
    pointers = (ctypes.cast(t.data_ptr(), ctypes.POINTER(ctypes.c_float)) for t in (table, results))
    function(ctypes.c_long(len(table)), *pointers)
    return [column.view_as(given[0]).double() for column in results.unbind(1)]


@pytest.mark.parametrize("name", POINTWISE)
def test_printed_statements_compute_the_formula_and_its_derivative_in_float32(library, name):
    formula = cell_of(name).formula
    some = at_random(formula)
    function = getattr(library, f"cell{POINTWISE.index(name)}")
    ours = run(function, [*some.inputs.values()], len(list_values(formula)))
    wanted = [*some.new.values(), *some.operands, *(some.gradients[a] for a in gradients(formula))]
    for a, b in zip(ours, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", SINGLE)
def test_every_operation_is_as_precise_as_float32_over_its_range_and_keeps_nan(library, name):
    lowest = 0.01 if name in ("log", "sqrt", "rsqrt", "pow") else -30
    a = torch.linspace(lowest, 30, 601).double()
    given = [a, torch.full_like(a, 1.75)]
    (ours,) = run(getattr(library, f"single_{name}"), given, 1)
    wanted = OPS[name].tensor(*given[: OPS[name].arity])
    torch.testing.assert_close(ours, wanted, rtol=3e-6, atol=3e-7)
    if name not in ("sign", "is_positive"):  # of gradients alone, which something else makes NaN
        (kept,) = run(getattr(library, f"single_{name}"), [torch.tensor([torch.nan]), torch.tensor([1.0])], 1)
        assert kept.isnan().all()


def test_a_value_is_printed_once_in_an_order_of_its_own():
    y = tanh(x)
    assert print_statements({"a": y * y, "b": 1 - y}, lambda a: "_".join(a.args)) == [
        "const float v0 = tanh_f(x_a);",
        "const float v1 = v0 * v0;",
        "const float v2 = 1.0f - v0;",
        "a = v1;",
        "b = v2;",
    ]


def test_numbers_are_floats():
    assert print_statements({"a": constant(-0.5)}, str) == ["a = (-0.5f);"]
    assert print_statements({"a": sigmoid(x) * 1e-20}, lambda a: "x")[1] in (
        "const float v1 = v0 * 1e-20f;",
        "const float v1 = 1e-20f * v0;",
    )


def test_a_mean_cannot_be_printed():
    with pytest.raises(FormulaError, match="mean cannot be printed here: it is not pointwise"):
        print_statements({"a": mean(x)}, str)
