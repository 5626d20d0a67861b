"""x_i of a word: its embedding, and beside it what its characters say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn

from elman.cells import LSTM
from elman.kernels.character_filters import filter_characters, filter_features
from elman.layers.character_states import CharacterStates
from elman.layers.embedding import Embedding, OneHot, PretrainedEmbedding, WordDropout
from elman.layers.rnn import BiRNN
from elman.shapes import Bool, Float, Int, Tensor


class CharacterCNN(nn.Module):
    """max_i (W c_{i-1:i+1} + b) over the positions of a word (Ma & Hovy 2016)."""

    width = 3

    def __init__(self, alphabet: int, size: int, filters: int) -> None:
        super().__init__()
        self.output_size = filters
        self.embed = Embedding(alphabet, size)
        self.W = nn.Linear(self.width * size, filters)

    def forward(self, characters: Int[Tensor, "N C"]) -> Float[Tensor, "N F"]:
        if self.embed.is_watched:
            return filter_features(characters, self.embed(characters), self.W.weight, self.W.bias)
        return filter_characters(characters, self.embed.E.weight, self.W.weight, self.W.bias)


class CharacterRNN(nn.Module):
    """y_n of a forward and y_1 of a backward LSTM over the characters of a word (Lample et al. 2016)."""

    def __init__(self, alphabet: int, size: int, hidden: int) -> None:
        super().__init__()
        self.output_size = 2 * hidden
        self.embed = Embedding(alphabet, size)
        self.read = BiRNN(LSTM(size, hidden), LSTM(size, hidden))

    def forward(self, characters: Int[Tensor, "N C"]) -> Float[Tensor, "N F"]:
        return self.read.last_output(self.embed.look_up(characters), characters != 0)


CHARACTERS: dict[str, type[CharacterCNN] | type[CharacterRNN]] = {"cnn": CharacterCNN, "lstm": CharacterRNN}
"""Which layer reads characters, by its name in a recipe."""


class WordBatch(NamedTuple):
    """A batch of sentences. A word that occurs often in it is spelled only once."""

    ids: Int[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]
    features: Int[Tensor, "B T F"]  # casing and affixes
    place: Int[Tensor, "B T"]  # of each word among the spelled ones
    characters: Int[Tensor, "N C"]
    codes: Int[Tensor, "R N C"] = torch.zeros(0, 0, 0, dtype=torch.long)  # the same, for each language model

    def to(self, device: torch.device) -> WordBatch:
        return WordBatch(*(part.to(device) for part in self))


class WordLayer(nn.Module):
    """x_i = [E w_i ; characters of w_i ; features of w_i ; h_i of language models], what was asked for."""

    feature_size = 10

    def __init__(
        self,
        embeddings: Sequence[Embedding | OneHot | PretrainedEmbedding],
        characters: CharacterCNN | CharacterRNN | None,
        features: Sequence[int],
        forget: WordDropout,
        readers: Sequence[CharacterStates] = (),
    ) -> None:
        super().__init__()
        self.forget = forget
        self.embed = nn.ModuleList(embeddings)
        self.characters = characters
        self.features = nn.ModuleList(Embedding(count, self.feature_size) for count in features)
        self.readers = nn.ModuleList(readers)
        sizes = [e.output_size for e in embeddings] + [self.feature_size] * len(features)
        sizes += [reader.output_size for reader in readers]
        self.output_size = sum(sizes) + (characters.output_size if characters else 0)

    def forward(self, words: WordBatch) -> Float[Tensor, "B T D"]:
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
        each = zip(self.readers, words.codes, strict=True)
        parts += [reader(codes, words.place, words.mask) for reader, codes in each]
        return torch.cat(parts, dim=-1) if len(parts) > 1 else parts[0]
