"""How probable whole texts are: from the first token to the end, as a product over positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, tee
from typing import Any

import torch

from elman.argument_checks import check_arguments
from elman.generation.cache import Cache
from elman.generation.cursor import encode_lines, start_cursor
from elman.generation.dynamic_eval import Adaptation, DynamicEval
from elman.generation.predictor import LMNetwork, LMPredictor
from elman.generation.token_bytes import display_tokens
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import eval_mode
from elman.text.arguments import check_text, check_texts
from elman.text.batching import length_sorted_chunks, pad

_ROWS = 64  # texts scored at once
_TOKENS = 2**14  # and their tokens; of a longer text, those that are read at once
_WINDOW = 256  # tokens of a running text read at once


@dataclass(frozen=True)
class TextScore:
    """log p of each token of a text, its end included; in nats. ``float`` of it is their sum."""

    tokens: list[str]  # as they were written, known or not
    log_probs: list[float]

    @property
    def log_probability(self) -> float:
        """log p of the whole."""
        return math.fsum(self.log_probs)

    @property
    def perplexity(self) -> float:
        """exp(-log p / tokens)."""
        mean = -self.log_probability / len(self.log_probs)
        return math.exp(mean) if mean < 700 else math.inf

    def __float__(self) -> float:
        return self.log_probability


@check_arguments
def score(
    lm: LMPredictor, text: str, *, cache: Cache | None = None, dynamic: DynamicEval | None = None
) -> TextScore:
    """log p(w_1 … w_n end) = Σ log p(w_i | w_{<i}); each line ends as the lines of the training text did."""
    return scores(lm, [check_text(text, "score", many="scores")], cache=cache, dynamic=dynamic)[0]


@check_arguments
def scores(
    lm: LMPredictor, texts: Sequence[str], *, cache: Cache | None = None, dynamic: DynamicEval | None = None
) -> list[TextScore]:
    """Score texts; each is read from the beginning, whatever stands beside it.

    Many at once, but one by one where the model adapts to them: it begins anew with each.
    """
    texts = check_texts(texts, "scores")
    if cache or dynamic:
        return [next(score_running(lm, [text], cache=cache, dynamic=dynamic)) for text in texts]
    encoded = [encode_lines(lm, text) for text in texts]
    found: dict[int, list[float]] = {}
    for rows in length_sorted_chunks([*map(len, encoded)], max_rows=_ROWS, max_tokens=_TOKENS):
        found |= zip(rows, _log_probs(lm, [encoded[i] for i in rows]), strict=True)
    return [TextScore(display_tokens(lm.tokenizer, text, lm.end), found[i]) for i, text in enumerate(texts)]


def score_running(
    lm: LMPredictor, texts: Iterable[str], *, cache: Cache | None = None, dynamic: DynamicEval | None = None
) -> Iterator[TextScore]:
    """Score texts that follow on each other, as the lines of a corpus do: each after those before it.

    All together they cost what `evaluate` says. A model that adapts goes on adapting.
    """
    texts, again = tee(texts)
    ids = (i for text in again for i in encode_lines(lm, text))
    size = dynamic.steps if dynamic else _WINDOW
    with torch.no_grad(), eval_mode(lm.net) as net:
        costs = StreamingNLL(net, 1, cache=cache, dynamic=dynamic)
    nll = _read_nll(lm, costs, ids, size)
    for text in texts:
        tokens = display_tokens(lm.tokenizer, text, lm.end)
        yield TextScore(tokens, [-one for one in islice(nll, len(tokens))])


class StreamingNLL:
    """Reads on, window by window: state, memory and weights are those that the one before left.

    ``read`` may be another way to compute what the network's own does. To be called in `eval_mode`.
    """

    def __init__(
        self,
        net: LMNetwork,
        rows: int,
        *,
        cache: Cache | None = None,
        dynamic: DynamicEval | None = None,
        read: Callable[[Any, Tensor], tuple[Any, Tensor]] | None = None,
    ) -> None:
        self.adaptation = Adaptation(net, dynamic) if dynamic else None
        self.net = self.adaptation.net if self.adaptation else net
        self.read = read or net.read
        self.cache = cache
        self.state: Any = net.begin(rows)
        self.memory: Any = None  # the first outputs tell its size

    def __call__(
        self, ids: Int[Tensor, "B T"], targets: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> Float[Tensor, "B T"]:
        """-log p of each target, which follows the id at its place; the mask says what teaches."""
        if self.adaptation:
            self.state, hs, nll = self.adaptation.read(self.state, ids, targets, mask)
        else:
            self.state, hs = self.read(self.state, ids)
            nll = self.net.output.nll(hs, targets)
        if self.cache:
            hs = self.net.output.features(hs)
            memory = self.cache.begin(hs[:, 0]) if self.memory is None else self.memory
            self.memory, nll = self.cache.nll(memory, hs, targets, nll)
        return nll


def _read_nll(lm: LMPredictor, costs: StreamingNLL, ids: Iterator[int], size: int) -> Iterator[float]:
    """-log p of each id; ``size`` of them are read at once."""
    token = start_cursor(lm).token
    while some := list(islice(ids, size)):
        targets = torch.tensor([some], device=token.device)
        inputs = torch.cat([token[None], targets[:, :-1]], 1)
        with torch.no_grad(), eval_mode(lm.net):
            found = costs(inputs, targets, torch.ones_like(targets, dtype=torch.bool))[0].tolist()
        token = targets[0, -1:]
        yield from found


def _log_probs(lm: LMPredictor, rows: Sequence[list[int]]) -> list[list[float]]:
    """log p of each token of some texts; a long one is read in pieces, the state carried on."""
    with torch.no_grad(), eval_mode(lm.net) as net:
        first = start_cursor(lm).token
        targets, mask = (part.to(first.device) for part in pad(rows))
        inputs = torch.cat([first.expand(len(rows), 1), targets[:, :-1]], 1)
        state, costs = net.begin(len(rows)), []
        for piece in zip(*(torch.split(part, _TOKENS, 1) for part in (inputs, targets, mask)), strict=True):
            state, hs = net.read(state, piece[0], piece[2])
            costs.append(net.output.nll(hs, piece[1]))
        nll = torch.cat(costs, 1)
    return [(-row[: len(ids)]).tolist() for row, ids in zip(nll, rows, strict=True)]
