"""Long short-term memory: the cell of the lectures and the one bounded by a second tanh."""

from __future__ import annotations

from elman.cells.formula_cell import RecurrentCell
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh


@formula(gates="i f z o", states="h c")
def lstm(x: Gates, U: Matrices, s: State) -> State:
    i, f, z, o = x + U(s.h)
    c = sigmoid(f) * s.c + sigmoid(i) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


@formula(gates="i f z o", states="h c")
def bounded_lstm(x: Gates, U: Matrices, s: State) -> State:
    i, f, z, o = x + U(s.h)
    c = tanh(sigmoid(f) * s.c + sigmoid(i) * tanh(z))
    return State(h=sigmoid(o) * c, c=c)


class LSTM(RecurrentCell):
    """Hochreiter & Schmidhuber (1997), with the forget gate of Gers et al. (2000).

    i, f, o = σ(W x + U h + b)      z = tanh(W_z x + U_z h + b_z)
    c' = f ⊙ c + i ⊙ z              h' = o ⊙ tanh(c')

    The forget gate starts open (``forget_bias``; Jozefowicz et al. 2015). ``bias=False`` is the cell of
    lecture 000.
    """

    formula = lstm

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        bias: bool = True,
        orthogonal: bool = True,
        heads: int = 1,
        forget_bias: float = 1.0,
    ) -> None:
        super().__init__(input_size, hidden_size, bias=bias, orthogonal=orthogonal, heads=heads)
        self.init_gate_bias("f", forget_bias)


class BoundedLSTM(LSTM):
    """The LSTM as lecture 001 writes it: the memory itself is squashed, the output is not.

    c' = tanh(f ⊙ c + i ⊙ z)        h' = o ⊙ c'
    """

    formula = bounded_lstm
