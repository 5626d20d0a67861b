"""From the outputs of an encoder to tags: three layers that answer the same questions."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import nn
from torch.nn.functional import pad

from elman.layers.crf import CRF, Constraints, Paths
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.temperature import Calibration

Outputs = Float[Tensor, "B T H"]  # y_{1:n} of an encoder
TagIds = Int[Tensor, "B T"]
Mask = Bool[Tensor, "B T"]


class TagRows(NamedTuple):
    """Runs of tags in sentences: row, start and stop of each, among rows of tags."""

    tags: Int[Tensor, "R T"]
    of: Int[Tensor, " R"]  # the sentence of each row
    spans: Int[Tensor, "N 3"]


@runtime_checkable
class Head(Protocol):
    """p(t_{1:n} | w_{1:n}) from y_{1:n}. A temperature changes probabilities, never the loss or the order."""

    calibration: Calibration

    def loss(self, ys: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """-log p of the right tags of each sentence (B,)."""

    def best(self, ys: Tensor, mask: Tensor) -> Tensor:
        """The likeliest tags (B, T)."""

    def n_best(self, ys: Tensor, mask: Tensor, n: int) -> Paths:
        """The n likeliest sequences (B, n, T) and their log-probabilities (B, n), -inf for want of more."""

    def marginals(self, ys: Tensor, mask: Tensor) -> Tensor:
        """p(t_i | w) at each position (B, T, Y)."""

    def pieces(self, ys: Tensor, mask: Tensor, rows: TagRows) -> Tensor:
        """log p of each run of tags, whatever the others are (N,)."""


class SoftmaxHead(nn.Module):
    """p(t_i | w) = softmax(V y_i): every position by itself."""

    def __init__(self, size: int, tags: int) -> None:
        super().__init__()
        self.emit = nn.Linear(size, tags)
        self.calibration = Calibration()

    def _log_probs(self, ys: Tensor, temperature: float = 1.0) -> Tensor:
        return torch.log_softmax(self.emit(ys).float() / temperature, -1)

    def loss(self, ys: Outputs, tags: TagIds, mask: Mask) -> Float[Tensor, " B"]:
        right = self._log_probs(ys).gather(2, tags[..., None])[..., 0]
        return -right.masked_fill(~mask, 0).sum(1)

    def best(self, ys: Outputs, mask: Mask) -> TagIds:
        best: Tensor = self.emit(ys).argmax(-1).masked_fill(~mask, 0)
        return best

    def n_best(self, ys: Outputs, mask: Mask, n: int) -> Paths:
        scores = self._log_probs(ys)
        free = CRF(scores.shape[2]).to(scores)  # no transition is liked or forbidden
        paths = free.n_best(scores, mask, n)
        if self.calibration.temperature == 1:
            return paths
        scaled = self._log_probs(ys, self.calibration.temperature)[:, None].expand(-1, n, -1, -1)
        chosen = scaled.gather(3, paths.tags[..., None])[..., 0].masked_fill(~mask[:, None], 0).sum(2)
        return Paths(paths.tags, chosen.masked_fill(paths.scores.isneginf(), -torch.inf))

    def marginals(self, ys: Outputs, mask: Mask) -> Float[Tensor, "B T Y"]:
        return self._log_probs(ys, self.calibration.temperature).exp().masked_fill(~mask[..., None], 0)

    def pieces(self, ys: Outputs, mask: Mask, rows: TagRows) -> Float[Tensor, " N"]:
        log_probs = self._log_probs(ys, self.calibration.temperature)[rows.of]
        chosen = log_probs.gather(2, rows.tags[..., None])[..., 0]
        until = pad(chosen.double().cumsum(1), (1, 0))
        row, start, stop = rows.spans.unbind(1)
        return until[row, stop] - until[row, start]


class CRFHead(nn.Module):
    """p(t | w) ∝ exp Σ_i (V y_i)(t_i) + transitions(t_{i-1}, t_i); what a scheme forbids is never answered.

    The temperature divides the whole score, transitions included: so it stays a distribution of sequences.
    """

    def __init__(self, size: int, tags: int, allowed: Constraints | None) -> None:
        super().__init__()
        self.emit = nn.Linear(size, tags)
        self.crf = CRF(tags, allowed)
        self.calibration = Calibration()

    def loss(self, ys: Outputs, tags: TagIds, mask: Mask) -> Float[Tensor, " B"]:
        return -self.crf.log_likelihood(self.emit(ys), tags, mask)

    def best(self, ys: Outputs, mask: Mask) -> TagIds:
        return self.crf.viterbi(self.emit(ys), mask).tags

    def n_best(self, ys: Outputs, mask: Mask, n: int) -> Paths:
        scores, temperature = self.emit(ys), self.calibration.temperature
        paths = self.crf.n_best(scores, mask, n)
        log_z = self.crf.log_partition(scores, mask, temperature)
        return Paths(paths.tags, paths.scores / temperature - log_z[:, None])

    def marginals(self, ys: Outputs, mask: Mask) -> Float[Tensor, "B T Y"]:
        return self.crf.marginals(self.emit(ys), mask, self.calibration.temperature)

    def pieces(self, ys: Outputs, mask: Mask, rows: TagRows) -> Float[Tensor, " N"]:
        scores, temperature = self.emit(ys)[rows.of], self.calibration.temperature
        return self.crf.pieces(scores, rows.tags, mask[rows.of], rows.spans, temperature)
