"""How probable whole texts are: from the first token to the end, as a product over positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, tee

import torch

from elman.tasks.language.cache import Cache
from elman.tasks.language.dynamic import Dynamic
from elman.tasks.writing.costs import Costs
from elman.tasks.writing.predictor import Predictor, beginning, lines_of, reading
from elman.tasks.writing.spelled import shown
from elman.text.vocab import PAD

_ROWS = 64  # texts scored at once
_WINDOW = 256  # tokens of a running text read at once


@dataclass(frozen=True)
class Score:
    """What a text is worth, token by token, its end included; in nats."""

    tokens: list[str]  # as they were written, known or not
    log_probs: list[float]

    @property
    def log_probability(self) -> float:
        """log p of the whole."""
        return math.fsum(self.log_probs)

    @property
    def perplexity(self) -> float:
        """exp of the mean surprise of a token."""
        return math.exp(-self.log_probability / len(self.log_probs))

    def __float__(self) -> float:
        return self.log_probability


def score(
    lm: Predictor, text: str, *, cache: Cache | None = None, dynamic: Dynamic | None = None
) -> Score:
    """Score one text; each of its lines ends as the lines of the training text did."""
    return scores(lm, [text], cache=cache, dynamic=dynamic)[0]


def scores(
    lm: Predictor,
    texts: Sequence[str],
    *,
    cache: Cache | None = None,
    dynamic: Dynamic | None = None,
) -> list[Score]:
    """Score texts; each is read from the beginning, whatever stands beside it.

    Many at once, but one by one where the model adapts to them: it begins anew with each.
    """
    if cache or dynamic:
        return [next(running(lm, [text], cache=cache, dynamic=dynamic)) for text in texts]
    encoded = [lines_of(lm, text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
    found: dict[int, list[float]] = {}
    for first in range(0, len(order), _ROWS):
        rows = order[first : first + _ROWS]
        found |= zip(rows, _log_probs(lm, [encoded[i] for i in rows]), strict=True)
    return [Score(shown(lm.codec, text, lm.end), found[i]) for i, text in enumerate(texts)]


def running(
    lm: Predictor,
    texts: Iterable[str],
    *,
    cache: Cache | None = None,
    dynamic: Dynamic | None = None,
) -> Iterator[Score]:
    """Score texts that follow on each other, as the lines of a corpus do: each after those before it.

    All together they cost what `evaluate` says. A model that adapts goes on adapting.
    """
    texts, again = tee(texts)
    ids = (i for text in again for i in lines_of(lm, text))
    size = dynamic.steps if dynamic else _WINDOW
    with reading(lm) as net:
        costs = Costs(net, 1, cache=cache, dynamic=dynamic)
    nats = _nats(lm, costs, ids, size)
    for text in texts:
        tokens = shown(lm.codec, text, lm.end)
        yield Score(tokens, [-one for one in islice(nats, len(tokens))])


def _nats(lm: Predictor, costs: Costs, ids: Iterator[int], size: int) -> Iterator[float]:
    """What each id costs; so many are read at once."""
    token = beginning(lm).token
    while some := list(islice(ids, size)):
        targets = torch.tensor([some], device=token.device)
        inputs = torch.cat([token[None], targets[:, :-1]], 1)
        with reading(lm):
            found = costs(inputs, targets, torch.ones_like(targets, dtype=torch.bool))[0].tolist()
        token = targets[0, -1:]
        yield from found


def _log_probs(lm: Predictor, rows: Sequence[list[int]]) -> list[list[float]]:
    with reading(lm) as net:
        first = beginning(lm).token
        longest = max(map(len, rows))
        padded = [row + [PAD] * (longest - len(row)) for row in rows]
        targets = torch.tensor(padded, device=first.device)
        lengths = torch.tensor([len(row) for row in rows], device=first.device)
        mask = torch.arange(longest, device=first.device) < lengths[:, None]
        inputs = torch.cat([first.expand(len(rows), 1), targets[:, :-1]], 1)
        _, hs = net.read(net.begin(len(rows)), inputs, mask)
        nats = net.output.nats(hs, targets)
    return [(-row[: len(ids)]).tolist() for row, ids in zip(nats, rows, strict=True)]
