"""Further cells in which each unit reads its own past alone."""

from __future__ import annotations

import torch
from torch import nn

from elman.cells.formula_cell import ElementwiseCell
from elman.formula import Gates, Matrices, State, formula
from elman.formula.ops import relu, sigmoid, silu, tanh


@formula(gates="f z", states="h c")
def ssru(x: Gates, U: Matrices, s: State) -> State:
    f = sigmoid(x.f)
    c = f * s.c + (1 - f) * x.z
    return State(h=relu(c), c=c)


class SSRU(ElementwiseCell):
    """The simpler simple recurrent unit (Kim et al. 2019), of fast decoders in translation.

    f = σ(W_f x + b_f)        z = W_z x + b_z
    c' = f ⊙ c + (1 - f) ⊙ z        h' = max(0, c')

    The paper has no b_z.
    """

    formula = ssru


@formula(gates="f i g", states="h c", parameters="l")
def hgrn(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    low = sigmoid(p.l)
    f = low + (1 - low) * sigmoid(x.f)
    c = f * s.c + (1 - f) * silu(x.i)
    return State(h=silu(x.g) * c, c=c)


class HGRN(ElementwiseCell):
    """Hierarchically gated (Qin et al. 2023): a forget gate that never falls below a bound γ of its unit.

    f = γ + (1 - γ) ⊙ σ(W_f x + b_f)        γ = σ(l)
    c' = f ⊙ c + (1 - f) ⊙ SiLU(W_i x + b_i)        h' = SiLU(W_g x + b_g) ⊙ c'

    With real numbers, as in the later HGRN2; the paper also turns complex ones. There γ grows from layer to
    layer; here each cell has its own, which begins evenly between 0.01 and 0.99 from the first unit to the
    last. The layer normalisation of the output is left to the layer.
    """

    formula = hgrn

    def init_units(self) -> None:
        self.p[0].data.copy_(torch.logit(torch.linspace(0.01, 0.99, self.output_size)))


@formula(gates="z r n", parameters="z r n")
def para_gru(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    z, r = sigmoid(x.z + p.z * s.h), sigmoid(x.r + p.r * s.h)
    n = tanh(x.n + p.n * (r * s.h))
    return State(h=(1 - z) * s.h + z * n)


class ParaGRU(ElementwiseCell):
    """The GRU with diagonal recurrent matrices (ParaRNN, Danieli et al. 2025).

    z, r = σ(W x + p ⊙ h + b)        n = tanh(W_n x + p_n ⊙ (r ⊙ h) + b_n)
    h' = (1 - z) ⊙ h + z ⊙ n

    p begins uniform in ±1.
    """

    formula = para_gru

    def init_units(self) -> None:
        for p in self.p:
            nn.init.uniform_(p, -1.0, 1.0)
