"""The network of pairs and its options: both texts are read with the same weights, then compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn
from torch.nn.functional import normalize

from elman.kernels.dropout import draw_mask
from elman.layers.attention import Attention
from elman.layers.embedding import LockedDropout
from elman.layers.pooling import build_pooling
from elman.ranges import OptionalSize, Size
from elman.shapes import Bool, Float, Tensor
from elman.tasks.label_network import LabelConfig, LabelNetwork, build_decision
from elman.tasks.word_batch import build_encoder
from elman.tasks.word_features import WordFeaturizer


@dataclass(frozen=True)
class PairsConfig(LabelConfig):
    """The network: read both texts with the same weights, compare, decide."""

    attention: Literal["none", "soft"] = "none"  # soft: each word is compared with those like it
    characters: Literal["", "cnn", "lstm"] = "cnn"
    hidden: Size = 64  # units of each direction
    pool: Literal["last", "mean", "max", "mean+max", "attention"] = "max"
    mlp: OptionalSize = 128


class PairsNetwork(LabelNetwork):
    """A siamese network (Mou et al. 2016, Conneau et al. 2017).

    h = RNN*(x)      u, v = pool([x ; h]) of the first and of the second text
    p = softmax(W relu(V [u ; v ; |u - v| ; u ⊙ v] + b) + c)

    With attention, each word is first compared with those of the other text, and u and v are pooled from that.
    A batch has all first texts, and below them all second ones.
    """

    def __init__(self, config: PairsConfig, featurizer: WordFeaturizer, labels: int) -> None:
        super().__init__()
        self.words = featurizer.layer(config)
        self.drop = PairDropout(config.dropout)
        self.encode = build_encoder(config, self.words.output_size, dropout=0)
        size = self.words.output_size + self.encode.output_size
        self.compare = None
        if config.attention == "soft":
            self.compare = SoftAlignment(config, self.words.output_size, size)
            size = self.compare.output_size
        self.pool, size = build_pooling(config.pool, size, bidirectional=config.bidirectional)
        self.decide = nn.Sequential(nn.Dropout(config.dropout), *build_decision(config, 4 * size, labels))

    def logits(self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "B Y"]:
        logits: Tensor = self.decide(join(*self.sentences(xs, mask)))
        return logits

    def sentences(
        self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]
    ) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
        """u and v."""
        zs = self._read(xs, mask)
        if self.compare is not None:
            zs = self.drop(self.compare(zs, mask))
        u, v = self.pool(zs, mask).chunk(2)
        return u, v

    def _read(self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "N T E"]:
        """[x ; h]: each word as it is, and as it stands in its text."""
        xs = self.drop(xs)
        hs, _ = self.encode(xs, mask)
        return torch.cat([xs, self.drop(hs)], -1)

    @torch.no_grad()
    def alignment(self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "N T T"]:
        """α: how much each word is aligned to each one of the other text."""
        assert self.compare is not None
        _, weights = self.compare.align(self._read(xs, mask), mask)
        return weights

    def read_compared(self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "N T H"]:
        """What the second recurrent network reads: each word beside those it is aligned to."""
        assert self.compare is not None
        return self.compare.compare(self._read(xs, mask), mask)


def join(u: Float[Tensor, "B H"], v: Float[Tensor, "B H"]) -> Float[Tensor, "B HHHH"]:
    """[u ; v ; |u - v| ; u ⊙ v]"""
    return torch.cat([u, v, (u - v).abs(), u * v], -1)


class PairDropout(LockedDropout):
    """Drops the same features of both texts of a pair, so that equal texts stay equal and |u - v| is zero."""

    def forward(self, xs: Float[Tensor, "N T D"]) -> Float[Tensor, "N T D"]:
        if not self.training or not self.p:
            return xs
        mask = draw_mask(xs, len(xs) // 2, 1, xs.shape[2], p=self.p)
        return xs * torch.cat([mask, mask])


class SoftAlignment(nn.Module):
    """Each word beside what it is aligned to in the other text (Parikh et al. 2016, Chen et al. 2017).

    ã_i = Σ_j α_ij b_j with α_i = softmax_j(τ cos(x_i, x_j))      RNN*(relu(W [a ; ã ; a - ã ; a ⊙ ã] + b))
    """

    def __init__(self, config: PairsConfig, words: int, size: int) -> None:
        super().__init__()
        self.attend = Attention(WordCosine(words))
        self.project = nn.Linear(4 * size, config.hidden)
        self.compose = build_encoder(config, config.hidden, dropout=0)
        self.output_size = self.compose.output_size

    def forward(self, zs: Float[Tensor, "N T E"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "N T H"]:
        ys: Tensor
        ys, _ = self.compose(self.compare(zs, mask), mask)
        return ys

    def compare(self, zs: Float[Tensor, "N T E"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "N T H"]:
        """relu(W [a ; ã ; a - ã ; a ⊙ ã] + b)"""
        aligned, _ = self.align(zs, mask)
        return torch.relu(self.project(torch.cat([zs, aligned, zs - aligned, zs * aligned], -1)))

    def align(
        self, zs: Float[Tensor, "N T E"], mask: Bool[Tensor, "N T"]
    ) -> tuple[Float[Tensor, "N T E"], Float[Tensor, "N T T"]]:
        """What each word is aligned to, and α."""
        half = len(zs) // 2
        other = self.attend.remember(zs.roll(half, 0), mask.roll(half, 0))
        aligned, weights = self.attend(zs, other)
        return aligned, weights


class WordCosine(nn.Module):
    """τ cos(x, x') of words as they are, wherever they stand: equal words match before anything is learnt."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size  # features of x, which come first
        self.tau = nn.Parameter(torch.tensor(8.0))

    def keys(self, memory: Float[Tensor, "N T E"]) -> Float[Tensor, "N T D"]:
        return normalize(memory[..., : self.size], dim=-1)

    def forward(self, query: Float[Tensor, "N T E"], keys: Float[Tensor, "N S D"]) -> Float[Tensor, "N T S"]:
        return self.tau * torch.bmm(self.keys(query), keys.transpose(1, 2))
