"""Every word of the vocabulary computes what torch computes: values, gradients, kinks, numbers, and in C."""

import ctypes
import subprocess

import pytest
import torch
from torch.nn import functional

from elman.formula import LATEX, State, Trace, derivative, equations, formula
from elman.formula.operation import OPS
from elman.formula.ops import clamp
from elman.formula.printing import torch_expression
from elman.formula.symbols import FUNCTIONS, TORCH_ARITY, VOCABULARY, symbol
from tests.formula.expressions import value
from tests.formula.test_c import COMPILER, printed

# What torch says: of one value, or of two.
REFERENCE = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "exp": torch.exp,
    "softplus": lambda a: torch.logaddexp(a, torch.zeros_like(a)),
    "silu": functional.silu,
    "gelu": functional.gelu,
    "softmax": lambda a: functional.softmax(a, -1),
    "log": torch.log,
    "log_sigmoid": functional.logsigmoid,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "clamp_min": lambda a: torch.clamp(a, min=0.5),
    "clamp_max": lambda a: torch.clamp(a, max=0.5),
    "mean": lambda a: a.mean(-1, keepdim=True).expand_as(a),
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "pow": lambda a: torch.pow(a, 3),
    "neg": torch.neg,
    "abs": torch.abs,
}
NUMBERS = {"clamp_min": (0.5,), "clamp_max": (0.5,), "pow": (3,)}
TWO = ("maximum", "minimum", "add", "sub", "mul", "div")
POSITIVE = ("log", "sqrt", "rsqrt")
a, b, d = symbol("x", "a"), symbol("x", "b"), symbol("d", "h")


def operands(name: str) -> list[torch.Tensor]:
    """Random points, equal ones, zeros and both bounds; no zeros where torch has infinities."""
    torch.manual_seed(3)
    first = torch.randn(6, 5, dtype=torch.float64) * 3
    second = torch.randn(6, 5, dtype=torch.float64)
    first[0, :3] = torch.tensor([0.0, 0.5, 30.0])
    second[1] = first[1]  # a kink of max and min
    first = first.abs() + 0.1 if name in POSITIVE else first
    return [first.requires_grad_(), *([second.requires_grad_()] if name in TWO else [])]


def of(name: str, *values):
    return FUNCTIONS[name](*values, *NUMBERS.get(name, ()))


def test_every_operation_of_formulas_is_tested_here():
    assert set(VOCABULARY) <= set(REFERENCE)
    assert {name for name, op in OPS.items() if op.slope} == set(REFERENCE)


@pytest.mark.parametrize("name", REFERENCE)
def test_values_and_gradients_are_those_of_torch(name):
    given = operands(name)
    expected, ours = REFERENCE[name](*given), of(name, *given)
    torch.testing.assert_close(ours.expand_as(expected), expected, rtol=1e-12, atol=1e-12)
    upstream = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, given, upstream)
    node = of(name, *(a, b)[: len(given)])
    inputs = {n: t.detach() for n, t in zip((a, b), given, strict=False)} | {d: upstream}
    torch.testing.assert_close(value(node, inputs).expand_as(expected), expected.detach())
    slopes = derivative(Trace((), {"h": node})).x
    for gradient, letter in zip(wanted, "ab", strict=False):
        torch.testing.assert_close(
            value(slopes[letter], inputs).expand_as(gradient), gradient, rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("name", [n for n in REFERENCE if n not in TWO])
def test_of_a_number_it_is_the_number_torch_says(name):
    number = REFERENCE[name](torch.tensor([0.7], dtype=torch.float64)).item()
    assert of(name, 0.7) == pytest.approx(number) if name not in ("neg",) else True


@pytest.mark.parametrize("name", TORCH_ARITY)
def test_torchs_own_function_means_the_symbol(name):
    function = getattr(torch, name, None) or getattr(functional, name.replace("log_s", "logs"))
    more = NUMBERS.get(name, (b,) if TORCH_ARITY[name] == 2 else ())
    assert function(a, *more) is of(name, a, *(() if name in NUMBERS else more))


def test_clamp_is_torchs_at_its_bounds_too():
    given = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(torch.clamp(given, -1, 1).sum(), given)
    slope = derivative(Trace((), {"h": clamp(a, -1, 1)})).x["a"]
    ones = torch.ones_like(expected)
    torch.testing.assert_close(value(slope, {a: given.detach(), d: ones}), expected)
    torch.testing.assert_close(clamp(given, -1, 1), torch.clamp(given, -1, 1))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("number", [0.5, 2])
def test_one_side_may_be_a_number(name, number):
    given = operands("tanh")[0]
    expected = REFERENCE[name](given, torch.tensor(number, dtype=torch.float64))
    node = FUNCTIONS[name](number, a)
    code = torch_expression(node, lambda n: "a" if n is a else repr(n.args[0]))
    torch.testing.assert_close(eval(code, {"torch": torch, "a": given}), expected)
    torch.testing.assert_close(FUNCTIONS[name](number, given), expected)


@pytest.mark.parametrize("name", [n for n in REFERENCE if n not in ("add", "sub", "mul", "neg")])
def test_equations_write_it_in_text_and_latex(name):
    @formula(gates="a b")
    def cell(x, U, s):
        return State(h=of(name, *(x.a, x.b)[: 1 + (name in TWO)]) + x.a * x.b)

    for notation in ({}, {"notation": LATEX}):
        line = equations(cell, bias=False, **notation)[-1]
        assert "{0}" not in line
        assert line.count("(") == line.count(")")
        assert line.count("{") == line.count("}")


def test_compiled_c_computes_every_pointwise_operation_and_its_derivative(tmp_path):
    if COMPILER is None:
        pytest.skip("no C compiler here")
    source, names = ["#include <math.h>\ntypedef double real;\n"], [*TORCH_ARITY]
    nodes = {}
    for name in names:
        node = of(name, *(a, b)[: 1 + (name in TWO)])
        slopes = derivative(Trace((), {"h": node})).x
        nodes[name] = [node, *slopes.values()]
        source.append(printed(f"f_{name}", [a, b, d], nodes[name]))
    (tmp_path / "ops.c").write_text("".join(source))
    made = tmp_path / "ops.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", tmp_path / "ops.c", "-o", made, "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    from tests.formula.test_c import run

    for name in names:
        first, *second = operands(name)
        given = [first.detach(), (second or [torch.randn(6, 5).double()])[0].detach()]
        given.append(torch.randn(6, 5, dtype=torch.float64))
        results = run(getattr(library, f"f_{name}"), given, len(nodes[name]))
        inputs = dict(zip((a, b, d), given, strict=True))
        for ours, node in zip(results, nodes[name], strict=True):
            torch.testing.assert_close(ours, value(node, inputs).expand_as(ours))
