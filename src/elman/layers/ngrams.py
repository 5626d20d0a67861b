"""A text as a bag of its n-grams, and what a linear model of such bags says of it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import embedding_bag, pad

from elman.layers.character_ngrams import piece_keys, spread_pieces
from elman.layers.word_layer import WordBatch
from elman.shapes import Bool, Float, Int, Tensor

PAIRS = 2**31  # keys from here on are of pairs; below it, ids of words; below 0, pieces of words


class Bags(NamedTuple):
    """A sparse matrix: in each row the n-grams of a text, none twice, and their weights; rows in order."""

    rows: Int[Tensor, " N"]
    columns: Int[Tensor, " N"]
    values: Float[Tensor, " N"]
    texts: int

    def multiply(self, W: Float[Tensor, "F Y"]) -> Float[Tensor, "B Y"]:
        """The sum of the rows of W that each text has, each times its weight."""
        begin = torch.searchsorted(self.rows, torch.arange(self.texts, device=self.rows.device))
        return embedding_bag(self.columns, W, begin, mode="sum", per_sample_weights=self.values)

    def pick(self, texts: Bool[Tensor, " B"]) -> Bags:
        """Those of some texts only."""
        kept = texts[self.rows]
        number = texts.cumsum(0) - 1
        return Bags(number[self.rows[kept]], self.columns[kept], self.values[kept], int(texts.sum()))

    def keep_first(self, count: int) -> Bags:
        """The same with the first columns only."""
        kept = self.columns < count
        return Bags(self.rows[kept], self.columns[kept], self.values[kept], self.texts)

    def drop_first(self, count: int) -> Bags:
        """The same without the first columns."""
        kept = self.columns >= count
        return Bags(self.rows[kept], self.columns[kept] - count, self.values[kept], self.texts)

    def split(self) -> tuple[Tensor, ...]:
        """The n-grams of each text."""
        return torch.split(self.columns, torch.bincount(self.rows, minlength=self.texts).tolist())

    def transpose(self, count: int) -> Bags:
        """In each row the texts that have an n-gram, of which there are ``count``."""
        order = torch.argsort(self.columns, stable=True)
        return Bags(self.columns[order], self.rows[order], self.values[order], count)


def ngram_keys(
    ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
) -> tuple[Int[Tensor, " N"], Int[Tensor, " N"]]:
    """The row and the key of each word and of each pair of neighbours; the ends of a text are neighbours, too.

    The key of a word is its id, that of a pair u v is (u + 1) 2³¹ + v; 0, the id of the padding, is an end.
    """
    words = pad(ids.masked_fill(~mask, 0), (1, 1))
    left, right = words[:, :-1], words[:, 1:]
    row = torch.arange(len(ids), device=ids.device)[:, None].expand_as(words)
    single, pair = words != 0, (left != 0) | (right != 0)
    keys = [words[single], ((left + 1) * PAIRS + right)[pair]]
    return torch.cat([row[single], row[:, 1:][pair]]), torch.cat(keys)


class NGramModel(nn.Module):
    """z = W v + b, where v are the n-grams of a text, each (1 + log count) · idf.

    Words and pairs of words are a vector of length 1; so are the pieces of words where the model has any. It is
    fitted by itself, before the network beside it is trained: its weights are buffers.
    """

    keys: Tensor
    idf: Tensor
    W: Tensor
    b: Tensor

    def __init__(self, size: int, labels: int) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(size, dtype=torch.long))  # in order
        self.register_buffer("idf", torch.ones(size))
        self.register_buffer("W", torch.zeros(size, labels))
        self.register_buffer("b", torch.zeros(labels))

    def grow_from(self, small: NGramModel) -> None:
        """Take the n-grams of a model that knows fewer labels; of further labels they say nothing."""
        self.keys, self.idf = small.keys, small.idf
        self.W, self.b = (pad(old, (0, len(self.b) - len(small.b))) for old in (small.W, small.b))

    def bags(self, words: WordBatch) -> Bags:
        """The n-grams of each text that are known."""
        rows, columns = self._find(*ngram_keys(words.ids, words.mask))
        if len(self.keys) and self.keys[0] < 0:
            pieces = spread_pieces(words, *self._find(*piece_keys(words.characters)))
            rows, columns = torch.cat([rows, pieces[0]]), torch.cat([columns, pieces[1]])
        size, texts = max(1, len(self.keys)), len(words.ids)
        found, counts = torch.unique(rows * size + columns, return_counts=True)
        rows, columns = found // size, found % size
        values = (1 + counts.to(self.idf).log()) * self.idf[columns]
        part = 2 * rows + (self.keys[columns] < 0)  # of a text: its words, its pieces
        square = values.new_zeros(2 * texts).index_add_(0, part, values**2)
        return Bags(rows, columns, values / square.sqrt()[part], texts)

    def _find(self, rows: Int[Tensor, " N"], keys: Int[Tensor, " N"]) -> tuple[Tensor, Tensor]:
        """The rows and the columns of the keys that are known."""
        place = torch.searchsorted(self.keys, keys)
        known = torch.cat([self.keys, self.keys.new_zeros(1)])[place] == keys  # 0 is no key
        return rows[known], place[known]

    def forward(self, words: WordBatch) -> Float[Tensor, "B Y"]:
        return self.b + self.bags(words).multiply(self.W)
