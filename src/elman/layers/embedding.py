"""What x_i is: an embedding, trained or pretrained, or a one-hot row."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import one_hot

from elman.shapes import Float, Int, Tensor


class Embedding(nn.Module):
    """A row of E for each token; the row of the padding (id 0) is zero and stays so."""

    spread = 0.1  # standard deviation of the features at the start

    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__()
        self.output_size = size
        self.E = nn.Embedding(vocabulary, size, padding_idx=0)
        nn.init.normal_(self.E.weight, std=self.spread)
        self.E.weight.data[0] = 0

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        xs: Tensor = self.E(ids)
        return xs


class OneHot(nn.Module):
    """A row with a single one for each token, at its id: nothing is trained."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.output_size = vocabulary
        self.register_buffer("dtype_of", torch.zeros(()), persistent=False)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        like: Tensor = self.get_buffer("dtype_of")
        return one_hot(ids, self.output_size).to(like.dtype)


@dataclass(frozen=True)
class Pretrained:
    """Vectors (V, D) for the rows where ``found`` (V,) is true."""

    matrix: Tensor
    found: Tensor


class PretrainedEmbedding(nn.Module):
    """Rows that were found in a file, frozen or trained further; other tokens have a trained row.

    Files come in different scales (unit length, or a length of five), and a net that starts with inputs
    too small learns little from them, so all are brought to the same spread.
    """

    spread = 0.35  # standard deviation of the features

    def __init__(self, vectors: Pretrained, *, frozen: bool) -> None:
        super().__init__()
        vocabulary, self.output_size = vectors.matrix.shape
        self.frozen = frozen
        found = vectors.found[:, None].clone()
        found[0] = False  # whatever the file says, padding is zero
        scale = vectors.matrix[vectors.found].std() if vectors.found.sum() > 1 else torch.ones(())
        missing = torch.randn(vocabulary, self.output_size) * self.spread
        missing[0] = 0
        known = vectors.matrix * (self.spread / scale)
        # Weight decay moves even what has no gradient, so frozen rows are no part of what is trained.
        self.E = nn.Parameter(torch.where(found, known, missing), requires_grad=not frozen)
        self.register_buffer("found", found)
        if frozen:
            self.own = nn.Parameter(missing[~found[:, 0]])
            self.register_buffer("place", (~found[:, 0]).cumsum(0).sub(1).clamp(min=0))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        xs = self.E[ids]
        if self.frozen:
            found, place = self.get_buffer("found"), self.get_buffer("place")
            xs = torch.where(found[ids], xs, self.own[place[ids]])
        return xs
