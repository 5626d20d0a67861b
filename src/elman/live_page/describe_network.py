"""Embeddings, recurrent layers and the softmax as data."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elman.cells import Cell, Dropout, Residual
from elman.errors import ModelError
from elman.layers.embedding import Embedding, OneHot, PretrainedEmbedding
from elman.layers.mixture import Mixture
from elman.layers.rnn import RNN, BiRNN, StackedRNN, concat
from elman.layers.softmax import AdaptiveSoftmax, Softmax
from elman.live_page.describe_cell import describe_cell
from elman.live_page.page_parts import Describer, PageParts


def _describe_linear(layer: nn.Linear, parts: PageParts) -> Any:
    return parts.describe({"W": layer.weight, "b": layer.bias})


def _describe_embedding(layer: Embedding, parts: PageParts) -> Any:
    return parts.describe(layer.E.weight)


def _describe_one_hot(layer: OneHot, parts: PageParts) -> Any:
    return {"oneHot": layer.output_size}


@torch.no_grad()
def _describe_rows(layer: PretrainedEmbedding, parts: PageParts) -> Any:
    return parts.describe(layer(torch.arange(len(layer.get_buffer("trained")))[None])[0])


def _describe_softmax(layer: Softmax, parts: PageParts) -> Any:
    between = None if isinstance(layer.P, nn.Identity) else layer.P.weight
    return parts.describe({"kind": "softmax", "W": layer.W, "b": layer.b, "P": between})


def _describe_mixture(layer: Mixture, parts: PageParts) -> Any:
    return parts.describe({"kind": "mixture", "softmax": layer.softmax, "V": layer.V, "M": layer.M})


def _refuse_clusters(layer: AdaptiveSoftmax, parts: PageParts) -> Any:
    raise ModelError("the model has an adaptive softmax, which a page cannot run; take model.softmax full")


def _describe_layers(layers: RNN | StackedRNN, parts: PageParts) -> list[dict[str, Any]]:
    """Each layer: its cells, forward and backward, and whether it adds to what it reads."""
    adds = layers.adds if isinstance(layers, StackedRNN) else [False] * len(layers.stack)
    return [describe_level(layer, parts, adds=add) for layer, add in zip(layers.stack, adds, strict=True)]


def describe_level(layer: RNN | BiRNN, parts: PageParts, *, adds: bool = False) -> dict[str, Any]:
    """One layer in one direction or two."""
    if isinstance(layer, BiRNN):
        if layer.merge is not concat:
            raise ModelError("the model joins two directions otherwise than side by side: a page cannot run it")
        both = ((layer.forward_rnn, False), (layer.backward_rnn, True))
        cells = [describe_cell(bare_cell(rnn.cell), parts, reverse=back) for rnn, back in both]
        return {"cells": cells, "residual": adds}
    inner = describe_cell(bare_cell(layer.cell), parts, reverse=layer.reverse)
    return {"cells": [inner], "residual": adds or isinstance(layer.cell, Residual)}


def bare_cell(cell: Cell[Any]) -> Cell[Any]:
    """The cell without the dropout and the addition around it."""
    while isinstance(cell, Dropout | Residual):
        cell = cell.cell
    return cell


def _describe_bare(cell: Cell[Any], parts: PageParts) -> Any:
    return describe_cell(bare_cell(cell), parts)


NETWORK_LAYERS: dict[type, Describer] = {
    nn.Linear: _describe_linear,
    Embedding: _describe_embedding,
    PretrainedEmbedding: _describe_rows,
    OneHot: _describe_one_hot,
    Softmax: _describe_softmax,
    Mixture: _describe_mixture,
    AdaptiveSoftmax: _refuse_clusters,
    RNN: _describe_layers,
    StackedRNN: _describe_layers,
    Cell: _describe_bare,
}
"""How these layers are described."""
