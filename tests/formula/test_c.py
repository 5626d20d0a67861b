"""C statements, compiled by the system's compiler, compute each formula and its derived derivative."""

import ctypes
import shutil
import subprocess

import pytest
import torch

from elman.formula import derivative
from elman.formula.printing import c_statements
from elman.formula.symbols import Node, symbol
from tests.formula.points import at_random
from tests.zoo import FORMULAS, cell_of

COMPILER = shutil.which("cc")
POINTWISE = [name for name in FORMULAS if name not in ("layer-norm-lstm", "scaled", "wordy")]

FUNCTION = """
void {name}(long points, const real *in, real *out) {{
    for (long i = 0; i < points; i++, in += {takes}, out += {gives}) {{
        {body}
    }}
}}
"""


def inputs(formula) -> list[Node]:
    """The order in which a C function finds its inputs: that of a point."""
    return list(at_random(formula).inputs)


def forward(formula) -> list[Node]:
    return [*formula.trace.new.values(), *(product.operand for product in formula.trace.products)]


def backward(formula) -> dict[Node, Node]:
    found = derivative(formula.trace)
    return {symbol(k, n): a for k in "xrsp" for n, a in getattr(found, k).items()}


def printed(name: str, takes: list[Node], outputs: list[Node]) -> str:
    places = {node.args: f"in[{i}]" for i, node in enumerate(takes)}
    body = c_statements({f"out[{j}]": node for j, node in enumerate(outputs)}, lambda *args: places[args])
    return FUNCTION.format(name=name, takes=len(takes), gives=len(outputs), body="\n        ".join(body))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All formulas in one library: the compiler runs once."""
    if COMPILER is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("c")
    source = ["#include <math.h>\ntypedef double real;\n"]
    for k, name in enumerate(POINTWISE):
        formula = cell_of(name).formula
        source.append(printed(f"forward{k}", inputs(formula), forward(formula)))
        source.append(printed(f"backward{k}", inputs(formula), list(backward(formula).values())))
    (folder / "cells.c").write_text("".join(source))
    made = folder / "cells.so"
    flags = ["-Wall", "-Werror", "-shared", "-fPIC", "-O1"]
    subprocess.run([COMPILER, *flags, folder / "cells.c", "-o", made, "-lm"], check=True)
    return ctypes.CDLL(str(made))


def run(function, given: list[torch.Tensor], outputs: int) -> list[torch.Tensor]:
    """The C function at every point; results in the shape of the inputs."""
    table = torch.stack([a.flatten() for a in given], 1).contiguous()
    results = torch.full((len(table), outputs), float("nan"), dtype=torch.float64)
    double = ctypes.POINTER(ctypes.c_double)
    function(
        ctypes.c_long(len(table)),
        ctypes.cast(table.data_ptr(), double),
        ctypes.cast(results.data_ptr(), double),
    )
    return [column.view_as(given[0]) for column in results.unbind(1)]


def assert_equal(ours, expected):
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", POINTWISE)
def test_compiled_statements_compute_the_formula(library, name):
    formula = cell_of(name).formula
    some = at_random(formula)
    function = getattr(library, f"forward{POINTWISE.index(name)}")
    ours = run(function, [*some.inputs.values()], len(forward(formula)))
    assert_equal(ours, [*some.new.values(), *some.operands])


@pytest.mark.parametrize("name", POINTWISE)
def test_compiled_statements_compute_the_derivative(library, name):
    formula = cell_of(name).formula
    some, wanted = at_random(formula), backward(formula)
    function = getattr(library, f"backward{POINTWISE.index(name)}")
    ours = run(function, [*some.inputs.values()], len(wanted))
    assert_equal(ours, [some.gradients[node] for node in wanted])
