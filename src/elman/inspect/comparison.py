"""Cells side by side: a long-range memory task, a task with little data, gradients through time.

Memory: three variables get a value each, noise follows, and at the end one of them is asked for. Little data:
a few hundred words of the documentation that comes with Python, half of them spelt backwards; which are?
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from elman.cells import Cell, FormulaCell, Formulaic, named, parameter_count
from elman.inspect.gradients import Norms, gradient_norms
from elman.layers import RNN
from elman.shapes import Bool, Float, Int, Tensor

HIDDEN, EMBEDDING = 32, 16
VARIABLES, VALUES, NOISE = 3, 8, 8
SYMBOLS = VARIABLES * VALUES + NOISE + VARIABLES  # assignments, noise, questions
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Result:
    """What one cell achieved; accuracies in percent on held-out data."""

    cell: str
    parameters: int
    memory: float
    little_data: float
    seconds: float
    norms: Norms  # ‖dL/ds_t‖ after training on the memory task, t = 0 … n


class Acceptor(nn.Module):
    """Symbols to a class: embed, run, and decide by y_n."""

    def __init__(self, cell: Cell[Any], symbols: int, classes: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, classes)

    def forward(self, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B C"]:
        logits: Tensor = self.decide(self.rnn.accept(self.embed(ids), mask))
        return logits


@dataclass(frozen=True)
class Examples:
    ids: Tensor
    mask: Tensor
    labels: Tensor

    def rows(self, index: Tensor) -> Examples:
        return Examples(self.ids[index], self.mask[index], self.labels[index])


def memory_examples(count: int, steps: int, seed: int) -> Examples:
    """``a = 3, c = 1, b = 7``, ``steps`` symbols of noise, ``b?``: the label is 7."""
    draw = torch.Generator().manual_seed(seed)
    values = torch.randint(VALUES, (count, VARIABLES), generator=draw)
    order = torch.rand(count, VARIABLES, generator=draw).argsort(1)
    assigned = order * VALUES + values.gather(1, order)
    first = VARIABLES * VALUES
    noise = torch.randint(first, first + NOISE, (count, steps), generator=draw)
    asked = torch.randint(VARIABLES, (count, 1), generator=draw)
    ids = torch.cat([assigned, noise, first + NOISE + asked], 1)
    return Examples(ids, torch.ones_like(ids, dtype=torch.bool), values.gather(1, asked)[:, 0])


def spelling_examples(seed: int) -> Examples:
    """Words of five letters and more from Python's own documentation, every other one reversed."""
    from pydoc_data.topics import topics

    words = sorted(set(re.findall(r"\b[a-z]{5,12}\b", " ".join(topics.values()))))
    order = torch.randperm(len(words), generator=torch.Generator().manual_seed(seed)).tolist()
    rows = [words[i][:: 1 if place % 2 else -1] for place, i in enumerate(order)]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for place, word in enumerate(rows):
        ids[place, : len(word)] = torch.tensor([LETTERS.index(letter) for letter in word])
    lengths = torch.tensor([len(word) for word in rows])
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    return Examples(ids, mask, torch.arange(len(rows)) % 2)


def train(net: Acceptor, batches: Iterable[Examples], *, lr: float) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for batch in batches:
        loss = cross_entropy(net(batch.ids, batch.mask), batch.labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()


@torch.no_grad()
def accuracy(net: Acceptor, examples: Examples) -> float:
    guesses = net(examples.ids, examples.mask).argmax(-1)
    return 100 * float((guesses == examples.labels).float().mean())


def remember(
    make: Callable[[int, int], Cell[Any]], *, steps: int, updates: int, seed: int
) -> Acceptor:
    """A net trained on fresh examples of the memory task, whose noise grows to ``steps`` symbols."""
    torch.manual_seed(seed)
    net = Acceptor(make(EMBEDDING, HIDDEN), SYMBOLS, VALUES)
    draw = random.Random(seed)

    def batches() -> Iterator[Examples]:
        for i in range(updates):
            longest = min(steps, 1 + int(1.5 * steps * i / updates))
            yield memory_examples(64, draw.randint(0, longest), seed + 1 + i)

    train(net, batches(), lr=1e-2)
    return net


def spell(
    make: Callable[[int, int], Cell[Any]], data: Examples, *, words: int, updates: int, seed: int
) -> Acceptor:
    """A net trained on the first few words only, over and over."""
    torch.manual_seed(seed)
    net = Acceptor(make(EMBEDDING, HIDDEN), len(LETTERS), 2)
    draw = torch.Generator().manual_seed(seed)

    def batches() -> Iterator[Examples]:
        for _ in range(updates):
            yield data.rows(torch.randint(words, (32,), generator=draw))

    train(net, batches(), lr=5e-3)
    return net


@dataclass(frozen=True)
class Comparison:
    """The size of the two tasks; ``run`` compares cells by name."""

    steps: int = 50
    memory_updates: int = 600
    words: int = 400
    little_updates: int = 200
    seed: int = 0

    def run(self, cells: list[str]) -> Iterator[Result]:
        """One result a cell, as soon as it is there."""
        makers = [named(name) for name in cells]  # an unknown name is said before any work
        held_out = memory_examples(1000, self.steps, self.seed + 10_000_000)
        spelling = spelling_examples(self.seed)
        unseen = spelling.rows(torch.arange(self.words, len(spelling.labels)))
        for name, make in zip(cells, makers, strict=True):
            start = time.perf_counter()
            recall = remember(make, steps=self.steps, updates=self.memory_updates, seed=self.seed)
            speller = spell(
                make, spelling, words=self.words, updates=self.little_updates, seed=self.seed
            )
            seconds = time.perf_counter() - start
            yield Result(
                name,
                parameter_count(recall.rnn.cell),
                accuracy(recall, held_out),
                accuracy(speller, unseen),
                seconds,
                self._trained_norms(recall),
            )

    def _trained_norms(self, net: Acceptor) -> Norms:
        """How the trained net sends the error back through the noise."""
        examples = memory_examples(16, self.steps, self.seed + 20_000_000)
        with torch.no_grad():
            xs = net.embed(examples.ids)
        return gradient_norms(net.rnn.cell, xs, seed=self.seed)


def gradient_curves(
    cells: list[str], *, steps: int = 100, gain: float = 1.6, seed: int = 0
) -> dict[str, Norms]:
    """‖dL/ds_t‖ by untrained cell. All start with the same recurrent weights: orthogonal, times ``gain``."""
    xs = torch.randn(16, steps, EMBEDDING, generator=torch.Generator().manual_seed(seed))
    curves = {}
    for name in cells:
        torch.manual_seed(seed)
        cell = named(name)(EMBEDDING, HIDDEN)
        _scale(cell, gain)
        curves[name] = gradient_norms(cell, xs, seed=seed)
    return curves


def _scale(cell: Formulaic, gain: float) -> None:
    assert isinstance(cell, FormulaCell)
    for U in cell.U:
        U.data.mul_(gain)
