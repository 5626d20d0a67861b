"""A recurrent encoder as a language model: what it has to predict needs no labels."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from elman.errors import ModelError
from elman.layers.cross_entropy import linear_nll
from elman.layers.embedding import OneHot
from elman.layers.rnn import RNN, BiRNN, StackedRNN
from elman.layers.word_layer import WordBatch, WordLayer
from elman.shapes import Float, Int, Tensor


class NextWords(NamedTuple):
    """Vectors P h of one direction, and the words that they are to predict."""

    ys: Float[Tensor, "N E"]
    targets: Int[Tensor, " N"]


class EncoderLM(nn.Module):
    """p(w_{t+1} | w_{1:t}) = softmax(E P h_t + b), and where there are two directions the word before likewise.

    h are the outputs of all layers that read forwards only, or of the first of bidirectional ones: the layers
    above it have seen what they would predict. E is the embedding that the encoder reads (Dai & Le 2015).
    """

    def __init__(
        self, words: WordLayer, drop: nn.Module, layers: RNN | StackedRNN, counts: Int[Tensor, " V"]
    ) -> None:
        super().__init__()
        if isinstance(words.embed[0], OneHot):
            raise ModelError("one-hot words have no embedding that unlabelled text could train")
        self.words, self.drop = words, drop
        counts = counts.to(next(words.parameters()).device)
        self.layer = layers if isinstance(layers, RNN) else layers.stack[0]
        sizes, width = [layer.output_size for layer in _directions(self.layer)], self._rows(counts[:0]).shape[1]
        self.P = nn.ModuleList(nn.Linear(size, width, bias=False) for size in sizes)
        share = counts.clamp(min=1) / counts.sum().clamp(min=1)
        self.b = nn.Parameter(share.log())
        self.register_buffer("share", share, persistent=False)

    def forward(self, words: WordBatch) -> list[NextWords]:
        """What each direction says of the words that it has not read yet."""
        ys, _ = self.layer(self.drop(self.words(words)), words.mask)
        ahead, *back = ys.split([P.in_features for P in self.P], dim=-1)
        both = words.mask[:, 1:]  # a text begins at the left: where a word follows, there is one before it
        found = [NextWords(self.P[0](ahead[:, :-1][both]), words.ids[:, 1:][both])]
        found += [NextWords(self.P[1](ys[:, 1:][both]), words.ids[:, :-1][both]) for ys in back]
        return found

    def loss(self, words: WordBatch) -> Float[Tensor, ""]:
        """The mean of -log p, where only the words that occur in the batch compete (Jean et al. 2015).

        A word w competes with the probability 1 - exp(-N p(w)): frequent ones do so more often, and are the
        less likely for that.
        """
        return torch.stack([self._batch_loss(some) for some in self(words)]).mean()

    def _batch_loss(self, some: NextWords) -> Float[Tensor, ""]:
        rivals, place = torch.unique(some.targets, return_inverse=True)
        if len(rivals) < 2:
            return 0 * some.ys.sum()  # nothing to tell apart
        often = -torch.expm1(-len(place) * self.get_buffer("share")[rivals])
        z = some.ys @ self._rows(rivals).T + self.b[rivals] - often.log()
        return cross_entropy(z, place)

    def nll(self, words: WordBatch) -> Float[Tensor, " N"]:
        """-log p of each word, among all words."""
        rows = self._rows(torch.arange(len(self.b), device=self.b.device))
        costs = [linear_nll(some.ys, rows, self.b, some.targets) for some in self(words)]
        return torch.cat(costs)

    def _rows(self, ids: Int[Tensor, " N"]) -> Float[Tensor, "N E"]:
        rows: Tensor = self.words.embed[0](ids[None])[0]
        return rows


def _directions(layer: RNN | BiRNN) -> list[RNN]:
    return [layer.forward_rnn, layer.backward_rnn] if isinstance(layer, BiRNN) else [layer]
