"""What x_i is: an embedding, trained or pretrained, or a one-hot row; and what of it is dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch.nn.functional import embedding, one_hot

from elman.kernels.dropout import draw_mask
from elman.scan.table_lookup import TableLookup
from elman.shapes import Bool, Float, Int, Tensor

UNKNOWN = 1  # the id of tokens that have no row of their own, in every vocabulary


class Embedding(nn.Module):
    """A row of E for each token; the row of the padding (id 0) is zero and stays so."""

    spread = 0.35  # standard deviation of the features at the start

    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__()
        self.output_size = size
        self.E = nn.Embedding(vocabulary, size, padding_idx=0)
        nn.init.normal_(self.E.weight, std=self.spread)
        self.E.weight.data[0] = 0

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return cast(Tensor, self.E(ids))

    @property
    def is_watched(self) -> bool:
        """Does a hook look at what it gives, or change it?"""
        return bool(self._forward_hooks)

    def look_up(self, ids: Int[Tensor, "B T"]) -> TableLookup:
        """The same, for a layer that reads it as it is."""
        # In memory time comes first, which all recurrent kernels want.
        xs = self.E(ids.t()).transpose(0, 1)
        return TableLookup(xs, self.E.weight, ids, self.E.padding_idx, self.E.sparse)

    def grow_from(self, small: Embedding) -> None:
        """Further tokens are read as unknown ones are, until they are trained."""
        self.E.weight[len(small.E.weight) :] = small.E.weight[UNKNOWN]


class OneHot(nn.Module):
    """A row with a single one for each token, at its id: nothing is trained."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.output_size = vocabulary
        self.register_buffer("dtype_of", torch.zeros(()), persistent=False)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        return one_hot(ids, self.output_size).to(self.get_buffer("dtype_of").dtype)


@dataclass(frozen=True)
class Pretrained:
    """Vectors (V, D) for the rows where ``found`` (V,) is true; ``trained`` (V,) rows will change."""

    matrix: Tensor
    found: Tensor
    trained: Tensor

    @classmethod
    def like(cls, own: Tensor, given: Tensor, trained: Tensor) -> Pretrained:
        """What an embedding with these weights was made from, as far as shapes go."""
        matrix = own.new_zeros(len(trained), own.shape[1])
        matrix[~trained[:, 0]] = given
        return cls(matrix, ~trained[:, 0], trained[:, 0])

    def extend(self, count: int, at: int) -> Pretrained:
        """The same with so many trained rows put in before a place."""
        new = torch.ones(count, dtype=torch.bool)
        rows = self.matrix.new_zeros(count, self.matrix.shape[1])
        parts = (self.matrix, rows), (self.found, ~new), (self.trained, new)
        return Pretrained(*(torch.cat([old[:at], more, old[at:]]) for old, more in parts))


class PretrainedEmbedding(nn.Module):
    """Rows that were found in a file, as they are or trained further; other tokens have a trained row.

    Files come in different scales (unit length, or a length of five), and a net that starts with inputs
    too small learns little from them, so all are brought to the same spread.
    """

    spread = 0.35  # standard deviation of the features

    def __init__(self, vectors: Pretrained) -> None:
        super().__init__()
        vocabulary, self.output_size = vectors.matrix.shape
        found = vectors.found.clone()
        scale = vectors.matrix[found].std() if found.sum() > 1 else vectors.matrix.new_ones(())
        found[0] = False  # whatever the file says, padding is zero
        rows = torch.randn(vocabulary, self.output_size, device=found.device) * self.spread
        rows = torch.where(found[:, None], vectors.matrix * (self.spread / scale), rows)
        rows[0] = 0
        trained = vectors.trained | ~found
        trained[0] = False
        # Weight decay moves even what has no gradient, so other rows are no part of what is trained.
        self.own = nn.Parameter(rows[trained])
        self.register_buffer("given", rows[~trained])
        self.register_buffer("trained", trained[:, None])
        place = torch.where(trained, trained.cumsum(0), (~trained).cumsum(0)) - 1
        self.register_buffer("place", place, persistent=False)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        place, trained = self.get_buffer("place")[ids], self.get_buffer("trained")[ids]
        own = embedding(place.where(trained[..., 0], 0), self.own)
        return torch.where(trained, own, self.get_buffer("given")[place.where(~trained[..., 0], 0)])

    def shape(self) -> Pretrained:
        """What an embedding of this shape can be made from."""
        return Pretrained.like(self.own.detach(), self.get_buffer("given"), self.get_buffer("trained"))

    def grow_from(self, small: PretrainedEmbedding) -> None:
        """Further tokens are read as unknown ones are; their rows are the last of those that are trained."""
        self.own[len(small.own) :] = small.own[small.get_buffer("place")[UNKNOWN]]


class LockedDropout(nn.Module):
    """Drops features of a sequence, the same ones at every position (Gal & Ghahramani 2016)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, xs: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        if not self.training or not self.p:
            return xs
        return xs * draw_mask(xs, xs.shape[0], 1, xs.shape[2], p=self.p)


class WordDropout(nn.Module):
    """Replaces tokens by ``unknown``, so that a net learns to do without any one of them."""

    def __init__(self, p: float, unknown: int) -> None:
        super().__init__()
        self.p, self.unknown = p, unknown

    def forward(self, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Int[Tensor, "B T"]:
        if not self.training or not self.p:
            return ids
        dropped = torch.rand(ids.shape, device=ids.device) < self.p
        return ids.masked_fill(dropped & mask, self.unknown)
