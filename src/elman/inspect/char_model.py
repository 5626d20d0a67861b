"""A small language model of characters: what cells are compared on that read a text of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import cos, inf, isfinite, log, pi
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from elman.cells import Cell
from elman.inspect.training_budget import TrainingBudget
from elman.layers import RNN
from elman.shapes import Float, Int, Tensor
from elman.state import detach
from elman.text.batching.bptt_windows import BPTTWindow, BPTTWindows

EMBEDDING = 32
STREAMS, BPTT, LR = 32, 64, 1e-2
HELD_OUT, MOST = 0.1, 50_000  # the share of a text that is not trained on, and how much of it is scored


class CharModel(nn.Module):
    """p(next character) = softmax(W h), h from one cell that reads an embedding of each character.

    On a GPU products are of 16 bits: there every cell has a kernel for whole sequences, not cuDNN's alone.
    """

    def __init__(self, cell: Cell[Any], characters: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(characters, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, characters)

    def forward(self, ids: Int[Tensor, "B T"], state: Any) -> tuple[Float[Tensor, "B T V"], Any]:
        with torch.autocast("cuda", torch.bfloat16, enabled=ids.is_cuda):
            hs, state = self.rnn(self.embed(ids), None, state)
            return self.decide(hs).float(), state


@dataclass(frozen=True)
class CharText:
    """A text as numbers of its characters: the first nine tenths to train on, the rest to score."""

    train: NDArray[np.int64]
    held_out: NDArray[np.int64]
    characters: int  # how many different ones there are

    @classmethod
    def of(cls, text: str) -> CharText:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        different, ids = np.unique(codes, return_inverse=True)
        cut = len(ids) - max(1, int(HELD_OUT * len(ids)))
        return cls(ids[:cut], ids[cut:][:MOST], len(different))

    def frequency_bits(self) -> float:
        """Bits per held-out character where only the frequencies of the characters are known."""
        seen = np.bincount(self.train, minlength=self.characters) + 1
        return float(-np.log2(seen / seen.sum())[self.held_out].mean())


def train_char_model(
    net: CharModel, text: CharText, budget: TrainingBudget, *, lr: float = LR
) -> Iterator[tuple[float, int]]:
    """Truncated backpropagation, with a learning rate that falls to zero.

    Before each update and at the end: the share of the budget that is spent, and the updates that were made.
    """
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    windows, state = _train_windows(text), None
    for done, (spent, whole) in enumerate(budget.turns()):
        yield spent / whole, done
        for group in optimizer.param_groups:
            group["lr"] = lr * (1 + cos(pi * spent / whole)) / 2
        window, fresh = next(windows)
        ids, mask, targets = _move_window(window, net)
        logits, state = net(ids, None if fresh or state is None else detach(state))
        loss = cross_entropy(logits[mask], targets[mask])
        if not update_weights(net, optimizer, loss):
            state = None  # it may have grown beyond all numbers
    yield 1.0, done + 1


def update_weights(net: CharModel, optimizer: torch.optim.Optimizer, loss: Tensor) -> bool:
    """One step of the optimizer, left out where the gradient is not finite. Was it made?"""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    finite = bool(nn.utils.clip_grad_norm_(net.parameters(), 1.0).isfinite())
    if finite:
        optimizer.step()
    return finite


def _train_windows(text: CharText) -> Iterator[tuple[BPTTWindow, bool]]:
    """Window after window, epoch after epoch; whether an epoch begins with it."""
    streams = max(1, min(STREAMS, len(text.train) // BPTT))
    windows = BPTTWindows(text.train, streams, BPTT, rotate=True, first=0)
    for epoch in count():
        for index, window in enumerate(windows(epoch)):
            yield window, index == 0


@torch.no_grad()
def bits_per_character(net: CharModel, text: CharText) -> float:
    """-log2 p of each held-out character, meaned, or infinity; several stretches are read side by side."""
    streams = max(1, min(STREAMS, len(text.held_out) // 256))
    nats, state = 0.0, None
    for window in BPTTWindows(text.held_out, streams, 256, first=int(text.train[-1]))():
        ids, mask, targets = _move_window(window, net)
        logits, state = net(ids, state)
        nats += float(cross_entropy(logits[mask], targets[mask], reduction="sum"))
    return nats / len(text.held_out) / log(2) if isfinite(nats) else inf


def _move_window(window: BPTTWindow, net: CharModel) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, mask and targets, where the weights are."""
    device = net.decide.weight.device
    ids, mask, targets = (torch.from_numpy(a).to(device) for a in (window.ids, window.mask, window.targets))
    return ids, mask, targets
