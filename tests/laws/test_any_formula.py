"""Whatever a formula says, the codegen executor computes what the loop computes: values and all gradients."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from elman.cells import FormulaCell
from elman.errors import FormulaError
from elman.formula import (
    State,
    clamp,
    exp,
    formula,
    maximum,
    minimum,
    relu,
    rsqrt,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from elman.scan import scan
from elman.state import leaves, map_state

UNARY = [
    sigmoid,
    tanh,
    relu,
    lambda a: exp(-(a * a)),
    lambda a: rsqrt(a * a + 1),
    softplus,
    lambda a: silu(a) / (a * a + 1),
    lambda a: abs(a) ** 1.5,
    lambda a: clamp(a, -0.4, 0.3),
    softmax,
    lambda a: 1 - a,
    lambda a: 0.5 - a / 3,
]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    maximum,
    minimum,
    lambda a, b: a / (b * b + 1),
]
MASKS = [None, torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.bool)]
number = st.integers(0, 99)

# What becomes of each gate: alone, added to its product, or beside it; then steps that grow the pool of
# values; then, for each state, which value it becomes and whether that is squashed.
programs = st.fixed_dictionaries(
    {
        "gates": st.lists(
            st.tuples(st.sampled_from(["alone", "added", "beside"]), number), min_size=1, max_size=3
        ),
        "steps": st.lists(st.tuples(st.booleans(), number, number, number), max_size=8),
        "states": st.lists(st.tuples(number, st.booleans()), min_size=1, max_size=3),
        "parameters": st.integers(0, 2),
        "output": number,
    }
)


def formula_of(program):
    """The program as a formula; what it reads is chosen by number, modulo what there is."""
    gates = [f"g{k}" for k in range(len(program["gates"]))]
    states = "hck"[: len(program["states"])]
    units = [f"p{k}" for k in range(program["parameters"])]

    def body(x, U, s, p=None):
        pool = [getattr(s, name) for name in states]
        for gate, (how, which) in zip(gates, program["gates"], strict=True):
            given = getattr(x, gate)
            if how == "alone":
                pool.append(given)
                continue
            result = getattr(U, gate)(pool[which % len(pool)])
            pool += [given + result] if how == "added" else [given, result]
        pool += [getattr(s, states[0]) * getattr(p, name) for name in units]
        for unary, a, b, op in program["steps"]:
            first, second = pool[a % len(pool)], pool[b % len(pool)]
            pool.append(UNARY[op % len(UNARY)](first) if unary else BINARY[op % len(BINARY)](first, second))
        total = sum((value * 0.3 for value in pool[1:]), pool[0])
        new = {}
        for k, (name, (which, squashed)) in enumerate(zip(states, program["states"], strict=True)):
            value = total if k == 0 else pool[which % len(pool)]
            new[name] = tanh(value) if squashed or k == 0 else value
        return State(**new)

    plain = lambda x, U, s: body(x, U, s)  # noqa: E731
    function = (lambda x, U, s, p: body(x, U, s, p)) if units else plain
    return formula(
        gates=" ".join(gates),
        states=" ".join(states),
        parameters=dict.fromkeys(units, 0.5),
        output=states[program["output"] % len(states)],
    )(function)


def outcome(cell, xs, mask, state, executor, reverse):
    ys, final = scan(cell, xs, mask, state, executor=executor, reverse=reverse)
    parts = [ys, *(t for _, t in leaves(final))]
    torch.manual_seed(2)
    loss = sum((part * torch.randn(part.shape, dtype=part.dtype)).sum() for part in parts)
    inputs = [xs, *(t for _, t in leaves(state)), *cell.parameters()]
    gradients = torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True)
    return [*parts, *gradients]


@settings(max_examples=60)
@given(programs, st.sampled_from(MASKS), st.booleans())
def test_the_codegen_executor_computes_any_formula(program, mask, reverse):
    made = formula_of(program)
    try:
        cell = FormulaCell(made, 3, 4).double()
    except FormulaError:
        assume(False)  # a gate or a parameter cancelled out
    torch.manual_seed(1)
    for weight in cell.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    xs = torch.randn(3, 4, 3, dtype=torch.float64, requires_grad=True)
    state = map_state(lambda t: torch.randn(t.shape).to(t).requires_grad_(), cell.initial(xs))
    reference = outcome(cell, xs, mask, state, "loop", reverse)
    assume(all(part.isfinite().all() and part.abs().max() < 1e6 for part in reference if part.numel()))
    ours = outcome(cell, xs, mask, state, "codegen", reverse)
    torch.testing.assert_close(ours, reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("executor", ["auto", "codegen"])
def test_a_linear_recurrence_is_computed(executor):
    @formula(gates="h")
    def linear(x, U, s):
        return State(h=x.h + U.h(s.h))

    cell, xs = FormulaCell(linear, 3, 4), torch.randn(2, 5, 3)
    torch.testing.assert_close(scan(cell, xs, executor=executor)[0], scan(cell, xs, executor="loop")[0])
