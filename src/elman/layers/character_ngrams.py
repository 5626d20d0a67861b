"""The pieces of words, as keys: two to five characters in a row, the ends of a word among them."""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from elman.layers.word_layer import WordBatch
from elman.shapes import Int, Tensor

SHORTEST, LONGEST = 2, 5
_BASE = (
    4097  # five digits of it are below 2⁶³; an alphabet may have 4,094 characters before some are taken for one
)


def piece_keys(characters: Int[Tensor, "N C"]) -> tuple[Int[Tensor, " M"], Int[Tensor, " M"]]:
    """The number of the word and the key of each of its pieces; words in order.

    A key is below 0: -Σ dᵢ 4097ⁱ; the digit of an end of the word is 1, that of a character its id + 2.
    """
    known = characters != 0
    digits = pad((characters.clamp(max=_BASE - 3) + 2).masked_fill(~known, 0), (1, 1 + LONGEST))
    filled = known.any(1)
    digits[filled, 0] = 1
    digits[filled, 1 + known.sum(1)[filled]] = 1
    words, keys = [], []
    for length in range(SHORTEST, LONGEST + 1):
        windows = digits.unfold(1, length, 1)
        word, start = (windows != 0).all(-1).nonzero(as_tuple=True)
        scale = _BASE ** torch.arange(length, device=characters.device)
        words.append(word)
        keys.append(-(windows[word, start] * scale).sum(-1))
    word, key = torch.cat(words), torch.cat(keys)
    order = torch.argsort(word, stable=True)
    return word[order], key[order]


def spread_pieces(
    words: WordBatch, spelled: Int[Tensor, " M"], pieces: Int[Tensor, " M"]
) -> tuple[Int[Tensor, " K"], Int[Tensor, " K"]]:
    """The row of the batch and the piece, for each word of the batch and each piece of its spelling."""
    row, place = words.mask.nonzero()[:, 0], words.place[words.mask]
    counts = torch.bincount(spelled, minlength=len(words.characters))
    begin, each = (counts.cumsum(0) - counts)[place], counts[place]
    before = (each.cumsum(0) - each).repeat_interleave(each)
    inside = torch.arange(len(before), device=before.device) - before
    return row.repeat_interleave(each), pieces[begin.repeat_interleave(each) + inside]
