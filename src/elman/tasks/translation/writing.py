"""How answers are written: batches of sources, a search over the decoder's steps, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import torch

from elman.decoding import (
    AnyOf,
    AtLengths,
    AtTokens,
    Beam,
    Constraint,
    Greedy,
    Hypothesis,
    NoRepeat,
    Step,
    ensemble,
    rollout,
)
from elman.decoding import Written as SoFar
from elman.errors import ConfigError
from elman.shapes import Bool, Int, Tensor
from elman.text.vocab import BOS, EOS

PRECISIONS = ("float32", "bfloat16")
_ROWS, _CELLS = 128, 8192  # the most sources at a time, and the most tokens of them


class Batch(NamedTuple):
    """Sources and targets side by side, padded."""

    source: Int[Tensor, "B S"]
    mask: Bool[Tensor, "B S"]
    target: Int[Tensor, "B T"]  # </s> included
    target_mask: Bool[Tensor, "B T"]
    copies: Int[Tensor, "B S"]  # the source's tokens as targets; empty where nothing is copied
    unknown: int  # ids beyond the vocabulary


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How to search, and when to stop."""

    beam: int = 5  # hypotheses; 1 is greedy
    factor: float | None = None  # only those at most so many times less probable than the best
    narrow: bool = True  # a completed hypothesis takes its place in the beam with it
    alpha: float = 1.0  # log p / length^α
    n_best: int = 1
    longest: int = 256  # tokens; a source of n tokens is answered by 2n + 10 at most
    no_repeat: int = 0  # no n tokens twice in an answer; 0: as may be
    stop: tuple[str, ...] = ()  # end at any of these strings, too
    precision: str = "float32"  # of weights and states; bfloat16 rounds them to 8 bits

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise ConfigError(f"longest is {self.longest}; it must be at least 1")
        if self.no_repeat < 0:
            raise ConfigError(f"no_repeat is {self.no_repeat}; it must be at least 0")
        if self.precision not in PRECISIONS:
            raise ConfigError(
                f"precision is {self.precision!r}; it must be {' or '.join(PRECISIONS)}"
            )
        self.search()

    def search(self) -> Beam:
        """The beam."""
        return Beam(
            width=self.beam,
            factor=self.factor,
            narrow=self.narrow,
            alpha=self.alpha,
            n_best=self.n_best,
        )

    def constraints(self) -> tuple[Constraint, ...]:
        return (NoRepeat(self.no_repeat),) if self.no_repeat else ()


def write(
    steps: Sequence[tuple[Step[Any], Any]],
    batch: Batch,
    manner: Manner,
    text: Callable[[int, list[int]], str],
) -> list[list[Hypothesis]]:
    """The best hypotheses for each source, by one model or by several together, each without its </s>.

    ``text`` says what some tokens mean that are written about a source, given by its number.
    """
    if len(steps) == 1:
        ((step, state),) = steps
    else:
        step, state = ensemble([s for s, _ in steps]), tuple(s for _, s in steps)
    start = torch.full_like(batch.source[:, 0], BOS)
    limits = (2 * batch.mask.sum(1) + 10).clamp(max=manner.longest)
    stop = AnyOf(
        (
            AtTokens((EOS,)),
            AtLengths(limits),
            *((_AtTexts(manner.stop, text),) if manner.stop else ()),
        )
    )
    limit = int(limits.max())
    constraints = manner.constraints()
    if manner.beam > 1:
        search = manner.search()
        found = search(step, state, start=start, stop=stop, limit=limit, constraints=constraints)
        return [[_ended(one) for one in some] for some in found]
    written = rollout(
        step, state, Greedy(), start=start, stop=stop, limit=limit, constraints=constraints
    )
    return [[_ended(one)] for one in _hypotheses(written, manner.alpha)]


@dataclass(frozen=True)
class _AtTexts:
    """Once the text of a row holds any of these strings; words of its source may be among its tokens."""

    strings: tuple[str, ...]
    text: Callable[[int, list[int]], str]

    def __call__(self, written: SoFar) -> Bool[Tensor, " N"]:
        texts = map(self.text, written.sentence.tolist(), written.tokens.tolist())
        ended = [any(string in text for string in self.strings) for text in texts]
        return torch.tensor(ended, dtype=torch.bool, device=written.tokens.device)


def _hypotheses(written: Any, alpha: float) -> Iterator[Hypothesis]:
    rows = zip(
        written.tokens.tolist(),
        written.log_probs.tolist(),
        written.mask.sum(1).tolist(),
        strict=True,
    )
    for tokens, log_probs, n in rows:
        score = sum(log_probs[:n]) / n**alpha
        yield Hypothesis(tokens[:n], log_probs[:n], score)


def _ended(hypothesis: Hypothesis) -> Hypothesis:
    tokens = hypothesis.tokens
    return hypothesis._replace(tokens=tokens[:-1] if tokens[-1] == EOS else tokens)


def chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """All sources by number, those of like length together, a bounded number of tokens at a time.

    Where one chunk does not hold them all they make an even number of like size: threads share them.
    """
    pairs = ceil(len(lengths) / (2 * _ROWS))
    most = _ROWS if len(lengths) <= _ROWS else ceil(len(lengths) / (2 * pairs))
    some: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if some and (len(some) == most or (len(some) + 1) * lengths[i] > _CELLS):
            yield some
            some = []
        some.append(i)
    if some:
        yield some
