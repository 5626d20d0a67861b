"""What a language model of characters has in mind after each word of a line (Akbik et al. 2018)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from elman.cells import CellMaker
from elman.layers.embedding import Embedding
from elman.layers.encoder import build_stacked_rnn
from elman.shapes import Bool, Float, Int, Tensor

_AT_ONCE = 2**17  # characters that are read side by side
_KEPT = 2**31  # bytes of states that are kept while a task is trained


class ReaderShape(NamedTuple):
    """The layers of a language model, and the codes of what stands between words."""

    alphabet: int
    embedding: int
    hidden: int
    layers: int
    line_end: int
    blank: int
    backward: bool = False  # it was trained on lines that were written from their end


class Lines(NamedTuple):
    """Sentences as characters: a line end, then the words with blanks between them."""

    ids: Int[Tensor, "B L"]
    mask: Bool[Tensor, "B L"]
    ends: Int[Tensor, "B T"]  # where the last character of each word is that is read


class CharacterStates(nn.Module):
    """h after the last character of each word; backward, from the end of the line, after its first one.

    The weights are frozen. What a sentence gave while a task is trained is kept, and used in training alone:
    an answer is that of the weights as they are.
    """

    def __init__(self, cell: CellMaker, shape: ReaderShape) -> None:
        super().__init__()
        self.shape = shape
        self.embed = Embedding(shape.alphabet, shape.embedding)
        sizes = (shape.embedding, shape.hidden)
        self.layers = build_stacked_rnn(cell, sizes, layers=shape.layers, bidirectional=False, dropout=0.0)
        self.output_size = self.layers.output_size
        self.requires_grad_(False)
        self._kept: dict[bytes, Tensor] = {}
        self._room = _KEPT

    @torch.no_grad()
    def forward(
        self, codes: Int[Tensor, "N C"], place: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> Float[Tensor, "B T H"]:
        """The states of sentences whose words are ``place`` of the ``codes``, zero at the padding."""
        lines = spell_lines(codes, place, mask, self.shape)
        keys = [row[known].cpu().numpy().tobytes() for row, known in zip(lines.ids, lines.mask, strict=True)]
        kept = self._kept if self.training else {}
        new = torch.tensor([i for i, key in enumerate(keys) if key not in kept], device=place.device)
        hs = self.embed.E.weight.new_zeros(*place.shape, self.output_size)
        for some in torch.split(new.long(), max(1, _AT_ONCE // max(1, lines.ids.shape[1]))):
            hs[some] = self._read(Lines(*(part[some] for part in lines))) * mask[some, :, None]
        for i, (key, count) in enumerate(zip(keys, mask.sum(1).tolist(), strict=True)):
            if key in kept:
                hs[i, :count] = kept[key].to(hs)
            elif self.training:
                self._keep(key, hs[i, :count].clone())
        return hs

    def drop_states(self) -> None:
        """Let go of the states that are kept: training is over."""
        self._kept, self._room = {}, _KEPT

    def _read(self, lines: Lines) -> Float[Tensor, "B T H"]:
        ys, _ = self.layers(self.embed(lines.ids), lines.mask)
        found: Tensor = ys.gather(1, lines.ends[..., None].expand(-1, -1, ys.shape[-1]))
        return found

    def _keep(self, key: bytes, hs: Float[Tensor, "T H"]) -> None:
        size = hs.numel() * hs.element_size()
        if size <= self._room:
            self._kept[key], self._room = hs, self._room - size


def spell_lines(
    codes: Int[Tensor, "N C"], place: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"], shape: ReaderShape
) -> Lines:
    """Sentences as the characters that a language model reads; 0 among the codes is padding."""
    if shape.backward:
        place, codes = _turn(place, mask), _turn(codes, codes != 0)
    widths = ((codes != 0).sum(1)[place] + 1) * mask  # of each word, with what stands before it
    ends = widths.cumsum(1) - 1
    row, word = mask.nonzero(as_tuple=True)
    each = widths[row, word]
    inside = torch.arange(int(each.sum()), device=place.device)
    inside = inside - (each.cumsum(0) - each).repeat_interleave(each)
    row, word = row.repeat_interleave(each), word.repeat_interleave(each)
    between = torch.where(word == 0, shape.line_end, shape.blank)
    read = torch.where(inside == 0, between, codes[place[row, word], (inside - 1).clamp(min=0)])
    ids = place.new_zeros(len(place), int(widths.sum(1).max()) if widths.numel() else 0)
    known = torch.zeros_like(ids, dtype=torch.bool)
    at = (ends - widths + 1)[row, word] + inside
    ids[row, at], known[row, at] = read, True
    ends = _turn(ends, mask) if shape.backward else ends
    return Lines(ids, known, ends.clamp(min=0, max=max(0, ids.shape[1] - 1)))


def _turn(values: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """Each row from its last real value to its first; padding stays behind them."""
    column = torch.arange(values.shape[1], device=values.device).expand_as(values)
    turned: Tensor = values.gather(1, torch.where(mask, mask.sum(1, keepdim=True) - 1 - column, column))
    return turned
