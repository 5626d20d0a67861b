"""A model so small that all it can write can be listed: two letters and an end, at most three tokens."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from elman.decoding import AnyOf, AtLengths, AtTokens
from elman.decoding.sequence_model import DecoderStart, SequenceModel, Sequences, SequenceScores
from elman.objectives import SampleBatch
from elman.state import repeat

A, B, END, START = 0, 1, 2, 3
LONGEST = 3


class Pairs(NamedTuple):
    """What each sequence is about, and what should be written."""

    x: Tensor  # (B, H)
    y: Sequences


class Net(nn.Module):
    """h' = tanh(E y + U h), p = softmax(O h'), h_0 = x."""

    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.randn(4, size))
        self.U = nn.Parameter(torch.randn(size, size))
        self.O = nn.Parameter(torch.randn(3, size))

    def after(self, h: Tensor, fed: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(fed + h @ self.U.T)
        return h, h @ self.O.T


def _mixed(net: Net, tokens: Tensor, weights: Tensor) -> Tensor:
    rows = zip(tokens.tolist(), weights, strict=True)
    return torch.stack([w @ net.E[:3] if token < 0 else net.E[token] for token, w in rows])


class Toy:
    """The net as objectives see it."""

    aligned = False
    features = 4

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.net = Net().double()

    def targets(self, batch: Pairs) -> Sequences:
        return batch.y

    def begin(self, batch: Pairs, copies: int = 1) -> DecoderStart:
        net, rows = self.net, len(batch.x) * copies
        return DecoderStart(
            lambda h, tokens: net.after(h, net.E[tokens]),
            lambda h, tokens, weights: net.after(h, _mixed(net, tokens, weights)),
            repeat(batch.x, copies),
            torch.full((rows,), START),
            AnyOf((AtTokens((END,)), AtLengths(torch.full((rows,), LONGEST)))),
            LONGEST,
        )

    def score(self, batch: Pairs, given: Sequences, copies: int = 1) -> SequenceScores:
        hs = self.states(batch, given, copies)
        chosen = (hs @ self.net.O.T).log_softmax(-1).gather(2, given.tokens[..., None])[..., 0]
        return SequenceScores(chosen.masked_fill(~given.mask, 0), hs)

    def states(self, batch: Pairs, given: Sequences, copies: int = 1) -> Tensor:
        h, hs = repeat(batch.x, copies), []
        for token in pad(given.tokens, (1, 0), value=START)[:, :-1].unbind(1):
            h, _ = self.net.after(h, self.net.E[token])
            hs.append(h)
        return torch.stack(hs, 1)

    def criterion(self, logits: Tensor, gold: Sequences) -> Tensor:
        each = cross_entropy(logits.transpose(1, 2), gold.tokens, reduction="none")
        return each[gold.mask].mean()

    def likelihood(self, batch: Pairs) -> Tensor:
        log_probs = self.score(batch, batch.y).log_probs
        return -log_probs.sum() / batch.y.mask.sum()

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        return [[token for token in row if token != END] for row in rows]


def sequences(rows: Sequence[Sequence[int]]) -> Sequences:
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    return Sequences(tokens, torch.tensor([[i < len(row) for i in range(longest)] for row in rows]))


def pairs(*rows: Sequence[int], seed: int = 1) -> Pairs:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(rows), 4, generator=generator, dtype=torch.double)
    return Pairs(x, sequences(rows))


def all_sequences(prefix: Sequence[int] = ()) -> list[tuple[int, ...]]:
    """All that can be written after a prefix: what ends at END, or at the limit."""
    found = []
    for n in range(1, LONGEST + 1):
        for row in product((A, B, END), repeat=n):
            ended = row.index(END) + 1 if END in row else LONGEST
            if n == ended and row[: len(prefix)] == tuple(prefix):
                found.append(row)
    return found


def probability(toy: Toy, x: Tensor, row: Sequence[int], after: int = 0) -> Tensor:
    """p(row | x), of the tokens from ``after`` on given those before: written out step by step."""
    h, p, before = x, x.new_ones(()), START
    for place, token in enumerate(row):
        h = torch.tanh(toy.net.E[before] + toy.net.U @ h)
        if place >= after:
            p = p * (toy.net.O @ h).softmax(0)[token]
        before = token
    return p


def every(
    toy: SequenceModel[Any], batch: Pairs, copies: int, greedy: bool, prefix: Tensor | None
) -> SampleBatch:
    """In the place of samples: all sequences, each counting as much as it is probable."""
    assert isinstance(toy, Toy)
    rows, weights = [], []
    for i, x in enumerate(batch.x):
        given = [] if prefix is None else [t for t in prefix[i].tolist() if t >= 0]
        rows.append(all_sequences(given))
        weights.append([probability(toy, x, row, len(given)).detach() for row in rows[-1]])
    most = max(map(len, rows))  # after a prefix there are fewer: the rest counts nothing
    filled = [[*some, *[some[0]] * (most - len(some))] for some in rows]
    shares = [[*map(float, some), *[0.0] * (most - len(some))] for some in weights]
    best = None
    if greedy:
        likeliest = [max(all_sequences(), key=_step_by_step(toy, x)) for x in batch.x]
        best = sequences(likeliest)
    samples = sequences([row for some in filled for row in some])
    return SampleBatch(samples, torch.tensor(shares, dtype=torch.double), best)


def _step_by_step(toy: Toy, x: Tensor) -> Any:
    """A key by which the greedy sequence is the greatest: the probability of its first token, then the next."""
    return lambda row: [probability(toy, x, row[: i + 1], i).item() for i in range(len(row))]


def gradient(loss: Tensor, toy: Toy) -> Tensor:
    found = torch.autograd.grad(loss, list(toy.net.parameters()), allow_unused=True)
    both = zip(found, toy.net.parameters(), strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in both])
