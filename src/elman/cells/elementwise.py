"""Cells in which each unit reads its own past alone: they have no recurrent matrix."""

from __future__ import annotations

import torch
from torch import nn

from elman.cells.formula_cell import ElementwiseCell
from elman.formula import Gates, Matrices, State, formula
from elman.formula.ops import clamp_min, exp, log_sigmoid, relu, sigmoid, sqrt, tanh


@formula(gates="h", parameters="u")
def indrnn(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    return State(h=relu(x.h + p.u * s.h))


class IndRNN(ElementwiseCell):
    """Independently recurrent (Li et al. 2018): h' = max(0, W x + u ⊙ h + b); u begins uniform in [0, 1]."""

    formula = indrnn

    def init_units(self) -> None:
        nn.init.uniform_(self.p[0], 0.0, 1.0)


@formula(gates="z n")
def min_gru(x: Gates, U: Matrices, s: State) -> State:
    z = sigmoid(x.z)
    return State(h=(1 - z) * s.h + z * x.n)


@formula(gates="f i n")
def min_lstm(x: Gates, U: Matrices, s: State) -> State:
    f, i = sigmoid(x.f), sigmoid(x.i)
    return State(h=f / (f + i) * s.h + i / (f + i) * x.n)


class MinGRU(ElementwiseCell):
    """The GRU without reset gate, tanh and recurrent matrices (Feng et al. 2024).

    z = σ(W_z x + b_z)        n = W_n x + b_n
    h' = (1 - z) ⊙ h + z ⊙ n
    """

    formula = min_gru


class MinLSTM(ElementwiseCell):
    """The LSTM without output gate, tanh and recurrent matrices; f and i sum to 1 (Feng et al. 2024).

    f, i = σ(W x + b)         n = W_n x + b_n
    h' = f / (f + i) ⊙ h + i / (f + i) ⊙ n
    """

    formula = min_lstm


@formula(gates="z f o z1 f1 o1", states="h c z1 f1 o1")
def qrnn(x: Gates, U: Matrices, s: State) -> State:
    z, f, o = tanh(x.z + s.z1), sigmoid(x.f + s.f1), sigmoid(x.o + s.o1)
    c = f * s.c + (1 - f) * z
    return State(h=o * c, c=c, z1=x.z1, f1=x.f1, o1=x.o1)


class QRNN(ElementwiseCell):
    """Quasi-recurrent (Bradbury et al. 2017): filters two tokens wide; the state carries what the first gives.

    z = tanh(W x + V x₋₁ + b)        f, o = σ(W x + V x₋₁ + b)
    c' = f ⊙ c + (1 - f) ⊙ z         h' = o ⊙ c'

    V x₋₁ has a bias of its own, which is absent at the first token.
    """

    formula = qrnn


@formula(gates="f r z v", states="h c", parameters="f r")
def sru(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    f, r = sigmoid(x.f + p.f * s.c), sigmoid(x.r + p.r * s.c)
    c = f * s.c + (1 - f) * x.z
    return State(h=r * c + (1 - r) * x.v, c=c)


class SRU(ElementwiseCell):
    """The simple recurrent unit (Lei et al. 2018): a light recurrence with a highway connection past it.

    f, r = σ(W x + p ⊙ c + b)        z = W_z x + b_z        v = W_v x + b_v
    c' = f ⊙ c + (1 - f) ⊙ z         h' = r ⊙ c' + (1 - r) ⊙ v

    p begins uniform in ±√1.5. The paper's v is x; as in its code, W_v lets the sizes differ.
    """

    formula = sru

    def init_units(self) -> None:
        for p in self.p:
            nn.init.uniform_(p, -(1.5**0.5), 1.5**0.5)


C = 8.0  # how much stronger a recurrence gate is than the decay it scales


@formula(gates="r i v", parameters="a")
def rg_lru(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    r, i = sigmoid(x.r), sigmoid(x.i)
    a = exp(C * r * log_sigmoid(p.a))
    # Below the bound a unit only remembers, and the slope of the root would be infinite.
    return State(h=a * s.h + sqrt(clamp_min(1 - a * a, 1e-6)) * (i * x.v))


class RGLRU(ElementwiseCell):
    """The unit of Griffin (De et al. 2024): a decay for each unit, which a gate makes longer or shorter.

    r, i = σ(W x + b)         a = σ(Λ)^(8 r)        v = W_v x + b_v
    h' = a ⊙ h + √(1 - a²) ⊙ (i ⊙ v)

    Λ begins so that σ(Λ)⁸ is uniform in [0.9, 0.999]. The paper's input comes through a linear layer: here W_v.
    """

    formula = rg_lru

    def init_units(self) -> None:
        decay = torch.empty(self.output_size).uniform_(0.9, 0.999) ** (1 / C)
        self.p[0].data.copy_(torch.logit(decay))
