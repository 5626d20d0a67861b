"""What a person would take instead of `elman train lm`: a plain ``nn.LSTM`` script, and counted n-grams.

Each function has ids of three texts, trains on the first, chooses by the second and returns the perplexity of
the third. The script is the usual word language model of PyTorch's examples: two layers of 200 units, SGD with
a rate of 20, gradients clipped at 0.25, 20 streams of 35 tokens, the rate divided by 4 where validation brings
nothing better.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Ids = NDArray[np.integer[Any]]

_STREAMS, _STEPS, _CLIP = 20, 35, 0.25
_SECONDS_PER_CHECK = 30.0  # of training between two looks at validation data, where an epoch takes longer


class PlainLSTM(nn.Module):
    """Embed, two layers, a linear map to the vocabulary."""

    def __init__(self, vocabulary: int, size: int, dropout: float) -> None:
        super().__init__()
        self.drop, self.embed = nn.Dropout(dropout), nn.Embedding(vocabulary, size)
        self.lstm = nn.LSTM(size, size, 2, dropout=dropout)
        self.output = nn.Linear(size, vocabulary)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        nn.init.uniform_(self.output.weight, -0.1, 0.1)
        nn.init.zeros_(self.output.bias)

    def forward(self, ids: Tensor, state: Any) -> tuple[Tensor, Any]:
        hs, state = self.lstm(self.drop(self.embed(ids)), state)
        return self.output(self.drop(hs)), state


def plain_lstm(
    train_ids: Ids,
    valid_ids: Ids,
    test_ids: Ids,
    vocabulary: int,
    minutes: float,
    seed: int,
    *,
    size: int = 200,
    dropout: float = 0.2,
    rate: float = 20.0,
) -> float:
    """The perplexity that the script reaches in so many minutes of processor time, evaluations included."""
    torch.manual_seed(seed)
    net = PlainLSTM(vocabulary, size, dropout)
    columns = _fold(train_ids, _STREAMS)
    begun, best, kept = time.process_time(), math.inf, deepcopy(net.state_dict())
    checked = begun
    while True:
        state = None
        for ids, targets in _windows(columns):
            state = _update(net, ids, targets, state, rate)
            now = time.process_time()
            over = now - begun >= 60 * minutes
            if over or now - checked >= max(_SECONDS_PER_CHECK, 60 * minutes / 16):
                found = measure(net, valid_ids)
                if found < best:
                    best, kept = found, deepcopy(net.state_dict())
                else:
                    rate /= 4
                checked = time.process_time()
            if over:
                net.load_state_dict(kept)
                return measure(net, test_ids)


def kneser_ney(
    train_ids: Ids, valid_ids: Ids, test_ids: Ids, vocabulary: int, minutes: float = 0.0, seed: int = 0
) -> float:
    """The perplexity of interpolated modified Kneser-Ney 5-grams, which need neither minutes nor a seed."""
    from elman.layers.kneser_ney import KneserNey

    counted = KneserNey.fit(np.asarray(train_ids), vocabulary, order=5, first=int(train_ids[-1]))
    return math.exp(float(counted.text_nll(np.asarray(test_ids), int(train_ids[-1])).mean()))


@torch.no_grad()
def measure(net: PlainLSTM, ids: Ids) -> float:
    """The perplexity of a text in ten streams; the first token of each is given."""
    net.eval()
    total, count, state = 0.0, 0, None
    for read, targets in _windows(_fold(ids, 10)):
        logits, state = net(read, state)
        total += float(nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"))
        count += targets.numel()
    net.train()
    return math.exp(total / count)


def _update(net: PlainLSTM, ids: Tensor, targets: Tensor, state: Any, rate: float) -> Any:
    net.zero_grad()
    logits, state = net(ids, state)
    nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
    nn.utils.clip_grad_norm_(net.parameters(), _CLIP)
    with torch.no_grad():
        for weight in net.parameters():
            weight -= rate * weight.grad
    return tuple(part.detach() for part in state)


def _fold(ids: Ids, streams: int) -> Tensor:
    """A text as columns that are read side by side."""
    rows = len(ids) // streams
    return torch.from_numpy(np.asarray(ids[: rows * streams], np.int64)).view(streams, rows).t().contiguous()


def _windows(columns: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(columns) - 1, _STEPS):
        end = min(start + _STEPS, len(columns) - 1)
        yield columns[start:end], columns[start + 1 : end + 1]
