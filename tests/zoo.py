"""All cells, by name, in sizes that show when axes are mixed up: 3 features in, 4 units."""

import torch

from elman.cells import (
    CELLS,
    GRU,
    LSTM,
    SLSTM,
    Cell,
    Dropout,
    Elman,
    FormulaCell,
    Mogrifier,
    Residual,
    Stacked,
    WeightDrop,
    Zoneout,
)
from elman.formula import (
    State,
    clamp,
    exp,
    formula,
    gelu,
    log,
    log_sigmoid,
    maximum,
    mean,
    minimum,
    relu,
    rsqrt,
    sigmoid,
    silu,
    softmax,
    softplus,
    sqrt,
    tanh,
)


@formula(gates="f n", parameters={"a": 0.7})
def odd(x, U, s, p):
    """Everything a formula may use, in ways no cell of ours does."""
    f = sigmoid(2 * x.f - U.f(s.h) / 3)
    n = tanh(x.n) * relu(U.n(f * s.h + 1)) - exp(-(x.f * x.f))
    return State(h=tanh(p.a * s.h - f * n) + 0.1 * s.h * s.h)


@formula(gates="z", states="a b", output="b")
def plain(x, U, s):
    """A state that is fed through, one that is another's node, an output that is not the first state."""
    z = tanh(x.z + U.z(s.b))
    return State(a=z, b=s.a * z)


@formula(gates="a b", matrices="k l m n")
def summed(x, U, s):
    """Results of several products in one sum: beside others that are not, and without a part of the input."""
    v = tanh(U.k(s.h))
    a = sigmoid(x.a + U.a(s.h) + U.l(v))
    w = relu(U.m(v) + U.n(a * s.h))
    return State(h=tanh(U.b(v) + x.b * w) + a * s.h)


@formula(gates="a b", matrices="l m n")
def apart(x, U, s):
    """Sums whose terms lie in another order, or are read elsewhere, too."""
    v = tanh(s.h)
    a = sigmoid(U.l(v) + x.a + U.a(s.h))
    b = tanh(x.b + U.b(s.h) + U.m(v))
    c = U.n(a * v) + x.b
    return State(h=a * b + c * sigmoid(c))


@formula(gates="a b", parameters={"k": 0.5})
def scaled(x, U, s, p):
    """Results whose gradients are multiples of one: by parameters alone, by one number for all units."""
    n = rsqrt(mean(s.h * s.h) + 1)
    return State(h=x.a * x.b + tanh(p.k) * U.a(s.h) + sigmoid(p.k) * U.b(s.h) + n * sqrt(n) * s.h)


@formula(gates="a b c", parameters={"k": 0.5})
def wordy(x, U, s, p):
    """The rest of the vocabulary: quotients, powers, kinks, and a softmax over the units."""
    a = softmax(x.a + U.a(s.h)) * silu(x.b)
    b = gelu(U.b(a * s.h)) / (softplus(x.c) + 0.5) + log(1 + abs(x.b)) ** 3
    c = maximum(a, minimum(U.c(s.h), x.c)) - sqrt(1 + s.h * s.h) * clamp(p.k * b, -0.3, 0.4)
    return State(h=log_sigmoid(c) * tanh(maximum(b, 0.1)) + softmax(s.h))


@formula(gates="z n")
def mixed(x, U, s):
    """A mixture, one of whose parts is the share of the other."""
    z = sigmoid(x.z + U.z(s.h))
    return State(h=(1 - z) * (1 - z) + z * tanh(x.n + U.n(s.h)))


FORMULAS = {
    **CELLS,
    "elman without bias": lambda d, h: Elman(d, h, bias=False),
    "lstm without bias": lambda d, h: LSTM(d, h, bias=False),
    "reset-after-gru without bias": lambda d, h: CELLS["reset-after-gru"](d, h, bias=False),
    "odd": lambda d, h: FormulaCell(odd, d, h),
    "plain": lambda d, h: FormulaCell(plain, d, h),
    "summed": lambda d, h: FormulaCell(summed, d, h, widths={"k": 5}),
    "scaled": lambda d, h: FormulaCell(scaled, d, h),
    "wordy": lambda d, h: FormulaCell(wordy, d, h),
    "apart": lambda d, h: FormulaCell(apart, d, h),
    "mixed": lambda d, h: FormulaCell(mixed, d, h),
    "lstm of two heads": lambda d, h: LSTM(d, h, heads=2),
    "gru of two heads": lambda d, h: GRU(d, h, heads=2),
    "slstm of four heads": lambda d, h: SLSTM(d, h, heads=4),
    "odd of two heads": lambda d, h: FormulaCell(odd, d, h, heads=2),
    "zoneout": lambda d, h: Zoneout(LSTM(d, h), {"h": 0.2, "c": 0.5}).eval(),
    "zoneout peephole": lambda d, h: Zoneout(CELLS["peephole-lstm"](d, h), 0.3).eval(),
}

COMPOUNDS = {
    "stack": lambda d, h: Stacked([LSTM(d, 5), CELLS["gru"](5, 6), Elman(6, h)]),
    "residual": lambda d, h: Stacked([Elman(d, h), Residual(LSTM(h, h))]),
    "dropout": lambda d, h: Dropout(Stacked([LSTM(d, h), Residual(Elman(h, h))]), 0.5),
    "weight drop": lambda d, h: WeightDrop(CELLS["gru"](d, h), 0.5),
}

MOGRIFIED = {
    "mogrifier": lambda d, h: Mogrifier(LSTM(d, h)),
    "mogrifier of one round": lambda d, h: Mogrifier(LSTM(d, h, bias=False), rounds=1),
    "mogrifier gru of low rank": lambda d, h: Mogrifier(CELLS["gru"](d, h), rounds=2, rank=2),
    "mogrifier reset after": lambda d, h: Mogrifier(CELLS["reset-after-gru"](d, h), rounds=4),
    "mogrifier of a projection": lambda d, h: Mogrifier(CELLS["projected-lstm"](d, h), rounds=3),
    "mogrifier of zoneout": lambda d, h: Mogrifier(Zoneout(LSTM(d, h), 0.3), rounds=2).eval(),
    "mogrifier with weight drop": lambda d, h: Mogrifier(WeightDrop(LSTM(d, h), 0.5), rounds=3),
    "zoneout of a mogrifier": lambda d, h: Zoneout(Mogrifier(Elman(d, h), rounds=2), 0.3).eval(),
}

ALL = FORMULAS | COMPOUNDS | MOGRIFIED


def cell_of(name: str, dtype: torch.dtype = torch.float64, inputs: int = 3, units: int = 4) -> Cell:
    """A cell with weights far from their initial symmetry."""
    torch.manual_seed(len(name))
    cell = ALL[name](inputs, units).to(dtype)
    for weight in cell.parameters():
        torch.nn.init.normal_(weight, std=units**-0.5)
    return cell
