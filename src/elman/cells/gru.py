"""Gated recurrent units: the reset before or after the matrix product, either convention of z."""

from __future__ import annotations

from elman.cells.formula_cell import FormulaCell, RecurrentCell
from elman.formula import Gates, Matrices, State, formula, relu, sigmoid, tanh


@formula(gates="r z n")
def gru(x: Gates, U: Matrices, s: State) -> State:
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    n = tanh(x.n + U.n(r * s.h))
    return State(h=z * s.h + (1 - z) * n)


@formula(gates="r z n")
def gru_relu(x: Gates, U: Matrices, s: State) -> State:
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    n = relu(x.n + U.n(r * s.h))
    return State(h=z * s.h + (1 - z) * n)


@formula(gates="r z n")
def gru_flipped(x: Gates, U: Matrices, s: State) -> State:
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    n = tanh(x.n + U.n(r * s.h))
    return State(h=(1 - z) * s.h + z * n)


@formula(gates="r z n", parameters="n")
def reset_after(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    n = tanh(x.n + r * (U.n(s.h) + p.n))
    return State(h=z * s.h + (1 - z) * n)


@formula(gates="r z n")
def reset_after_plain(x: Gates, U: Matrices, s: State) -> State:
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    n = tanh(x.n + r * U.n(s.h))
    return State(h=z * s.h + (1 - z) * n)


class GRU(RecurrentCell):
    """Cho et al. (2014), as in lecture 001: the reset gate acts before the product.

    r, z = σ(W x + U h + b)         n = tanh(W_n x + U_n (r ⊙ h) + b_n)
    h' = z ⊙ h + (1 - z) ⊙ n
    """

    formula = gru


class ReLUGRU(GRU):
    """The GRU with n = max(0, …)."""

    formula = gru_relu


class FlippedGRU(GRU):
    """The opposite convention of z (Chung et al. 2014): h' = (1 - z) ⊙ h + z ⊙ n"""

    formula = gru_flipped


class ResetAfterGRU(FormulaCell):
    """What PyTorch and cuDNN compute: the reset gate acts after the product, on its bias too.

    n = tanh(W_n x + b_n + r ⊙ (U_n h + p))
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: bool = True, orthogonal: bool = True, heads: int = 1
    ) -> None:
        which = reset_after if bias else reset_after_plain
        super().__init__(which, input_size, hidden_size, bias=bias, orthogonal=orthogonal, heads=heads)
