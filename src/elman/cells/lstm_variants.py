"""LSTMs with peepholes, coupled or capped gates, a projection, layer normalisation, or exponential gates."""

from __future__ import annotations

from typing import Any

import torch

from elman.cells.formula_cell import FormulaCell, RecurrentCell
from elman.cells.lstm import LSTM
from elman.errors import ModelError
from elman.formula import Gates, Matrices, State, formula
from elman.formula.ops import exp, log_sigmoid, maximum, mean, minimum, rsqrt, sigmoid, tanh


@formula(gates="i f z o", states="h c", parameters="i f o")
def peephole_lstm(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    i, f, z, o = x + U(s.h)
    c = sigmoid(f + p.f * s.c) * s.c + sigmoid(i + p.i * s.c) * tanh(z)
    return State(h=sigmoid(o + p.o * c) * tanh(c), c=c)


class PeepholeLSTM(LSTM):
    """The gates look at the memory, unit by unit (Gers & Schmidhuber 2000).

    i, f = σ(W x + U h + p ⊙ c + b)    o = σ(W_o x + U_o h + p_o ⊙ c' + b_o)
    """

    formula = peephole_lstm


@formula(gates="f z o", states="h c")
def coupled_lstm(x: Gates, U: Matrices, s: State) -> State:
    f, z, o = x + U(s.h)
    f = sigmoid(f)
    c = f * s.c + (1 - f) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


class CoupledLSTM(LSTM):
    """What is forgotten is what is written: one gate for both (Greff et al. 2017).

    c' = f ⊙ c + (1 - f) ⊙ z
    """

    formula = coupled_lstm


@formula(gates="i f z o", states="h c")
def capped_lstm(x: Gates, U: Matrices, s: State) -> State:
    i, f, z, o = x + U(s.h)
    f = sigmoid(f)
    c = f * s.c + minimum(sigmoid(i), 1 - f) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


class CappedLSTM(LSTM):
    """No more is written than was forgotten, so that the memory stays within ±1 (Melis et al. 2018).

    c' = f ⊙ c + min(i, 1 - f) ⊙ z
    """

    formula = capped_lstm


@formula(gates="i f z o", states="h c")
def projected_lstm(x: Gates, U: Matrices, s: State) -> State:
    i, f, z, o = x + U(s.h)
    c = sigmoid(f) * s.c + sigmoid(i) * tanh(z)
    return State(h=U.h(sigmoid(o) * tanh(c)), c=c)


class ProjectedLSTM(FormulaCell):
    """Memory and hidden state of different sizes (Sak et al. 2014): h' = U_h (o ⊙ tanh(c'))."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        cell_size: int,
        bias: bool = True,
        orthogonal: bool = True,
        forget_bias: float = 1.0,
    ) -> None:
        if hidden_size > cell_size:
            raise ModelError(
                f"a projection makes h smaller than c, but hidden_size is {hidden_size} "
                f"and cell_size {cell_size}"
            )
        widths = {"h": hidden_size}
        super().__init__(projected_lstm, input_size, cell_size, bias=bias, orthogonal=orthogonal, widths=widths)
        self.init_gate_bias("f", forget_bias)


GAINS = {"gi": 1.0, "gf": 1.0, "gz": 1.0, "go": 1.0, "gc": 1.0}
SHIFTS = {"bi": 0.0, "bf": 1.0, "bz": 0.0, "bo": 0.0, "bc": 0.0}


@formula(gates="i f z o", states="h c", parameters=GAINS | SHIFTS)
def layer_norm_lstm(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    def norm(a: Any, gain: Any, shift: Any) -> Any:
        a = a - mean(a)
        return gain * (a * rsqrt(mean(a * a) + 1e-5)) + shift

    i, f, z, o = x + U(s.h)
    i, f = sigmoid(norm(i, p.gi, p.bi)), sigmoid(norm(f, p.gf, p.bf))
    z, o = tanh(norm(z, p.gz, p.bz)), sigmoid(norm(o, p.go, p.bo))
    c = f * s.c + i * z
    return State(h=o * tanh(norm(c, p.gc, p.bc)), c=c)


class LayerNormLSTM(FormulaCell):
    """Layer normalisation of every gate and of the memory that is shown (Ba et al. 2016).

    i, f, o = σ(N(W x + U h))    z = tanh(N(W_z x + U_z h))
    c' = f ⊙ c + i ⊙ z           h' = o ⊙ tanh(N(c'))
    N(a) = g ⊙ (a - mean a) / √(var a + ε) + b, with g and b of its own each time; so W x needs no bias.
    """

    def __init__(self, input_size: int, hidden_size: int, *, orthogonal: bool = True) -> None:
        super().__init__(layer_norm_lstm, input_size, hidden_size, bias=False, orthogonal=orthogonal)


@formula(gates="i f z o", states="h c n m")
def slstm(x: Gates, U: Matrices, s: State) -> State:
    i, f, z, o = x + U(s.h)
    kept = log_sigmoid(f) + s.m
    m = maximum(kept, i)
    c = exp(kept - m) * s.c + exp(i - m) * tanh(z)
    n = exp(kept - m) * s.n + exp(i - m)
    return State(h=sigmoid(o) * c / n, c=c, n=n, m=m)


class SLSTM(RecurrentCell):
    """Beck et al. (2024): the input gate is exp(i), so that a later token can outweigh all earlier ones.

    i, f = W x + U h + b               z = tanh(W_z x + U_z h + b_z)       o = σ(W_o x + U_o h + b_o)
    m' = max(log σ(f) + m, i)
    c' = exp(log σ(f) + m - m') ⊙ c + exp(i - m') ⊙ z
    n' = exp(log σ(f) + m - m') ⊙ n + exp(i - m')
    h' = o ⊙ c' / n'

    m only keeps the exponents small: h does not depend on it. ``heads`` makes U block-diagonal, as the paper
    does. The biases of the forget gate begin between 3 and 6, from the first unit to the last.
    """

    formula = slstm

    def init_units(self) -> None:
        if self.b is not None:
            self.b.data.chunk(4)[1].copy_(torch.linspace(3, 6, self.output_size))
