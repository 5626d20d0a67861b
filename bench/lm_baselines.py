"""What a person would take instead of `elman train lm`: a plain ``nn.LSTM`` script, and counted n-grams.

Each function has ids of three texts, trains on the first, chooses by the second and returns the perplexity of
the third. For words the script is the usual one of PyTorch's examples: two layers of 200 units, SGD with a rate
of 20, gradients clipped at 0.25, 20 streams of 35 tokens, the rate divided by 4 where validation brings nothing
better. For characters it is the usual one after char-rnn: two layers of 256 units, Adam with a rate of 0.002,
50 streams of 50 characters, gradients clipped at 5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Ids = NDArray[np.integer[Any]]

_READ = 20_000  # tokens of the validation text that a look at it reads, as Elman's rules have it
_LOOKS = 16  # at it in a run, at most


@dataclass(frozen=True)
class Script:
    """The settings of a plain script."""

    size: int = 200
    dropout: float = 0.2
    streams: int = 20
    steps: int = 35
    rate: float = 20.0
    clip: float = 0.25
    adam: bool = False


WORDS = Script()
CHARACTERS = Script(256, 0.2, 50, 50, 0.002, 5.0, adam=True)


class PlainLSTM(nn.Module):
    """Embed, two layers, a linear map to the vocabulary."""

    def __init__(self, vocabulary: int, script: Script) -> None:
        super().__init__()
        size, dropout = script.size, script.dropout
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
    script: Script = WORDS,
) -> float:
    """The perplexity that the script reaches in so many minutes of processor time; evaluations count, too."""
    torch.manual_seed(seed)
    net = PlainLSTM(vocabulary, script)
    make = torch.optim.Adam if script.adam else torch.optim.SGD
    optimizer = make(net.parameters(), lr=script.rate)
    columns = _fold(train_ids, script.streams)
    best, kept = math.inf, deepcopy(net.state_dict())
    begun = checked = time.process_time()
    while True:
        state = None
        for ids, targets in _windows(columns, script.steps):
            state = _update(net, optimizer, (ids, targets), state, script.clip)
            over = time.process_time() - begun >= 60 * minutes
            if over or time.process_time() - checked >= 60 * minutes / _LOOKS:
                found = measure(net, valid_ids[:_READ])
                if found < best:
                    best, kept = found, deepcopy(net.state_dict())
                else:
                    optimizer.param_groups[0]["lr"] /= 4
                checked = time.process_time()
            if over:
                net.load_state_dict(kept)
                return measure(net, test_ids)


def plain_characters(
    train_ids: Ids, valid_ids: Ids, test_ids: Ids, vocabulary: int, minutes: float, seed: int
) -> float:
    """The perplexity of a character that the other script reaches."""
    return plain_lstm(train_ids, valid_ids, test_ids, vocabulary, minutes, seed, script=CHARACTERS)


def kneser_ney(
    train_ids: Ids, valid_ids: Ids, test_ids: Ids, vocabulary: int, minutes: float = 0.0, seed: int = 0
) -> float:
    """The perplexity of interpolated modified Kneser-Ney 5-grams, which need neither minutes nor a seed."""
    from elman.layers.kneser_ney import KneserNey

    first = int(train_ids[-1])  # what ends a line
    counted = KneserNey.fit(np.asarray(train_ids), vocabulary, order=5, first=first)
    return math.exp(float(counted.text_nll(np.asarray(test_ids), first).mean()))


@torch.no_grad()
def measure(net: PlainLSTM, ids: Ids) -> float:
    """The perplexity of a text in ten streams; the first token of each is given."""
    net.eval()
    total, count, state = 0.0, 0, None
    for read, targets in _windows(_fold(ids, 10), 100):
        logits, state = net(read, state)
        total += float(nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"))
        count += targets.numel()
    net.train()
    return math.exp(total / count)


def _update(
    net: PlainLSTM, optimizer: torch.optim.Optimizer, window: tuple[Tensor, Tensor], state: Any, clip: float
) -> Any:
    ids, targets = window
    optimizer.zero_grad()
    logits, state = net(ids, state)
    nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
    nn.utils.clip_grad_norm_(net.parameters(), clip)
    optimizer.step()
    return tuple(part.detach() for part in state)


def _fold(ids: Ids, streams: int) -> Tensor:
    """A text as columns that are read side by side."""
    rows = len(ids) // streams
    return torch.from_numpy(np.asarray(ids[: rows * streams], np.int64)).view(streams, rows).t().contiguous()


def _windows(columns: Tensor, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(columns) - 1, steps):
        end = min(start + steps, len(columns) - 1)
        yield columns[start:end], columns[start + 1 : end + 1]


BASELINES: dict[str, Callable[..., float]] = {
    "plain nn.LSTM, words": plain_lstm,
    "plain nn.LSTM, characters": plain_characters,
    "Kneser-Ney 5-grams": kneser_ney,
}
