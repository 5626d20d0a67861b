"""The file that ``elman new cell`` writes; NAME and FILE are replaced."""

from __future__ import annotations

CELL_FILE = '''"""A cell of my own.

Test its laws:            pytest FILE
Print its equations:      python FILE
Compare it with another:  elman compare lstm FILE:NAME
Train a language model:   elman train lm --train book.txt --tokens chars --cell FILE:NAME --out models/NAME
"""

import torch
from elman.cells import FormulaCell
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh
from elman.scan import scan


# Each gate has matrices W and U and a bias b of its own. A state is remembered from step to step.
@formula(gates="f n", states="h")
def NAME(x: Gates, U: Matrices, s: State) -> State:
    # x.f is W_f x + b_f: what the input says to gate f.  U.f(v) is U_f v.  s.h is the state before this step.
    f = sigmoid(x.f + U.f(s.h))  # how much of each unit is written anew: between 0, nothing, and 1, all
    n = tanh(x.n + U.n(f * s.h))  # the candidate: what would be written
    return State(h=(1 - f) * s.h + f * n)  # a mixture of the old state and the candidate


# Further states, per-unit parameters, and what else a formula may use: docs/cells.md.


def test_fast_code_computes_what_the_loop_does() -> None:
    torch.manual_seed(0)
    cell, xs = FormulaCell(NAME, 3, 4), torch.randn(2, 5, 3)
    fast, _ = scan(cell, xs, executor="codegen")  # generated from the formula
    plain, _ = scan(cell, xs, executor="loop")  # the formula itself, one step after the other
    torch.testing.assert_close(fast, plain)


def test_the_derivative_equals_finite_differences() -> None:
    torch.manual_seed(0)
    cell = FormulaCell(NAME, 2, 3).double()
    xs = torch.randn(1, 4, 2, dtype=torch.float64, requires_grad=True)

    def outputs(*inputs: torch.Tensor) -> torch.Tensor:
        return scan(cell, inputs[0], executor="codegen")[0]

    assert torch.autograd.gradcheck(outputs, (xs, *cell.parameters()))


if __name__ == "__main__":
    print(*FormulaCell(NAME, 3, 4).equations(), sep="\\n")
'''
