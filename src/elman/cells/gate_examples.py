"""Gates by themselves: the hard one of lecture 000, the soft ones of lecture 001."""

from __future__ import annotations

import torch
from torch import nn

from elman.errors import ModelError
from elman.shapes import Float, Tensor


def hard_gate(g: Tensor, x: Tensor, s: Tensor) -> Tensor:
    """s' = g ⊙ x + (1 + g) ⊙ s, where g is 0 or 1 and + on g is modulo 2: writes x where the gate is 1."""
    if not bool(((g == 0) | (g == 1)).all()):
        raise ModelError("a hard gate is made of zeros and ones; SoftGate learns what lies between")
    return g * x + (1 + g) % 2 * s


def independent_gates(g1: Tensor, t: Tensor, g2: Tensor, u: Tensor) -> Tensor:
    """v = g₁ ⊙ t + g₂ ⊙ u: each gate opens for itself, as the input and forget gate of an LSTM do."""
    return g1 * t + g2 * u


def coupled_gates(g: Tensor, t: Tensor, u: Tensor) -> Tensor:
    """v = g ⊙ t + (1 - g) ⊙ u: what one loses the other gets, as in a GRU."""
    return g * t + (1 - g) * u


class SoftGate(nn.Module):
    """A trained gate g = σ(W x + U h + b); it lets through v = g ⊙ u."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.W = nn.Linear(input_size, hidden_size)
        self.U = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, x: Float[Tensor, "*B D"], h: Float[Tensor, "*B H"]) -> Float[Tensor, "*B H"]:
        return torch.sigmoid(self.W(x) + self.U(h))
