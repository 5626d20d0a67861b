"""x_i of a word: its embedding, and beside it what its spelling says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn

from elman.layers.characters import CharacterCNN, CharacterRNN
from elman.layers.dropout import WordDropout
from elman.layers.embedding import Embedding, OneHot, PretrainedEmbedding
from elman.shapes import Bool, Float, Int, Tensor


class Words(NamedTuple):
    """A batch of sentences. A word that occurs often in it is spelled only once."""

    ids: Int[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]
    features: Int[Tensor, "B T F"]  # casing and affixes
    place: Int[Tensor, "B T"]  # of each word among the spelled ones
    characters: Int[Tensor, "N C"]

    def to(self, device: torch.device) -> Words:
        return Words(*(part.to(device) for part in self))


class WordLayer(nn.Module):
    """x_i = [E w_i ; characters of w_i ; features of w_i], each part only where it was asked for."""

    feature_size = 10

    def __init__(
        self,
        embeddings: Sequence[Embedding | OneHot | PretrainedEmbedding],
        characters: CharacterCNN | CharacterRNN | None,
        features: Sequence[int],
        forget: WordDropout,
    ) -> None:
        super().__init__()
        self.forget = forget
        self.embed = nn.ModuleList(embeddings)
        self.characters = characters
        self.features = nn.ModuleList(Embedding(count, self.feature_size) for count in features)
        sizes = [e.output_size for e in embeddings] + [self.feature_size] * len(features)
        self.output_size = sum(sizes) + (characters.output_size if characters else 0)

    def forward(self, words: Words) -> Float[Tensor, "B T D"]:
        ids = self.forget(words.ids, words.mask)
        # Words that only the file of vectors has are unknown to an embedding that is trained.
        parts = [
            embed(ids.masked_fill(ids >= embed.E.num_embeddings, self.forget.unknown))
            if isinstance(embed, Embedding)
            else embed(ids)
            for embed in self.embed
        ]
        if self.characters is not None:
            parts.append(self.characters(words.characters)[words.place])
        parts += [embed(words.features[..., i]) for i, embed in enumerate(self.features)]
        return torch.cat(parts, dim=-1) if len(parts) > 1 else parts[0]
