"""The two tasks that cells are compared on, and a small network that learns them.

Memory: three variables get a value each, noise follows, and at the end one of them is asked for. Little data:
a few hundred words of the documentation that comes with Python, half of them spelt backwards; which are?
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from elman.cells import Cell, CellMaker
from elman.inspect.training_budget import TrainingBudget
from elman.layers import RNN
from elman.shapes import Bool, Float, Int, Tensor
from elman.text.batching import pad

EMBEDDING = 16
VARIABLES, VALUES, NOISE = 3, 8, 8
SYMBOLS = VARIABLES * VALUES + NOISE + VARIABLES  # assignments, noise, questions
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class SequenceAcceptor(nn.Module):
    """Symbols to a class: embed, run, and decide by y_n."""

    def __init__(self, cell: Cell[Any], symbols: int, classes: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols, cell.input_size)
        self.rnn = RNN(cell)
        self.decide = nn.Linear(cell.output_size, classes)

    def forward(self, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B C"]:
        logits: Tensor = self.decide(self.rnn.last_output(self.embed(ids), mask))
        return logits


@dataclass(frozen=True)
class Learner:
    """A cell that is to learn a task: how it is made, its units, and the seed of its weights and examples."""

    make: CellMaker
    width: int
    seed: int

    def acceptor(self, symbols: int, classes: int) -> SequenceAcceptor:
        """An untrained network around the cell."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return SequenceAcceptor(self.make(EMBEDDING, self.width), symbols, classes)


@dataclass(frozen=True)
class LabelledRows:
    """A batch of symbols, each row with its label."""

    ids: Tensor
    mask: Tensor
    labels: Tensor

    def rows(self, index: Tensor) -> LabelledRows:
        return LabelledRows(self.ids[index], self.mask[index], self.labels[index])


def memory_examples(count: int, steps: int, seed: int) -> LabelledRows:
    """``a = 3, c = 1, b = 7``, ``steps`` symbols of noise, ``b?``: the label is 7."""
    draw = torch.Generator().manual_seed(seed)
    values = torch.randint(VALUES, (count, VARIABLES), generator=draw)
    order = torch.rand(count, VARIABLES, generator=draw).argsort(1)
    assigned = order * VALUES + values.gather(1, order)
    first = VARIABLES * VALUES
    noise = torch.randint(first, first + NOISE, (count, steps), generator=draw)
    asked = torch.randint(VARIABLES, (count, 1), generator=draw)
    ids = torch.cat([assigned, noise, first + NOISE + asked], 1)
    return LabelledRows(ids, torch.ones_like(ids, dtype=torch.bool), values.gather(1, asked)[:, 0])


def spelling_examples(seed: int) -> LabelledRows:
    """Words of five letters and more from Python's own documentation, every other one reversed."""
    from pydoc_data.topics import topics

    words = sorted(set(re.findall(r"\b[a-z]{5,12}\b", " ".join(topics.values()))))
    order = torch.randperm(len(words), generator=torch.Generator().manual_seed(seed)).tolist()
    rows = [words[i][:: 1 if place % 2 else -1] for place, i in enumerate(order)]
    ids = [[LETTERS.index(letter) for letter in word] for word in rows]
    return LabelledRows(*pad(ids), torch.arange(len(rows)) % 2)


def train_acceptor(net: SequenceAcceptor, batches: Iterable[LabelledRows], *, lr: float) -> SequenceAcceptor:
    """Train a net, a batch an update."""
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for batch in batches:
        loss = cross_entropy(net(batch.ids, batch.mask), batch.labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return net


@torch.no_grad()
def accuracy(net: SequenceAcceptor, examples: LabelledRows) -> float:
    guesses = net(examples.ids, examples.mask).argmax(-1)
    return 100 * float((guesses == examples.labels).float().mean())


def train_memory(learner: Learner, steps: int, budget: TrainingBudget) -> SequenceAcceptor:
    """A net trained on fresh examples of the memory task, whose noise grows to ``steps`` symbols."""
    draw, seed = random.Random(learner.seed), learner.seed
    longest = (min(steps, 1 + int(1.5 * steps * spent / whole)) for spent, whole in budget.turns())
    batches = (memory_examples(64, draw.randint(0, n), seed + i) for i, n in enumerate(longest, 1))
    return train_acceptor(learner.acceptor(SYMBOLS, VALUES), batches, lr=1e-2)


def train_spelling(
    learner: Learner, data: LabelledRows, words: int, budget: TrainingBudget
) -> SequenceAcceptor:
    """A net trained on the first few words only, over and over."""
    draw = torch.Generator().manual_seed(learner.seed)
    batches = (data.rows(torch.randint(words, (32,), generator=draw)) for _ in budget.turns())
    return train_acceptor(learner.acceptor(len(LETTERS), 2), batches, lr=5e-3)
