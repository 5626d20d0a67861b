"""A word from its characters: by a convolution and its maximum, or by both ends of a bidirectional RNN."""

from __future__ import annotations

import torch
from torch import nn

from elman.cells import LSTM
from elman.layers.embedding import Embedding
from elman.layers.rnn import BiRNN
from elman.shapes import Float, Int, Tensor


class CharacterCNN(nn.Module):
    """max_i (W c_{i-1:i+1} + b) over the positions of a word (Ma & Hovy 2016)."""

    width = 3

    def __init__(self, alphabet: int, size: int, filters: int) -> None:
        super().__init__()
        self.output_size = filters
        self.embed = Embedding(alphabet, size)
        self.W = nn.Linear(self.width * size, filters)

    def forward(self, characters: Int[Tensor, "N C"]) -> Float[Tensor, "N F"]:
        if not characters.shape[1]:  # nothing but padding
            return self.W.weight.new_zeros(len(characters), self.output_size)
        around = self.width // 2
        cs = nn.functional.pad(self.embed(characters), (0, 0, around, around))
        windows = cs.unfold(1, self.width, 1).flatten(2)
        ys = self.W(windows).masked_fill((characters == 0)[..., None], -torch.inf)
        empty = (characters == 0).all(1, keepdim=True)
        best: Tensor = ys.amax(1).masked_fill(empty, 0.0)
        return best


class CharacterRNN(nn.Module):
    """y_n of a forward and y_1 of a backward LSTM over the characters of a word (Lample et al. 2016)."""

    def __init__(self, alphabet: int, size: int, hidden: int) -> None:
        super().__init__()
        self.output_size = 2 * hidden
        self.embed = Embedding(alphabet, size)
        self.read = BiRNN(LSTM(size, hidden), LSTM(size, hidden))

    def forward(self, characters: Int[Tensor, "N C"]) -> Float[Tensor, "N F"]:
        return self.read.accept(self.embed(characters), characters != 0)


CHARACTERS: dict[str, type[CharacterCNN] | type[CharacterRNN]] = {
    "cnn": CharacterCNN,
    "lstm": CharacterRNN,
}
"""Which layer reads characters, by its name in a recipe."""
