"""The first weights of an encoder, from a language model that reads the same way."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from elman.errors import ConfigError
from elman.layers.rnn import RNN, BiRNN, StackedRNN


@torch.no_grad()
def copy_layers(source: RNN, encoder: RNN | StackedRNN) -> int:
    """Give an encoder the layers of a language model, as far as they fit: how many it has got.

    The first layer may read more than words: the weights of the rest stay as they were made. Layers above a
    bidirectional one read both directions, which a language model does not.
    """
    layers = encoder.stack
    ahead = [layer.forward_rnn if isinstance(layer, BiRNN) else layer for layer in layers]
    both = [cell for layer in ahead for cell in _list_cells(layer.cell)]
    if isinstance(layers[0], BiRNN):
        both = both[:1]
    taken = 0
    for given, cell in zip(_list_cells(source.cell), both, strict=False):
        if not _copy_cell(given, cell, wider=taken == 0):
            break
        taken += 1
    if not taken:
        raise ConfigError("the layers of the language model do not fit: leave out cell, hidden and embedding")
    return taken


def _list_cells(cell: nn.Module) -> Iterator[nn.Module]:
    """The innermost cells, from the first layer up; those around them have no weights of their own."""
    return (part for part in cell.modules() if "W" in dict(part.named_parameters(recurse=False)))


def _copy_cell(given: nn.Module, cell: nn.Module, *, wider: bool) -> bool:
    """Copy the weights of one cell to another; whether they fit, the input as a part of a ``wider`` one."""
    weights, places = dict(given.named_parameters()), dict(cell.named_parameters())
    if weights.keys() != places.keys():
        return False
    for name, weight in weights.items():
        fits = weight.shape == places[name].shape
        part = wider and name == "W" and weight.ndim == 2 and len(weight) == len(places[name])
        if not fits and not (part and weight.shape[1] < places[name].shape[1]):
            return False
    for name, weight in weights.items():
        places[name][tuple(map(slice, weight.shape))] = weight
    return True
