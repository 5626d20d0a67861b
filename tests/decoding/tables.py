"""Small models made of random numbers, and slow, plain ways to search them."""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from elman.state import State

END = 1


class Table(NamedTuple):
    """Logits by sentence and context (B, C, V); all that was read makes the context, so that nothing ties."""

    logits: Tensor

    def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]:
        context = (state.context * self.size + tokens + 1) % self.logits.shape[1]
        return state.replace(context=context), self.logits[state.sentence, context]

    @property
    def state(self) -> State:
        rows = torch.arange(len(self.logits))
        return State(sentence=rows, context=torch.zeros_like(rows))

    @property
    def start(self) -> Tensor:
        return torch.full((len(self.logits),), 2)

    @property
    def size(self) -> int:
        return self.logits.shape[-1]

    def only(self, sentence: int) -> "Table":
        return Table(self.logits[sentence : sentence + 1])

    def log_probs(self, sentence: int, tokens: tuple[int, ...]) -> list[float]:
        """Token by token, without the code under test."""
        context, log_probs = 0, []
        for last, token in itertools.pairwise((2, *tokens)):
            context = (context * self.size + last + 1) % self.logits.shape[1]
            log_probs.append(math.log(self.next(sentence, context)[token]))
        return log_probs

    def next(self, sentence: int, context: int) -> list[float]:
        weights = [math.exp(x) for x in self.logits[sentence, context].tolist()]
        return [w / sum(weights) for w in weights]


def table(seed: int, size: int = 4, sentences: int = 1, *, spread: float = 1.5) -> Table:
    generator = torch.Generator().manual_seed(seed)
    shape = (sentences, 997, size)
    return Table(spread * torch.randn(shape, generator=generator, dtype=torch.float64))


def outcomes(size: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Every sequence that ends with END, or at the limit without it: each way to write, once."""
    others = [token for token in range(size) if token != END]
    for length in range(1, limit + 1):
        for head in itertools.product(others, repeat=length - 1):
            last = range(size) if length == limit else [END]
            yield from ((*head, token) for token in last)


def ranked(model: Table, limit: int, length_penalty: float) -> list[tuple[float, tuple[int, ...]]]:
    """All outcomes of the first sentence, best first, by log p / length^α."""
    scored = (
        (sum(model.log_probs(0, tokens)) / len(tokens) ** length_penalty, tokens)
        for tokens in outcomes(model.size, limit)
    )
    return sorted(scored, key=lambda pair: (-pair[0], pair[1]))


def plain_beam(
    model: Table, limit: int, width: int, factor: float, narrow: bool, length_penalty: float
) -> list[tuple[float, tuple[int, ...]]]:
    """Beam search as the lectures say it, with lists; it never ends early."""
    live, places, completed = [((), 0.0)], width, []
    for length in range(1, limit + 1):
        grown = [
            ((*tokens, token), score + log_prob)
            for tokens, score in live
            for token in range(model.size)
            for log_prob in model.log_probs(0, (*tokens, token))[-1:]
        ]
        grown.sort(key=lambda pair: -pair[1])
        near = [h for h in grown if math.exp(h[1]) * factor >= math.exp(grown[0][1])]
        kept = (near or grown[:1])[:places]
        ended = [h for h in kept if h[0][-1] == END or length == limit]
        completed += [(score / length**length_penalty, tokens) for tokens, score in ended]
        live = [h for h in kept if h not in ended]
        places -= len(ended) if narrow else 0
        if not live:
            break
    return sorted(completed, key=lambda pair: -pair[0])
