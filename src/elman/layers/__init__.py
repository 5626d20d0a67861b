"""Layers: what networks are built of."""

from elman.layers.conversion import from_torch, to_torch
from elman.layers.rnn import MERGES, RNN, BiRNN, Layers, Recurrent, last

__all__ = ["MERGES", "RNN", "BiRNN", "Layers", "Recurrent", "from_torch", "last", "to_torch"]
